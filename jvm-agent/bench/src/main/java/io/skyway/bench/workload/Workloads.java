package io.skyway.bench.workload;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.List;

/** What all workloads share. */
public final class Workloads {
    /** Every class that a workload's graph holds, in an order that both sides of a link agree on. */
    public static final List<Class<?>> TYPES = List.of(
            Catalog.class,
            ModuleNode.class,
            PackageNode.class,
            ClassNode.class,
            ClassNode[].class,
            FieldNode.class,
            FieldNode[].class,
            MethodNode.class,
            MethodNode[].class,
            SymbolNode.class,
            Serializable[].class,
            String[].class,
            MediaContent.class,
            Media.class,
            Media.Player.class,
            Image.class,
            Image.Size.class,
            GraphNode.class,
            GraphNode[].class,
            ArrayList.class,
            LinkedList.class,
            HashMap.class,
            byte[].class,
            byte[][].class);

    private Workloads() {}

    /**
     * A size as the length of an array.
     *
     * @throws IllegalArgumentException when it is negative or no array can be that long
     */
    static int count(String workload, long size) {
        if (size < 0 || size > Integer.MAX_VALUE - 8) {
            throw new IllegalArgumentException(
                    "workload " + workload + ": size " + size + " is not between 0 and " + (Integer.MAX_VALUE - 8));
        }
        return (int) size;
    }
}

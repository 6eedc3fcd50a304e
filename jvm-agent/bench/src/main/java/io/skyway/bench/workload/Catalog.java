package io.skyway.bench.workload;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;

/** The classes of a Java runtime. Nodes have public fields, so that every serializer reaches them its fastest way. */
public final class Catalog implements Serializable {
    private static final long serialVersionUID = 1L;

    /** The version of the runtime that was read. */
    public String javaVersion;
    /** By name. */
    public ArrayList<ModuleNode> modules = new ArrayList<>();
    /** Every class of {@link #modules}, by its internal name ({@code java/lang/Object}). */
    public HashMap<String, ClassNode> classes = new HashMap<>();
}

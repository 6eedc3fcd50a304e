package io.skyway.bench.workload;

import java.io.Serializable;
import java.util.ArrayList;

/** A package of a {@link ModuleNode}. */
public final class PackageNode implements Serializable {
    private static final long serialVersionUID = 1L;

    /** With slashes. */
    public String name;

    public ModuleNode module;
    /** By name. */
    public ArrayList<ClassNode> classes = new ArrayList<>();
}

package io.skyway.bench.workload;

import java.io.Serializable;
import java.util.ArrayList;

/** A module of a {@link Catalog}. */
public final class ModuleNode implements Serializable {
    private static final long serialVersionUID = 1L;

    public String name;
    /** By name. */
    public ArrayList<PackageNode> packages = new ArrayList<>();
}

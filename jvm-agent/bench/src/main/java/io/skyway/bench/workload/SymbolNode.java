package io.skyway.bench.workload;

import java.io.Serializable;

/** A symbolic constant of a {@link ClassNode}: it names a class, a member, a method type or a call site. */
public final class SymbolNode implements Serializable {
    private static final long serialVersionUID = 1L;

    /** The constant's tag in the class file. */
    public byte tag;
    /** The class that is named, or whose member is; else null. */
    public String owner;
    /** Of a member or a call site; else null. */
    public String name;
    /** Of a member, a call site or a method type; else null. */
    public String descriptor;

    public SymbolNode() {}

    public SymbolNode(int tag, String owner, String name, String descriptor) {
        this.tag = (byte) tag;
        this.owner = owner;
        this.name = name;
        this.descriptor = descriptor;
    }
}

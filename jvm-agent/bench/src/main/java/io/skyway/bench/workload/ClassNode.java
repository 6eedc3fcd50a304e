package io.skyway.bench.workload;

import java.io.Serializable;

/** A class of a {@link PackageNode}: what its class file says, and links to the classes that it builds on. */
public final class ClassNode implements Serializable {
    private static final long serialVersionUID = 1L;

    /** Internal name, {@code java/lang/Object}. */
    public String name;

    public PackageNode parent;
    /** Access flags of the class file. */
    public int modifiers;
    /** Major version of the class file. */
    public int version;

    public String superclassName;
    /** Null when the catalog does not hold it. */
    public ClassNode superclass;

    public String[] interfaceNames;
    /** One an interface name; null where the catalog does not hold it. */
    public ClassNode[] interfaces;

    public FieldNode[] fields;
    public MethodNode[] methods;
    /** The constant pool in its order: boxed numbers, strings and {@link SymbolNode}s. */
    public Serializable[] constants;
    /** Names of the class's attributes. */
    public String[] attributes;
}

package io.skyway.bench.workload;

import java.io.Serializable;

/** A field or a method of a {@link ClassNode}. */
public abstract class MemberNode implements Serializable {
    private static final long serialVersionUID = 1L;

    public ClassNode owner;
    public String name;
    public String descriptor;
    /** Access flags of the class file. */
    public int modifiers;
    /** Names of the member's attributes. */
    public String[] attributes;
}

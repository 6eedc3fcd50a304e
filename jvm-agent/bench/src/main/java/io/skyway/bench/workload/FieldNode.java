package io.skyway.bench.workload;

import java.io.Serializable;

/** A field of a {@link ClassNode}. */
public final class FieldNode extends MemberNode {
    private static final long serialVersionUID = 1L;

    /** A boxed number or a string; null when the field is not a compile-time constant. */
    public Serializable constantValue;
}

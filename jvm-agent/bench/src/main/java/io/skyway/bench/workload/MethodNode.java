package io.skyway.bench.workload;

/** A method of a {@link ClassNode}. */
public final class MethodNode extends MemberNode {
    private static final long serialVersionUID = 1L;

    /** Slots of the operand stack; 0 without code. */
    public int maxStack;
    /** Slots of local variables; 0 without code. */
    public int maxLocals;
    /** Bytes of code; 0 without code. */
    public int codeLength;
    /** Internal names of the checked exceptions that the method declares. */
    public String[] exceptions;
}

package io.skyway.agent.link;

import io.skyway.core.GraphRefusedException;
import io.skyway.core.Refusal;
import io.skyway.core.SkywayException;
import io.skyway.proto.ErrorDetail;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;

/** A failed transfer or link, with the side that it failed on. Both sides of a link and the orchestrator see the same. */
public final class Failure extends SkywayException {
    private static final long serialVersionUID = 1L;

    private static final int MOST_TEXT = 32 << 10;
    private static final int MOST_REFUSALS = 100;

    /** The two ends of a link. */
    public enum Side {
        SENDER,
        RECEIVER;

        @Override
        public String toString() {
            return this == SENDER ? "sender" : "receiver";
        }
    }

    /** What is said when the heap has no room even for saying it. Made while there is. */
    private static final Failure SENDER_FULL = new Failure(full(Side.SENDER), null);

    private static final Failure RECEIVER_FULL = new Failure(full(Side.RECEIVER), null);

    private final transient ErrorDetail detail;

    private Failure(ErrorDetail detail, Throwable cause) {
        super(kind(detail), detail.getMessage(), cause);
        this.detail = detail;
    }

    /** What the other side, or this one, said. */
    static Failure of(ErrorDetail detail) {
        return new Failure(detail, null);
    }

    private static ErrorDetail full(Side side) {
        return ErrorDetail.newBuilder()
                .setKind(ErrorDetail.Kind.HEAP_FULL)
                .setMessage(
                        "the " + side + "'s heap is so full that it cannot even say what failed: start that JVM with a"
                                + " larger -Xmx")
                .setSide(side.toString())
                .build();
    }

    /**
     * Anything that went wrong on one side. Errors of the VM become failures as well: the JVM goes on. Throws nothing:
     * whoever handles a failure must get to the end, also when the heap is full.
     */
    public static Failure of(Throwable t, Side side) {
        if (t instanceof Failure f) {
            return f;
        }
        try {
            return described(t, side);
        } catch (OutOfMemoryError | StackOverflowError e) {
            return side == Side.SENDER ? SENDER_FULL : RECEIVER_FULL;
        }
    }

    private static Failure described(Throwable t, Side side) {
        ErrorDetail.Builder detail = ErrorDetail.newBuilder()
                .setKind(ErrorDetail.Kind.valueOf(kind(t).name()))
                .setMessage(cut(message(t)))
                .setSide(side.toString());
        List<Refusal> refusals = t instanceof GraphRefusedException g ? g.refusals() : List.of();
        refusals.stream()
                .limit(MOST_REFUSALS)
                .forEach(r -> detail.addRefusals(io.skyway.proto.Refusal.newBuilder()
                        .setPath(cut(r.path()))
                        .setClassName(r.className())
                        .setReason(r.reason())));
        if (!(t instanceof SkywayException) || t.getCause() != null) {
            detail.setStackTrace(cut(stackTrace(t)));
        }
        return new Failure(detail.build(), t);
    }

    static Failure of(Kind kind, Side side, String message) {
        try {
            return of(new SkywayException(kind, message), side);
        } catch (OutOfMemoryError e) {
            return of(e, side);
        }
    }

    static Failure of(Kind kind, Side side, String message, Throwable cause) {
        return of(new SkywayException(kind, message, cause), side);
    }

    /** The same as it goes over the wire. */
    public ErrorDetail detail() {
        return detail;
    }

    private static Kind kind(ErrorDetail detail) {
        try {
            return Kind.valueOf(detail.getKind().name());
        } catch (IllegalArgumentException e) {
            // The peer is newer than we are.
            return Kind.INTERNAL;
        }
    }

    private static Kind kind(Throwable t) {
        if (t instanceof SkywayException s) {
            return s.kind();
        }
        return t instanceof OutOfMemoryError ? Kind.HEAP_FULL : Kind.INTERNAL;
    }

    private static String message(Throwable t) {
        if (t instanceof OutOfMemoryError) {
            return "the heap is full (" + t.getMessage() + "; largest size "
                    + (Runtime.getRuntime().maxMemory() >> 20) + " MB): start this JVM with a larger -Xmx";
        }
        return t instanceof SkywayException && t.getMessage() != null ? t.getMessage() : t.toString();
    }

    private static String stackTrace(Throwable t) {
        StringWriter text = new StringWriter();
        t.printStackTrace(new PrintWriter(text));
        return text.toString();
    }

    private static String cut(String text) {
        return text.length() <= MOST_TEXT ? text : text.substring(0, MOST_TEXT) + " ...";
    }
}

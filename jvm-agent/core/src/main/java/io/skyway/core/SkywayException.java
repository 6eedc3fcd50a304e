package io.skyway.core;

/**
 * A transfer, a link or the engine failed.
 *
 * <p>The message says what happened, where, and what to do. {@link #kind()} lets a caller tell the kinds of failure
 * apart without parsing it.
 */
public class SkywayException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Kinds of failure; the names are those of {@code ErrorDetail.Kind} in agent.proto. */
    public enum Kind {
        GRAPH_REFUSED,
        LAYOUT_MISMATCH,
        BAD_IMAGE,
        HEAP_FULL,
        CLASS_MISSING,
        ROOT_MISSING,
        PEER_FAILED,
        TIMEOUT,
        CANCELLED,
        ENGINE_REFUSED,
        SERIALIZER_FAILED,
        LINK,
        LINK_CLOSED,
        USAGE,
        INTERNAL
    }

    private final Kind kind;

    public SkywayException(Kind kind, String message) {
        super(message);
        this.kind = kind;
    }

    public SkywayException(Kind kind, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    public final Kind kind() {
        return kind;
    }
}

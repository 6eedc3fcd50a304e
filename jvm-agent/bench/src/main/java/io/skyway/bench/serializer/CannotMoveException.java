package io.skyway.bench.serializer;

import java.io.IOException;

/** A serializer cannot move a graph; the message says which one, and why. */
public final class CannotMoveException extends IOException {
    private static final long serialVersionUID = 1L;

    CannotMoveException(String message, Throwable cause) {
        super(message, cause);
    }
}

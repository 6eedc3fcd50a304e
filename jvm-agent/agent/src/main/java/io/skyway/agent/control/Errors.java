package io.skyway.agent.control;

import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.skyway.agent.link.Failure;
import io.skyway.core.SkywayException.Kind;

/** Failures as statuses of calls, with an ErrorDetail in the trailers. */
final class Errors {
    private static final Metadata.Key<byte[]> DETAIL =
            Metadata.Key.of("skyway-error-bin", Metadata.BINARY_BYTE_MARSHALLER);
    /** HTTP/2 peers limit the size of headers; gRPC's default is 8 KB in all. */
    private static final int MOST_DETAIL = 4 << 10;

    private static final int MOST_DESCRIPTION = 300;

    private Errors() {}

    /** @param side the side that this JVM is on, when the failure does not say */
    static StatusRuntimeException status(Throwable t, Failure.Side side) {
        Failure f = Failure.of(t, side);
        Metadata trailers = new Metadata();
        trailers.put(DETAIL, ErrorTrailer.fit(f.detail(), MOST_DETAIL).toByteArray());
        String message = f.getMessage();
        String description =
                message.length() <= MOST_DESCRIPTION ? message : message.substring(0, MOST_DESCRIPTION) + " ...";
        return code(f.kind()).toStatus().withDescription(description).asRuntimeException(trailers);
    }

    private static Status.Code code(Kind kind) {
        return switch (kind) {
            case USAGE -> Status.Code.INVALID_ARGUMENT;
            case ROOT_MISSING, CLASS_MISSING -> Status.Code.NOT_FOUND;
            case GRAPH_REFUSED, LAYOUT_MISMATCH, ENGINE_REFUSED, SERIALIZER_FAILED -> Status.Code.FAILED_PRECONDITION;
            case BAD_IMAGE -> Status.Code.DATA_LOSS;
            case HEAP_FULL -> Status.Code.RESOURCE_EXHAUSTED;
            case TIMEOUT -> Status.Code.DEADLINE_EXCEEDED;
            case CANCELLED -> Status.Code.CANCELLED;
            case PEER_FAILED, LINK, LINK_CLOSED -> Status.Code.UNAVAILABLE;
            case INTERNAL -> Status.Code.INTERNAL;
        };
    }
}

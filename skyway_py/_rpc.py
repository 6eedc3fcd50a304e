"""gRPC on the loopback: channels, the token, and errors that cross a call."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NoReturn, Protocol, TypeVar, cast

import grpc

from skyway_py import _errors as errors
from skyway_py._proto.agent_pb2 import ErrorDetail

TOKEN_KEY: Final = "skyway-token"
DETAIL_KEY: Final = "skyway-error-bin"
CLASS_KEY: Final = "skyway-error-class"

_MESSAGE_LIMIT: Final = 64 << 20
# An error with a stack trace and many refusals is larger than the 8 KiB that gRPC allows by default.
_METADATA_LIMIT: Final = 1 << 20
_OPTIONS: Final = (
    ("grpc.max_receive_message_length", _MESSAGE_LIMIT),
    ("grpc.max_send_message_length", _MESSAGE_LIMIT),
    ("grpc.max_metadata_size", _METADATA_LIMIT),
    ("grpc.absolute_max_metadata_size", _METADATA_LIMIT),
)
#: Seconds without a sign of life after which a process counts as stopped, unless its orchestrator says otherwise.
SILENCE: Final = 30.0
CHANNEL_OPTIONS: Final = (
    *_OPTIONS,
    # A proxy of the environment must never see a call between processes of one machine.
    ("grpc.enable_http_proxy", 0),
    # Two channels to one port must not share a connection: it may belong to a JVM that ended.
    ("grpc.use_local_subchannel_pool", 1),
)
SERVER_OPTIONS: Final = (
    *_OPTIONS,
    # With SO_REUSEPORT another process of the same user could take over part of the calls.
    ("grpc.so_reuseport", 0),
    # A connection that does not even speak HTTP/2 goes away after this time (milliseconds).
    ("grpc.server_handshake_timeout_ms", 10_000),
    # Signs of life are asked for more often than gRPC expects from strangers.
    ("grpc.http2.min_ping_interval_without_data_ms", 100),
)

_BY_KIND: Final[dict[int, type[errors.SkywayError]]] = {
    ErrorDetail.LAYOUT_MISMATCH: errors.LayoutMismatch,
    ErrorDetail.BAD_IMAGE: errors.BadImage,
    ErrorDetail.HEAP_FULL: errors.HeapFull,
    ErrorDetail.CLASS_MISSING: errors.ClassMissing,
    ErrorDetail.ROOT_MISSING: errors.RootMissing,
    ErrorDetail.PEER_FAILED: errors.PeerFailed,
    ErrorDetail.TIMEOUT: errors.TransferTimeout,
    ErrorDetail.CANCELLED: errors.TransferCancelled,
    ErrorDetail.ENGINE_REFUSED: errors.EngineRefused,
    ErrorDetail.SERIALIZER_FAILED: errors.SerializerFailed,
    ErrorDetail.LINK: errors.LinkError,
    ErrorDetail.LINK_CLOSED: errors.LinkClosed,
    ErrorDetail.USAGE: errors.InvalidRequest,
    ErrorDetail.INTERNAL: errors.InternalError,
}
_STATUS: Final[dict[type[errors.SkywayError], grpc.StatusCode]] = {
    errors.InvalidRequest: grpc.StatusCode.INVALID_ARGUMENT,
    errors.UnknownJvm: grpc.StatusCode.NOT_FOUND,
    errors.RootMissing: grpc.StatusCode.NOT_FOUND,
    errors.TransferTimeout: grpc.StatusCode.DEADLINE_EXCEEDED,
    errors.TransferCancelled: grpc.StatusCode.CANCELLED,
    errors.InternalError: grpc.StatusCode.INTERNAL,
}


Response = TypeVar("Response", covariant=True)


class AnswerStream(Protocol[Response]):
    """A call with a stream of answers, while it runs."""

    def __iter__(self) -> Iterator[Response]: ...
    def cancel(self) -> bool:
        """Ends the call. Thread-safe."""
        ...


class _FailedCall(Protocol):
    def code(self) -> grpc.StatusCode: ...
    def details(self) -> str | None: ...
    def trailing_metadata(self) -> Sequence[tuple[str, str | bytes]] | None: ...


def loopback_channel(port: int, silence: float = SILENCE) -> grpc.Channel:
    """A channel to a server of this machine. Connects at the first call.

    :param silence: seconds; a call fails when the other process gives no sign of life for this time. The kernel keeps
        the connections of a process that is stopped, so that nothing else would end a call without a deadline.
    """
    ask = max(1, round(silence * 1e3 / 3))
    alive = (
        ("grpc.keepalive_time_ms", ask),
        ("grpc.keepalive_timeout_ms", 2 * ask),
        # A ping that is on its way for another purpose is waited for instead, with a limit of its own: a minute.
        ("grpc.http2.ping_timeout_ms", 2 * ask),
        ("grpc.http2.max_pings_without_data", 0),
    )
    return grpc.insecure_channel(f"127.0.0.1:{port}", options=(*CHANNEL_OPTIONS, *alive))


def token_metadata(token: str) -> tuple[tuple[str, str], ...]:
    """The metadata that every call carries."""
    return ((TOKEN_KEY, token),)


class TokenInterceptor(grpc.ServerInterceptor):
    """Ends every call without the right token with UNAUTHENTICATED, before its request is read."""

    def __init__(self, token: str) -> None:
        self._token = token.encode()

        def refuse(_request: Any, context: grpc.ServicerContext) -> NoReturn:
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "the call carries no valid skyway-token")

        # As a stream: for a single request gRPC waits, on one of the server's few threads, before it calls the method.
        self._refuse: grpc.RpcMethodHandler[Any, Any] = grpc.stream_unary_rpc_method_handler(refuse)

    def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], grpc.RpcMethodHandler[Any, Any] | None],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler[Any, Any] | None:
        given = [value for key, value in handler_call_details.invocation_metadata if key == TOKEN_KEY]
        if len(given) == 1 and hmac.compare_digest(_as_bytes(given[0]), self._token):
            return continuation(handler_call_details)
        return self._refuse


def error_from_call(error: grpc.RpcError, doing: str) -> errors.SkywayError:
    """The exception that a failed call stands for.

    :param doing: what the call was for, as in "listing the roots of 'left'"; used when the failure says nothing better.
    """
    # What gRPC raises is always both a RpcError and the call that failed, but no type says so.
    call = cast(_FailedCall, error)
    code = call.code()
    text = call.details() or str(error)
    trailers = {item[0]: item[1] for item in call.trailing_metadata() or ()}
    if DETAIL_KEY in trailers:
        detail = ErrorDetail.FromString(_as_bytes(trailers[DETAIL_KEY]))
        name = trailers.get(CLASS_KEY, "")
        return error_from_detail(detail, name if isinstance(name, str) else name.decode())
    if code == grpc.StatusCode.DEADLINE_EXCEEDED:
        return errors.TransferTimeout(f"no answer in time while {doing}")
    if code == grpc.StatusCode.CANCELLED:
        return errors.TransferCancelled(f"cancelled while {doing}")
    if code == grpc.StatusCode.UNAVAILABLE:
        return errors.JvmLost(f"no connection while {doing}: {text}")
    if code == grpc.StatusCode.INVALID_ARGUMENT:
        return errors.InvalidRequest(text)
    return errors.InternalError(f"{code.name} while {doing}: {text}")


def error_from_detail(detail: ErrorDetail, class_name: str = "") -> errors.SkywayError:
    """The exception that an ErrorDetail stands for; `class_name` is more exact than its kind where both are given."""
    if detail.kind == ErrorDetail.GRAPH_REFUSED:
        refusals = [errors.Refusal(r.path, r.class_name, r.reason) for r in detail.refusals]
        return errors.GraphRefused(detail.message, refusals, side=detail.side, stack_trace=detail.stack_trace)
    kind = _BY_KIND.get(detail.kind, errors.InternalError)
    named = getattr(errors, class_name, None) if class_name else None
    if isinstance(named, type) and issubclass(named, errors.SkywayError):
        kind = named
    return kind(detail.message, side=detail.side, stack_trace=detail.stack_trace)


def detail_from_error(error: errors.SkywayError) -> ErrorDetail:
    """The ErrorDetail for an exception, to be sent on."""
    kinds = {cls: kind for kind, cls in _BY_KIND.items()}
    kinds[errors.GraphRefused] = ErrorDetail.GRAPH_REFUSED
    kind = next((kinds[cls] for cls in type(error).__mro__ if cls in kinds), ErrorDetail.KIND_UNSPECIFIED)
    detail = ErrorDetail(
        kind=ErrorDetail.Kind.ValueType(kind), message=error.message, side=error.side, stack_trace=error.stack_trace
    )
    if isinstance(error, errors.GraphRefused):
        for refusal in error.refusals:
            detail.refusals.add(path=refusal.path, class_name=refusal.class_name, reason=refusal.reason)
    return detail


def abort(context: grpc.ServicerContext, error: errors.SkywayError) -> NoReturn:
    """Ends a served call with an exception of ours."""
    context.set_trailing_metadata(
        ((DETAIL_KEY, detail_from_error(error).SerializeToString()), (CLASS_KEY, type(error).__name__))
    )
    status = next((_STATUS[cls] for cls in type(error).__mro__ if cls in _STATUS), grpc.StatusCode.FAILED_PRECONDITION)
    context.abort(status, error.message)


def _as_bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value

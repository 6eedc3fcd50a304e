"""The orchestrator's own gRPC server: TypeRegistry, Rendezvous and health, on the loopback."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from skyway_py import _rpc as rpc
from skyway_py._errors import SkywayError
from skyway_py._proto import agent_pb2 as pb
from skyway_py._proto import agent_pb2_grpc as pb_grpc
from skyway_py._types import TypeTable


class Arrival:
    """The hello that one launched or attached agent owes."""

    def __init__(self, launch_id: str) -> None:
        self.launch_id = launch_id
        self._arrived = threading.Event()
        self._hello: pb.HelloRequest | None = None

    def offer(self, hello: pb.HelloRequest) -> bool:
        """Only the first hello counts. Called by the server."""
        if self._hello is not None:
            return False
        self._hello = hello
        self._arrived.set()
        return True

    def wait(self, seconds: float) -> pb.HelloRequest | None:
        """The hello, or None when it has not come in this time."""
        return self._hello if self._arrived.wait(seconds) else None


class _Rendezvous(pb_grpc.RendezvousServicer):
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._expected: dict[str, Arrival] = {}

    def expect(self, launch_id: str) -> Arrival:
        arrival = Arrival(launch_id)
        with self._lock:
            self._expected[launch_id] = arrival
        return arrival

    def forget(self, launch_id: str) -> None:
        with self._lock:
            self._expected.pop(launch_id, None)

    def Hello(self, request: pb.HelloRequest, context: grpc.ServicerContext) -> pb.HelloResponse:
        with self._lock:
            arrival = self._expected.get(request.launch_id)
            accepted = arrival is not None and arrival.offer(request)
        if not accepted:
            context.abort(grpc.StatusCode.NOT_FOUND, "no launch or attach waits for this hello; it may have timed out")
        return pb.HelloResponse()


class _TypeRegistry(pb_grpc.TypeRegistryServicer):
    def __init__(self, table: TypeTable) -> None:
        self._table = table

    def Register(self, request: pb.RegisterTypesRequest, context: grpc.ServicerContext) -> pb.RegisterTypesResponse:
        try:
            return pb.RegisterTypesResponse(ids=self._table.register(list(request.types)))
        except ValueError as error:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))

    def Lookup(self, request: pb.LookupTypesRequest, context: grpc.ServicerContext) -> pb.LookupTypesResponse:
        try:
            return pb.LookupTypesResponse(types=self._table.lookup(list(request.ids)))
        except KeyError as error:
            context.abort(grpc.StatusCode.NOT_FOUND, f"type id {error.args[0]} was never assigned")


def serve_loopback(server: grpc.Server, services: Iterable[str]) -> int:
    """Adds the health service, binds a free port of the loopback, starts; gives the port.

    :raises SkywayError: no port could be bound.
    """
    checks = health.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(checks, server)
    for name in ("", *services):
        checks.set(name, health_pb2.HealthCheckResponse.SERVING)
    try:
        port = server.add_insecure_port("127.0.0.1:0")
    except RuntimeError as error:
        raise SkywayError(f"no port of the loopback address could be bound: {error}") from error
    server.start()
    return port


class ControlServer:
    """What the agents call. Runs from construction to close()."""

    def __init__(self, token: str) -> None:
        self.types = TypeTable()
        self._rendezvous = _Rendezvous()
        self._server = grpc.server(
            ThreadPoolExecutor(max_workers=16, thread_name_prefix="skyway-server"),
            interceptors=[rpc.TokenInterceptor(token)],
            options=rpc.SERVER_OPTIONS,
        )
        pb_grpc.add_RendezvousServicer_to_server(self._rendezvous, self._server)
        pb_grpc.add_TypeRegistryServicer_to_server(_TypeRegistry(self.types), self._server)
        self.port = serve_loopback(
            self._server, [f"{pb.DESCRIPTOR.package}.{name}" for name in ("Rendezvous", "TypeRegistry")]
        )

    def expect(self, launch_id: str) -> Arrival:
        """From now on a hello with this id is accepted, once."""
        return self._rendezvous.expect(launch_id)

    def forget(self, launch_id: str) -> None:
        """No hello with this id is accepted any more."""
        self._rendezvous.forget(launch_id)

    def close(self) -> None:
        self._server.stop(grace=0.5).wait(5)

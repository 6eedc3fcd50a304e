"""Stands in for `java -javaagent:...`: does the handshake and serves AgentControl; its graphs are only names.

FAKE_JAVA in its environment makes it misbehave: exit, die-late, silent, no-agent, failure, wrong-pid, refused, corrupt,
other-layout, hang-on-shutdown.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import socket
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NoReturn

import grpc

from skyway_py import _rpc as rpc
from skyway_py._process import start_time_ticks
from skyway_py._proto import agent_pb2 as pb
from skyway_py._proto import agent_pb2_grpc as pb_grpc

MISBEHAVIOUR = os.environ.get("FAKE_JAVA", "")


def read_properties(path: str) -> dict[str, str]:
    with open(path, encoding="latin-1") as file:
        pairs = [re.match(r"((?:\\.|[^=\\])*)=(.*)", line.rstrip("\n")) for line in file]
    return {re.sub(r"\\(.)", r"\1", m[1]): re.sub(r"\\(.)", r"\1", m[2]) for m in pairs if m}


def refuse(
    context: grpc.ServicerContext, kind: pb.ErrorDetail.Kind.ValueType, message: str, **more: object
) -> NoReturn:
    detail = pb.ErrorDetail(kind=kind, message=message, side="sender", **more)  # type: ignore[arg-type]
    context.set_trailing_metadata(((rpc.DETAIL_KEY, detail.SerializeToString()),))
    context.abort(grpc.StatusCode.FAILED_PRECONDITION, message)


class FakeAgent(pb_grpc.AgentControlServicer):
    def __init__(self) -> None:
        self.roots: dict[str, pb.Root] = {}
        self.links: dict[str, tuple[int, bytes]] = {}
        self.cancelled: set[str] = set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.token = os.urandom(8)
        threading.Thread(target=self.receive, daemon=True).start()

    def publish(self, name: str, class_name: str, origin: str) -> None:
        now = round(time.time() * 1e3)
        self.roots[name] = pb.Root(name=name, class_name=class_name, origin=origin, since_unix_millis=now)

    def receive(self) -> None:
        while True:
            connection, _ = self.listener.accept()
            with connection, connection.makefile("rw", encoding="utf-8") as stream:
                message = json.loads(stream.readline())
                if message["token"] == self.token.hex() and not message["discard"]:
                    class_name = "java.util.Wrong" if MISBEHAVIOUR == "corrupt" else message["class"]
                    self.publish(message["name"], class_name, "received")
                stream.write("done\n")

    def Describe(self, request: pb.DescribeRequest, context: grpc.ServicerContext) -> pb.JvmDescription:
        return describe()

    def ListRoots(self, request: pb.ListRootsRequest, context: grpc.ServicerContext) -> pb.ListRootsResponse:
        if MISBEHAVIOUR == "die-late":
            print("fatal: out of cheese", file=sys.stderr, flush=True)
            os._exit(3)
        return pb.ListRootsResponse(roots=self.roots.values())

    def PrepareLink(self, request: pb.PrepareLinkRequest, context: grpc.ServicerContext) -> pb.PrepareLinkResponse:
        port = self.listener.getsockname()[1]
        return pb.PrepareLinkResponse(host="127.0.0.1", port=port, token=self.token, layout=describe().layout)

    def OpenLink(self, request: pb.OpenLinkRequest, context: grpc.ServicerContext) -> pb.OpenLinkResponse:
        if request.peer_layout.fingerprint != describe().layout.fingerprint:
            refuse(context, pb.ErrorDetail.LAYOUT_MISMATCH, "compressed oops: true here, false there")
        self.links[request.link_id] = (request.port, request.token)
        return pb.OpenLinkResponse(transport=request.transport or pb.TRANSPORT_SHARED_MEMORY)

    def CloseLink(self, request: pb.CloseLinkRequest, context: grpc.ServicerContext) -> pb.CloseLinkResponse:
        self.links.pop(request.link_id, None)
        return pb.CloseLinkResponse()

    def Transfer(self, request: pb.TransferRequest, context: grpc.ServicerContext) -> Iterator[pb.TransferEvent]:
        root = self.roots.get(request.root)
        if request.link_id not in self.links:
            refuse(context, pb.ErrorDetail.LINK, f"no link {request.link_id}")
        if root is None:
            refuse(context, pb.ErrorDetail.ROOT_MISSING, f"no graph is called '{request.root}'")
        if root.name == "bound":
            refusals = [pb.Refusal(path=f"root.t[{n}]", class_name="java.lang.Thread", reason="bound") for n in (1, 2)]
            refuse(context, pb.ErrorDetail.GRAPH_REFUSED, "2 objects cannot be moved", refusals=refusals)
        if root.name == "long":
            refuse(context, pb.ErrorDetail.INTERNAL, "a long story", stack_trace="at x\n" * 20_000)
        if request.serializer == "kryo-tree":
            refuse(context, pb.ErrorDetail.SERIALIZER_FAILED, "kryo-tree: StackOverflowError: cycles need references")
        started = time.monotonic()
        while root.name == "endless":
            if request.transfer_id in self.cancelled or not context.is_active():
                refuse(context, pb.ErrorDetail.CANCELLED, "cancelled")
            if request.timeout_millis and time.monotonic() - started > request.timeout_millis / 1e3:
                refuse(context, pb.ErrorDetail.TIMEOUT, f"not done in {request.timeout_millis} ms")
            yield pb.TransferEvent(progress=pb.TransferProgress(objects=1, bytes=2, segments_sent=3, segments_landed=4))
            time.sleep(0.01)
        port, token = self.links[request.link_id]
        with socket.create_connection(("127.0.0.1", port)) as connection, connection.makefile("rw") as stream:
            message = {
                "token": token.hex(),
                "name": request.destination,
                "class": root.class_name,
                "discard": request.discard,
            }
            stream.write(json.dumps(message) + "\n")
            stream.flush()
            stream.readline()
        yield pb.TransferEvent(progress=pb.TransferProgress(objects=10, bytes=240, segments_sent=1, segments_landed=1))
        slowness = {"java": 10, "kryo": 5}.get(request.serializer, 1)
        yield pb.TransferEvent(
            report=pb.TransferReport(
                serializer=request.serializer or "skyway",
                objects=10,
                classes=3,
                image_bytes=240 * slowness,
                send_nanos=2_000_000 * slowness,
                transport_nanos=500_000,
                land_nanos=3_000_000 * slowness,
                total_nanos=4_000_000 * slowness,
                segments=1,
                restarts=1,
                # So that a test sees what arrived here.
                longest_window_nanos=request.max_pause_micros * 1_000,
                send_window_nanos=1_000_000,
                land_window_nanos=400_000,
                transport=pb.TRANSPORT_SHARED_MEMORY,
                root_class=root.class_name,
                sender_gc=pb.GcActivity(collections=2, millis=7),
            )
        )

    def Cancel(self, request: pb.CancelRequest, context: grpc.ServicerContext) -> pb.CancelResponse:
        self.cancelled.add(request.transfer_id)
        return pb.CancelResponse(was_running=True)

    def Digest(self, request: pb.DigestRequest, context: grpc.ServicerContext) -> pb.DigestResponse:
        root = self.roots.get(request.root)
        if root is None:
            refuse(context, pb.ErrorDetail.ROOT_MISSING, f"no graph is called '{request.root}'")
        return pb.DigestResponse(digest=hashlib.sha256(root.class_name.encode()).hexdigest(), objects=10)

    def BuildWorkload(
        self, request: pb.BuildWorkloadRequest, context: grpc.ServicerContext
    ) -> pb.BuildWorkloadResponse:
        name = request.root or request.workload
        if request.workload not in ("catalog", "media"):
            refuse(context, pb.ErrorDetail.USAGE, f"no workload is called '{request.workload}'")
        self.publish(name, f"fake.{request.workload.title()}", "published")
        return pb.BuildWorkloadResponse(root=name, class_name=self.roots[name].class_name)

    def DropRoot(self, request: pb.DropRootRequest, context: grpc.ServicerContext) -> pb.DropRootResponse:
        return pb.DropRootResponse(existed=self.roots.pop(request.name, None) is not None)

    def Statistics(self, request: pb.StatisticsRequest, context: grpc.ServicerContext) -> pb.StatisticsResponse:
        return pb.StatisticsResponse(heap_max_bytes=1 << 28, classes_known=3)

    def Shutdown(self, request: pb.ShutdownRequest, context: grpc.ServicerContext) -> pb.ShutdownResponse:
        if request.exit_jvm and MISBEHAVIOUR != "hang-on-shutdown":
            threading.Timer(0.05, os._exit, [request.exit_code]).start()
        return pb.ShutdownResponse()


def describe() -> pb.JvmDescription:
    kind = "other" if MISBEHAVIOUR == "other-layout" else "usual"
    layout = pb.Layout(fingerprint=kind, entries=[pb.LayoutEntry(name="object alignment", value="8")])
    return pb.JvmDescription(
        pid=os.getpid(),
        start_time_ticks=start_time_ticks(os.getpid()) or 0,
        java_version="17.0.99+1",
        java_feature=17,
        vm_name="Fake VM",
        collector="ZGC" if MISBEHAVIOUR == "refused" else "G1",
        main_class="fake.Main",
        max_heap_bytes=1 << 28,
        raw_engine=MISBEHAVIOUR != "refused",
        engine_refusal="ZGC is not supported: use Serial, Parallel or G1" if MISBEHAVIOUR == "refused" else "",
        layout=layout,
        agent_version="0.1.0",
        startup=[pb.Phase(name="engine", nanos=5_000_000)],
    )


def main() -> None:
    print("arguments:", json.dumps(sys.argv[1:]), flush=True)
    print("directory:", os.getcwd(), flush=True)
    if MISBEHAVIOUR == "exit":
        print("Error: Could not find or load main class fake.Main", file=sys.stderr)
        sys.exit(7)
    agent = next(argument for argument in sys.argv if argument.startswith("-javaagent:"))
    properties = read_properties(agent.split("=", 1)[1])
    lifeline = int(properties["lifeline.fd"])
    threading.Thread(target=lambda: (os.read(lifeline, 1), os._exit(143)), daemon=True).start()
    if MISBEHAVIOUR == "no-agent":
        print("skyway: the agent did not start: no jar", file=sys.stderr, flush=True)
    if MISBEHAVIOUR in ("silent", "no-agent"):
        time.sleep(300)
    server = grpc.server(
        ThreadPoolExecutor(8), interceptors=[rpc.TokenInterceptor(properties["token"])], options=rpc.SERVER_OPTIONS
    )
    fake = FakeAgent()
    for name in ("bound", "endless", "long"):
        fake.publish(name, "fake.Special", "published")
    pb_grpc.add_AgentControlServicer_to_server(fake, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    hello = pb.HelloRequest(
        launch_id=properties["launch.id"],
        pid=1 if MISBEHAVIOUR == "wrong-pid" else os.getpid(),
        start_time_ticks=start_time_ticks(os.getpid()) or 0,
        control_port=port,
        jvm=describe(),
        failure="no engine room" if MISBEHAVIOUR == "failure" else "",
    )
    channel = rpc.loopback_channel(int(properties["orchestrator.port"]))
    pb_grpc.RendezvousStub(channel).Hello(hello, metadata=rpc.token_metadata(properties["token"]), timeout=10)
    server.wait_for_termination()


if __name__ == "__main__":
    main()

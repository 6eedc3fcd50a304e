package io.skyway.agent.control;

import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.skyway.agent.link.Failure.Side;
import io.skyway.agent.link.Links;
import io.skyway.agent.link.Send;
import io.skyway.agent.start.Phases;
import io.skyway.agent.verify.GraphDigest;
import io.skyway.api.internal.Names;
import io.skyway.core.SkywayException;
import io.skyway.core.SkywayException.Kind;
import io.skyway.proto.AgentControlGrpc;
import io.skyway.proto.BuildWorkloadRequest;
import io.skyway.proto.BuildWorkloadResponse;
import io.skyway.proto.CancelRequest;
import io.skyway.proto.CancelResponse;
import io.skyway.proto.CloseLinkRequest;
import io.skyway.proto.CloseLinkResponse;
import io.skyway.proto.DescribeRequest;
import io.skyway.proto.DigestRequest;
import io.skyway.proto.DigestResponse;
import io.skyway.proto.DropRootRequest;
import io.skyway.proto.DropRootResponse;
import io.skyway.proto.JvmDescription;
import io.skyway.proto.ListRootsRequest;
import io.skyway.proto.ListRootsResponse;
import io.skyway.proto.OpenLinkRequest;
import io.skyway.proto.OpenLinkResponse;
import io.skyway.proto.PrepareLinkRequest;
import io.skyway.proto.PrepareLinkResponse;
import io.skyway.proto.Root;
import io.skyway.proto.ShutdownRequest;
import io.skyway.proto.ShutdownResponse;
import io.skyway.proto.StatisticsRequest;
import io.skyway.proto.StatisticsResponse;
import io.skyway.proto.TransferEvent;
import io.skyway.proto.TransferProgress;
import io.skyway.proto.TransferReport;
import io.skyway.proto.TransferRequest;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** What the orchestrator can ask of this JVM. Each call runs on a thread of its own. */
final class AgentService extends AgentControlGrpc.AgentControlImplBase {
    private final EngineState engine;
    private final AgentState state;
    private final Phases phases;
    private final Consumer<ShutdownRequest> shutdown;

    /** @param shutdown called after the response to Shutdown was sent */
    AgentService(EngineState engine, AgentState state, Phases phases, Consumer<ShutdownRequest> shutdown) {
        this.engine = engine;
        this.state = state;
        this.phases = phases;
        this.shutdown = shutdown;
    }

    @Override
    public void describe(DescribeRequest request, StreamObserver<JvmDescription> out) {
        answer(out, Side.RECEIVER, () -> JvmFacts.describe(engine, phases));
    }

    @Override
    public void listRoots(ListRootsRequest request, StreamObserver<ListRootsResponse> out) {
        answer(out, Side.SENDER, () -> {
            ListRootsResponse.Builder roots = ListRootsResponse.newBuilder();
            for (Names.Entry e : Names.list()) {
                roots.addRoots(Root.newBuilder()
                        .setName(e.name())
                        .setClassName(e.root().getClass().getName())
                        .setOrigin(e.received() ? "received" : "published")
                        .setSinceUnixMillis(e.sinceUnixMillis()));
            }
            return roots.build();
        });
    }

    @Override
    public void prepareLink(PrepareLinkRequest request, StreamObserver<PrepareLinkResponse> out) {
        answer(
                out,
                Side.RECEIVER,
                () -> links().prepare(request)
                        .setLayout(JvmFacts.toProto(engine.require().layout()))
                        .setPid(ProcessHandle.current().pid())
                        .build());
    }

    @Override
    public void openLink(OpenLinkRequest request, StreamObserver<OpenLinkResponse> out) {
        answer(
                out,
                Side.SENDER,
                () -> OpenLinkResponse.newBuilder()
                        .setTransport(links().open(request, JvmFacts.fromProto(request.getPeerLayout())))
                        .build());
    }

    @Override
    public void closeLink(CloseLinkRequest request, StreamObserver<CloseLinkResponse> out) {
        answer(out, Side.SENDER, () -> {
            String before = engine.started() ? links().close(request.getLinkId(), "it was closed on request") : "";
            return CloseLinkResponse.newBuilder().setClosedBecause(before).build();
        });
    }

    private Links links() {
        engine.require();
        return state.links();
    }

    @Override
    public void transfer(TransferRequest request, StreamObserver<TransferEvent> observer) {
        ServerCallStreamObserver<TransferEvent> out = (ServerCallStreamObserver<TransferEvent>) observer;
        TransferReport report;
        try {
            report = links().transfer(request, send -> onClientGone(out, send), progress -> send(out, progress));
        } catch (Throwable t) {
            synchronized (out) {
                out.onError(Errors.status(t, Side.SENDER));
            }
            return;
        }
        synchronized (out) {
            out.onNext(TransferEvent.newBuilder().setReport(report).build());
            out.onCompleted();
        }
    }

    private static void onClientGone(ServerCallStreamObserver<TransferEvent> out, Send send) {
        out.setOnCancelHandler(() -> send.cancel("the one who asked for the transfer cancelled it or is gone"));
    }

    /** Progress is worth nothing to a client that does not keep up: it is dropped, not queued. */
    private static void send(ServerCallStreamObserver<TransferEvent> out, TransferProgress progress) {
        synchronized (out) {
            if (out.isReady() && !out.isCancelled()) {
                out.onNext(TransferEvent.newBuilder().setProgress(progress).build());
            }
        }
    }

    @Override
    public void cancel(CancelRequest request, StreamObserver<CancelResponse> out) {
        answer(
                out,
                Side.SENDER,
                () -> CancelResponse.newBuilder()
                        .setWasRunning(engine.started()
                                && links().cancel(request.getTransferId(), "the transfer was cancelled on request"))
                        .build());
    }

    @Override
    public void digest(DigestRequest request, StreamObserver<DigestResponse> out) {
        answer(out, Side.SENDER, () -> {
            Object root = state.roots().find(request.getRoot());
            GraphDigest.Result r = engine.started()
                    ? GraphDigest.of(
                            root,
                            state.instrumentation(),
                            engine.engine().rules()::isCut,
                            engine.engine().rules()::isCut)
                    : GraphDigest.of(root, state.instrumentation());
            return DigestResponse.newBuilder()
                    .setDigest(r.hex())
                    .setObjects(r.objects())
                    .setReferences(r.references())
                    .setPrimitiveBytes(r.primitiveBytes())
                    .build();
        });
    }

    @Override
    public void buildWorkload(BuildWorkloadRequest request, StreamObserver<BuildWorkloadResponse> out) {
        answer(out, Side.SENDER, () -> WorkloadBuilder.build(request));
    }

    @Override
    public void dropRoot(DropRootRequest request, StreamObserver<DropRootResponse> out) {
        answer(
                out,
                Side.SENDER,
                () -> DropRootResponse.newBuilder()
                        .setExisted(Names.drop(request.getName()))
                        .build());
    }

    @Override
    public void statistics(StatisticsRequest request, StreamObserver<StatisticsResponse> out) {
        answer(out, Side.SENDER, () -> Statistics.collect(engine, state.counters()));
    }

    @Override
    public void shutdown(ShutdownRequest request, StreamObserver<ShutdownResponse> out) {
        if (request.getExitCode() < 0 || request.getExitCode() > 255) {
            out.onError(Errors.status(
                    new SkywayException(Kind.USAGE, "an exit code is between 0 and 255, not " + request.getExitCode()),
                    Side.SENDER));
            return;
        }
        answer(out, Side.SENDER, ShutdownResponse::getDefaultInstance);
        shutdown.accept(request);
    }

    private static <T> void answer(StreamObserver<T> out, Side side, Supplier<T> call) {
        T response;
        try {
            response = call.get();
        } catch (Throwable t) {
            out.onError(Errors.status(t, side));
            return;
        }
        out.onNext(response);
        out.onCompleted();
    }
}

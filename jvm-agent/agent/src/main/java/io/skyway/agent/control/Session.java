package io.skyway.agent.control;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioSocketChannel;
import io.grpc.protobuf.services.HealthStatusManager;
import io.skyway.agent.link.AllowList;
import io.skyway.agent.link.Counters;
import io.skyway.agent.link.LinkContext;
import io.skyway.agent.link.Links;
import io.skyway.agent.link.Tls;
import io.skyway.agent.registry.RegistryTypeIds;
import io.skyway.agent.roots.Roots;
import io.skyway.agent.start.AgentOptions;
import io.skyway.agent.start.Phases;
import io.skyway.proto.HelloRequest;
import io.skyway.proto.RegisterTypesRequest;
import io.skyway.proto.RendezvousGrpc;
import io.skyway.proto.ShutdownRequest;
import io.skyway.proto.TypeRegistryGrpc;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * This JVM's services for one orchestrator. All its threads are daemons: it keeps no application alive.
 *
 * <p>One network thread for both directions, plain NIO: that costs least to start, and nothing large passes here.
 */
public final class Session {
    private static final int MOST_MESSAGE = 16 << 20;
    private static final long ANSWER_SECONDS = 30;
    /** Of one connection. The orchestrator has one for each JVM, with a call for each transfer that waits. */
    private static final int MOST_CALLS = 1024;
    /** The shortest time between two questions for a sign of life. */
    private static final long KEEP_ALIVE_MILLIS = 20;
    /** Enough to look at headers. */
    private static final int DOOR_THREADS = 2;

    private final AgentOptions options;
    private final Instrumentation instrumentation;
    private final Phases phases;
    private final ExecutorService threads = DaemonThreads.unbounded("skyway-call");
    private final ExecutorService door = DaemonThreads.bounded("skyway-door", DOOR_THREADS);
    private final ScheduledExecutorService ticker = DaemonThreads.ticker("skyway-ticker");
    private final EventLoopGroup network =
            new MultiThreadIoEventLoopGroup(1, this::networkThread, NioIoHandler.newFactory());
    private final HealthStatusManager health = new HealthStatusManager();
    private final ManagedChannel channel;
    private final ThreadFactory networkThreads = DaemonThreads.factory("skyway-net");
    private Server server;
    private volatile Links links;
    private volatile boolean closed;

    /** Connects to the orchestrator when it is first needed. */
    public Session(AgentOptions options, Instrumentation instrumentation, Phases phases) {
        this.options = options;
        this.instrumentation = instrumentation;
        this.phases = phases;
        this.channel = NettyChannelBuilder.forAddress(options.orchestrator())
                .channelType(NioSocketChannel.class, InetSocketAddress.class)
                .eventLoopGroup(network)
                .executor(threads)
                .maxInboundMessageSize(MOST_MESSAGE)
                .disableRetry()
                .usePlaintext()
                .intercept(new Token(options.token()).client())
                .build();
    }

    /** A table of types that asks this session's orchestrator. */
    public RegistryTypeIds typeIds() {
        return new RegistryTypeIds(channel);
    }

    /**
     * Starts the services.
     *
     * @param whenShutDown called when the orchestrator has ended the session
     */
    public void serve(EngineState engine, Runnable whenShutDown) throws IOException {
        Roots roots = new Roots(instrumentation);
        Counters counters = new Counters();
        if (engine.started()) {
            links = new Links(new LinkContext(
                    engine.engine(),
                    roots,
                    counters,
                    threads,
                    ticker,
                    options.silenceMillis(),
                    options.linkHost(),
                    options.tlsDirectory() == null ? null : new Tls(options.tlsDirectory()),
                    AllowList.ofThisJvm()));
        }
        AgentState state = new AgentState(instrumentation, roots, counters, links);
        QuietLog.start();
        Doorman doorman = new Doorman();
        Token token = new Token(options.token());
        server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .channelFactory(doorman::newServerChannel)
                .bossEventLoopGroup(network)
                .workerEventLoopGroup(network)
                .executor(door)
                .callExecutor(token.executor(threads))
                // The orchestrator asks for signs of life, also while it waits for the end of a long call.
                .permitKeepAliveTime(KEEP_ALIVE_MILLIS, TimeUnit.MILLISECONDS)
                .maxConcurrentCallsPerConnection(MOST_CALLS)
                .maxInboundMessageSize(MOST_MESSAGE)
                .intercept(token.server(doorman::known))
                .addService(new AgentService(engine, state, phases, request -> shutDown(request, whenShutDown)))
                .addService(health.getHealthService())
                .build()
                .start();
        health.setStatus("", ServingStatus.SERVING);
    }

    /**
     * Tells the orchestrator where the services are.
     *
     * @param failure empty, or why there are none
     * @throws StatusRuntimeException when it cannot be reached
     */
    public void hello(EngineState engine, String failure, long deadlineMillis) {
        RendezvousGrpc.newBlockingStub(channel)
                .withDeadlineAfter(deadlineMillis, TimeUnit.MILLISECONDS)
                .hello(HelloRequest.newBuilder()
                        .setLaunchId(options.launchId())
                        .setPid(ProcessHandle.current().pid())
                        .setStartTimeTicks(JvmFacts.startTimeTicks())
                        .setControlPort(server == null ? 0 : server.getPort())
                        .setJvm(JvmFacts.describe(engine, phases))
                        .setFailure(failure)
                        .build());
    }

    /**
     * Does nothing but to connect to the orchestrator.
     *
     * @throws StatusRuntimeException when it does not answer
     */
    public void callOrchestrator() {
        TypeRegistryGrpc.newBlockingStub(channel)
                .withDeadlineAfter(ANSWER_SECONDS, TimeUnit.SECONDS)
                .register(RegisterTypesRequest.getDefaultInstance());
    }

    /** Whether this session's orchestrator still runs. */
    public boolean orchestratorLives() {
        try {
            callOrchestrator();
            return true;
        } catch (StatusRuntimeException e) {
            return false;
        }
    }

    /** For messages. */
    public InetSocketAddress orchestrator() {
        return options.orchestrator();
    }

    private Thread networkThread(Runnable loop) {
        return networkThreads.newThread(() -> {
            try {
                loop.run();
            } finally {
                networkEnded();
            }
        });
    }

    /** Without it nobody can ask for anything, or learn how it went: peers must not wait for this JVM. */
    private void networkEnded() {
        if (!closed) {
            System.err.println("skyway: the agent's network thread has ended: its orchestrator cannot reach this JVM");
            if (links != null) {
                links.closeAll("its JVM's network thread has ended");
            }
        }
    }

    private void shutDown(ShutdownRequest request, Runnable whenShutDown) {
        threads.execute(() -> {
            close("the session was ended");
            whenShutDown.run();
            if (request.getExitJvm()) {
                Exit.exit(request.getExitCode());
            }
        });
    }

    /** Ends the services. Running transfers fail. Published and received graphs stay. */
    public void close(String why) {
        closed = true;
        health.enterTerminalState();
        if (links != null) {
            links.closeAll(why);
        }
        if (server != null) {
            server.shutdown();
            awaitQuietly();
            server.shutdownNow();
        }
        channel.shutdownNow();
        ticker.shutdown();
        network.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        door.shutdown();
        threads.shutdown();
    }

    private void awaitQuietly() {
        try {
            // Lets the response to Shutdown get out.
            server.awaitTermination(1, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

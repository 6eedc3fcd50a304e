package io.skyway.agent.start;

import io.grpc.StatusRuntimeException;
import io.skyway.agent.control.EngineState;
import io.skyway.agent.control.Session;
import io.skyway.api.internal.Rules;
import io.skyway.api.internal.Streams;
import io.skyway.core.Engine;
import io.skyway.core.ObjectStreams;
import io.skyway.core.SkywayException;
import java.lang.instrument.Instrumentation;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * Starts the agent's services, on the agent's own thread. Called once for each attach; the engine is started once for
 * the JVM's life.
 */
public final class Startup {
    /** The orchestrator gives up by itself; an application that works from its first moment may leave few turns. */
    private static final long HELLO_MILLIS = 100_000;

    private static EngineState engine;
    private static Session session;

    private Startup() {}

    /**
     * Called by the agent's entry in the application's class loader. Every failure is reported, none is thrown.
     *
     * @param optionsFile path of the properties file
     * @param requested when the VM called the agent, in {@link System#nanoTime} units
     */
    public static synchronized void run(String optionsFile, Instrumentation instrumentation, long requested) {
        Phases phases = new Phases();
        phases.add("class loader", System.nanoTime() - requested);
        AgentOptions options;
        try {
            options = phases.measure("options", () -> AgentOptions.read(optionsFile));
            JdkAccess.open(instrumentation);
            if (options.lifelineFd() >= 0) {
                Lifeline.watch(options.lifelineFd());
            }
        } catch (Throwable t) {
            report(t);
            return;
        }
        start(options, instrumentation, phases, requested);
    }

    private static void start(AgentOptions options, Instrumentation instrumentation, Phases phases, long requested) {
        Session next;
        CompletableFuture<Session> connecting = new CompletableFuture<>();
        // On a second thread: the engine and the network's classes take about the same time to start.
        FutureTask<EngineState> serving = new FutureTask<>(() -> serve(options, instrumentation, phases, connecting));
        Thread thread = new Thread(serving, "skyway-engine-start");
        thread.setDaemon(true);
        // The engine's own trial lands objects of its own classes.
        thread.setContextClassLoader(Startup.class.getClassLoader());
        thread.start();
        try {
            next = phases.measure("network", () -> new Session(options, instrumentation, phases));
        } catch (Throwable t) {
            connecting.completeExceptionally(t);
            report(t);
            return;
        }
        connecting.complete(next);
        try {
            refuseWhileAttached();
            phases.measure("orchestrator", () -> {
                next.callOrchestrator();
                return null;
            });
            EngineState state = serving.get();
            if (state.started()) {
                // The session's own ids from now on: another orchestrator's mean other types.
                phases.measure("types", () -> {
                    state.engine().useTypes(next.typeIds());
                    return null;
                });
            }
            phases.add("total until hello", System.nanoTime() - requested);
            session = next;
            next.hello(state, "", HELLO_MILLIS);
        } catch (Throwable t) {
            awaitQuietly(serving);
            fail(next, t instanceof ExecutionException ? t.getCause() : t);
        }
    }

    private static EngineState serve(
            AgentOptions options, Instrumentation instrumentation, Phases phases, CompletableFuture<Session> connecting)
            throws Exception {
        EngineState state = phases.measure("engine", () -> startEngine(options, instrumentation));
        Session next = connecting.get();
        return phases.measure("services", () -> {
            next.serve(state, () -> forget(next));
            return state;
        });
    }

    private static void awaitQuietly(FutureTask<EngineState> serving) {
        try {
            serving.get();
        } catch (ExecutionException e) {
            // Reported already.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static EngineState startEngine(AgentOptions options, Instrumentation instrumentation) {
        if (engine == null) {
            try {
                Engine started = Engine.start(instrumentation, options.library());
                Rules.listen(new EngineRules(started.rules()));
                Streams.use(new ObjectStreams(started));
                engine = new EngineState(started, "");
            } catch (SkywayException e) {
                engine = new EngineState(null, e.getMessage());
            } catch (RuntimeException | LinkageError e) {
                engine = new EngineState(null, "the engine's start failed: " + e);
            }
        }
        if (!engine.started()) {
            Streams.refused(engine.refusal());
        }
        return engine;
    }

    /** One orchestrator at a time; the services of one that is gone make room. */
    private static void refuseWhileAttached() {
        if (session == null) {
            return;
        }
        if (session.orchestratorLives()) {
            throw new SkywayException(
                    SkywayException.Kind.USAGE,
                    "this JVM is already attached to the orchestrator at " + session.orchestrator()
                            + ": stop or detach it there first");
        }
        session.close("its orchestrator is gone, and another one has attached");
        session = null;
    }

    private static synchronized void forget(Session ended) {
        if (session == ended) {
            session = null;
        }
    }

    /** Says so on stderr, in one line, and to the orchestrator where that is possible. */
    private static void fail(Session failed, Throwable t) {
        if (t instanceof StatusRuntimeException unreachable) {
            report(new IllegalArgumentException("the orchestrator at " + failed.orchestrator() + " does not answer ("
                    + unreachable.getStatus().getCode() + ")"
                    + (engine == null || engine.started()
                            ? ""
                            : "; besides, its engine refused: " + engine.refusal())));
        } else {
            report(t);
            try {
                failed.hello(new EngineState(null, "not started"), message(t), HELLO_MILLIS);
            } catch (RuntimeException e) {
                // The line on stderr stands.
            }
        }
        forget(failed);
        failed.close("the agent did not start");
    }

    private static void report(Throwable t) {
        // One line, whatever the message is made of.
        System.err.println("skyway: the agent did not start: " + message(t).replaceAll("\\s*\\R\\s*", " "));
    }

    private static String message(Throwable t) {
        return t instanceof SkywayException || t instanceof IllegalArgumentException ? t.getMessage() : t.toString();
    }
}

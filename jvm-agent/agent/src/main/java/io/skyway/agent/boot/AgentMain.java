package io.skyway.agent.boot;

import io.skyway.api.internal.Streams;
import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Path;

/**
 * Where the JVM enters the agent. Does as little as possible on the application's own thread, and never breaks the
 * application: whatever fails here is one line on stderr.
 *
 * <p>The agent's option string is the path of a properties file.
 */
public final class AgentMain {
    private static final String START = "io.skyway.agent.start.Startup";

    /** One for the JVM's life: a native library loads in one class loader only. */
    private static IsolatedLoader loader;

    private AgentMain() {}

    /** Called before the application's main method. Returns at once; the agent starts on a thread of its own. */
    public static void premain(String options, Instrumentation instrumentation) {
        begin(options, instrumentation);
    }

    /** Called when the agent is loaded into a running JVM, again for each attach. Returns at once. */
    public static void agentmain(String options, Instrumentation instrumentation) {
        begin(options, instrumentation);
    }

    private static void begin(String options, Instrumentation instrumentation) {
        try {
            long requested = System.nanoTime();
            // The application's main method may want a stream at once.
            Streams.starting();
            Thread thread = new Thread(() -> start(options, instrumentation, requested), "skyway-start");
            thread.setDaemon(true);
            thread.setContextClassLoader(null);
            thread.start();
        } catch (Throwable t) {
            report(t);
        }
    }

    private static synchronized void start(String options, Instrumentation instrumentation, long requested) {
        try {
            if (loader == null) {
                loader = new IsolatedLoader(ownJar());
            }
            Class<?> startup = loader.loadClass(START);
            MethodHandles.publicLookup()
                    .findStatic(
                            startup,
                            "run",
                            MethodType.methodType(void.class, String.class, Instrumentation.class, long.class))
                    .invoke(options, instrumentation, requested);
        } catch (Throwable t) {
            report(t);
        } finally {
            Streams.started();
        }
    }

    private static Path ownJar() throws Exception {
        return Path.of(AgentMain.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
    }

    private static void report(Throwable t) {
        try {
            System.err.println("skyway: the agent did not start: " + t);
        } catch (Throwable ignored) {
            // Not even stderr works: the application goes on regardless.
        }
    }
}

package io.skyway.api.internal;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.function.Predicate;

/** Connects the object streams of the api with the engine, which lives in a class loader of its own. Thread-safe. */
public final class Streams {
    private static Engine engine;
    private static String refusal = "";
    private static int starting;

    private Streams() {}

    /** Makes both sides of streams. */
    public interface Engine {
        /** A stream's sending side; its header is written at once. */
        Sink sink(OutputStream out) throws IOException;

        /**
         * A stream's receiving side; the header is read when something is first asked of it.
         *
         * @param loader finds classes; null for the thread's context loader
         * @param allowed says of a class name whether its objects may be landed; null allows all
         */
        Source source(InputStream in, ClassLoader loader, Predicate<String> allowed) throws IOException;
    }

    /** Confined to one thread at a time. */
    public interface Sink {
        /** Where primitive data go. */
        OutputStream data();

        /** Writes one root, null too. {@code shared} is false for one that is sent anew and not noted. */
        void object(Object root, boolean shared) throws IOException;

        /** Forgets what was sent. */
        void reset() throws IOException;

        /** Hands everything to the underlying stream, and flushes that. */
        void flush() throws IOException;

        /** Flushes, closes the underlying stream, and gives memory back. */
        void close() throws IOException;
    }

    /** Confined to one thread at a time. */
    public interface Source {
        /** Where primitive data come from: its end is the next object, or the stream's. */
        InputStream data();

        /** The next root; {@code shared} is false for one that must be new and may not be named later. */
        Object object(boolean shared) throws IOException, ClassNotFoundException;

        /** Closes the underlying stream, and gives memory back. */
        void close() throws IOException;
    }

    /** Called by the agent when its engine runs. */
    public static synchronized void use(Engine e) {
        engine = e;
        Streams.class.notifyAll();
    }

    /** Called by the agent when its engine does not run. */
    public static synchronized void refused(String why) {
        refusal = why;
        Streams.class.notifyAll();
    }

    /** Called by an agent that begins to start: until it has {@link #started}, streams wait for it. */
    public static synchronized void starting() {
        starting++;
    }

    /** Called by an agent that has started, or failed to. */
    public static synchronized void started() {
        starting--;
        Streams.class.notifyAll();
    }

    /** @throws IllegalStateException without an agent, or when its engine does not run in this JVM */
    public static synchronized Engine engine() {
        boolean interrupted = false;
        while (engine == null && refusal.isEmpty() && starting > 0) {
            try {
                Streams.class.wait();
            } catch (InterruptedException e) {
                interrupted = true; // the agent's start takes part of a second; whoever interrupts hears of it then
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (engine == null) {
            throw new IllegalStateException(
                    refusal.isEmpty()
                            ? "object streams need Skyway's engine, and no agent runs in this JVM:"
                                    + " launch it with `skyway launch`, or attach to it"
                            : "object streams need Skyway's engine, which refused this JVM: " + refusal);
        }
        return engine;
    }
}

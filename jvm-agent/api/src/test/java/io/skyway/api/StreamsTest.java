package io.skyway.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.skyway.api.internal.Streams;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** How the object streams find their engine. */
class StreamsTest {
    private static final class NoEngine implements Streams.Engine {
        @Override
        public Streams.Sink sink(OutputStream out) throws IOException {
            throw new IOException("the engine was asked");
        }

        @Override
        public Streams.Source source(InputStream in, ClassLoader loader, Predicate<String> allowed) {
            throw new UnsupportedOperationException();
        }
    }

    private static FutureTask<Object> constructed() {
        FutureTask<Object> task = new FutureTask<>(() -> new SkywayObjectOutputStream(new ByteArrayOutputStream()));
        Thread t = new Thread(task);
        t.setDaemon(true);
        t.start();
        return task;
    }

    private static Throwable failure(FutureTask<Object> task) {
        return assertThrows(ExecutionException.class, task::get).getCause();
    }

    // In one test: what an agent has said stays said.
    @Test
    void anAgentThatStartsIsWaitedFor() {
        String without = assertThrows(
                        IllegalStateException.class,
                        () -> new SkywayObjectInputStream(new ByteArrayInputStream(new byte[0])))
                .getMessage();
        assertTrue(without.contains("no agent runs in this JVM: launch it with `skyway launch`"), without);
        Streams.starting();
        FutureTask<Object> early = constructed();
        Streams.started();
        assertInstanceOf(IllegalStateException.class, failure(early));
        Streams.starting();
        FutureTask<Object> refused = constructed();
        Streams.refused("no such collector");
        Throwable why = failure(refused);
        assertTrue(why.getMessage().endsWith("refused this JVM: no such collector"), why.getMessage());
        Streams.use(new NoEngine());
        Streams.started();
        assertEquals("the engine was asked", failure(constructed()).getMessage());
    }
}

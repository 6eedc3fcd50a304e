package io.skyway.agent.link;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * A thread with a large stack, for serializers that recurse: deep graphs get a fair chance. It is made at the first use
 * and kept, so that its stack's pages are not faulted in again for each graph.
 */
final class BigStack implements AutoCloseable {
    /** Address space; pages are used as the recursion reaches them. */
    private static final long BYTES = 1L << 30;

    private final String name;
    private ExecutorService thread;
    private boolean closed;

    BigStack(String name) {
        this.name = name;
    }

    /** What to run. */
    interface Body {
        void run() throws Exception;
    }

    /** Runs it there and waits for it. Throws what it throws. */
    void run(Body body) throws Exception {
        Future<?> done = thread().submit(() -> {
            body.run();
            return null;
        });
        try {
            await(done);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw (Error) e.getCause();
        }
    }

    /** The body uses the caller's slots: nothing ends this wait but the body's end. */
    private static void await(Future<?> done) throws ExecutionException {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    done.get();
                    return;
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private synchronized ExecutorService thread() {
        if (closed) {
            throw new IllegalStateException("the link is closed");
        }
        if (thread == null) {
            thread = Executors.newSingleThreadExecutor(r -> {
                Thread t = new Thread(null, r, name, BYTES);
                t.setDaemon(true);
                // Application code and its classes.
                t.setContextClassLoader(ClassLoader.getSystemClassLoader());
                return t;
            });
        }
        return thread;
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (thread != null) {
            thread.shutdown();
        }
    }
}

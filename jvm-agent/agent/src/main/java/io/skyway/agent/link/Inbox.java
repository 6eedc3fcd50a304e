package io.skyway.agent.link;

import io.skyway.core.SlotPool;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The blocks of one transfer between the reading thread and the landing thread. Bounded: when it is full, reading stops,
 * and then the sender does.
 */
final class Inbox {
    private static final int BLOCKS = 1024;
    private static final long POLL_MILLIS = 50;

    private final ArrayBlockingQueue<Slice> queue = new ArrayBlockingQueue<>(BLOCKS);
    /** Where slots go back to that nobody will land; null when they are the peer's. */
    private final SlotPool own;

    private volatile Failure aborted;
    private volatile boolean closed;
    private long waitedNanos;

    Inbox(SlotPool own) {
        this.own = own;
    }

    /** The reading thread: waits while the queue is full. After the end of the landing, blocks are dropped. */
    void put(Slice slice) {
        try {
            while (!closed && !queue.offer(slice, POLL_MILLIS, TimeUnit.MILLISECONDS)) {
                // The landing thread is behind.
            }
        } catch (InterruptedException e) {
            throw new AssertionError("the reading thread is never interrupted", e);
        }
        if (closed) {
            giveBack(slice);
            drain();
        }
    }

    /** Any thread: {@link #take} throws this from now on. The first one wins. */
    synchronized void abort(Failure why) {
        if (aborted == null) {
            aborted = why;
        }
    }

    /** The landing thread: waits for the next one. */
    Slice take() throws InterruptedException {
        long start = System.nanoTime();
        try {
            while (true) {
                // Checked before every block: a cancelled transfer does not go on landing what has queued up.
                if (aborted != null) {
                    throw aborted;
                }
                Slice next = queue.poll(POLL_MILLIS, TimeUnit.MILLISECONDS);
                if (next != null) {
                    return next;
                }
            }
        } finally {
            waitedNanos += System.nanoTime() - start;
        }
    }

    /** Time that {@link #take} has waited. The landing thread's. */
    long waitedNanos() {
        return waitedNanos;
    }

    /** Whether blocks are still wanted. */
    boolean isClosed() {
        return closed;
    }

    boolean isAborted() {
        return aborted != null;
    }

    /** The landing thread: nothing will be taken any more. */
    void close() {
        closed = true;
        drain();
    }

    private void drain() {
        for (Slice s = queue.poll(); s != null; s = queue.poll()) {
            giveBack(s);
        }
    }

    private void giveBack(Slice slice) {
        if (own != null && slice != Slice.END) {
            own.release(slice.slot());
        }
    }
}

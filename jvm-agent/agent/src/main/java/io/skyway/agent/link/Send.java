package io.skyway.agent.link;

import io.skyway.core.SkywayException.Kind;
import io.skyway.proto.TransferReport;
import io.skyway.proto.TransferRequest;
import java.util.BitSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

/** One transfer on the sending side: what its threads share. */
public final class Send {
    final TransferRequest request;
    final long begun = System.nanoTime();
    /** The receiver's last word: its report, or a {@link Failure}. */
    final CompletableFuture<TransferReport> answer = new CompletableFuture<>();

    private final AtomicReference<Failure> failure = new AtomicReference<>();
    private final BitSet unacknowledged = new BitSet();
    private volatile BlockSource source;
    /** When {@link #fail} was called, in nanoTime units; 0 before. */
    volatile long failedAt;

    volatile long number;
    volatile long bytes;
    volatile long blocksSent;
    volatile long blocksLanded;
    volatile boolean ended;
    /** Time that shipping took, of whichever thread does it. */
    volatile long shippingNanos;

    public Send(TransferRequest request) {
        this.request = request;
    }

    /** Ends the transfer with this failure, unless it has failed before. From any thread. */
    void fail(Failure why) {
        if (failure.compareAndSet(null, why)) {
            failedAt = System.nanoTime() | 1;
            BlockSource s = source;
            if (s != null) {
                s.cancel();
            }
        }
    }

    /** Ends the transfer because someone asked for it. From any thread. */
    public void cancel(String why) {
        fail(Failure.of(Kind.CANCELLED, Failure.Side.SENDER, why));
    }

    /** The first failure, or null. */
    Failure failure() {
        return failure.get();
    }

    void checkNotFailed() {
        Failure f = failure.get();
        if (f != null) {
            throw f;
        }
    }

    void source(BlockSource s) {
        source = s;
        if (failure.get() != null) {
            s.cancel();
        }
    }

    long objects() {
        BlockSource s = source;
        return s == null ? 0 : s.objects();
    }

    synchronized void shipped(int slot) {
        unacknowledged.set(slot);
    }

    /** False when that slot was not with the receiver. */
    synchronized boolean acknowledge(int slot) {
        if (slot < 0 || !unacknowledged.get(slot)) {
            return false;
        }
        unacknowledged.clear(slot);
        return true;
    }

    /** The next slot that the receiver never acknowledged, or -1. After its last word. */
    synchronized int takeUnacknowledged() {
        int slot = unacknowledged.nextSetBit(0);
        if (slot >= 0) {
            unacknowledged.clear(slot);
        }
        return slot;
    }
}

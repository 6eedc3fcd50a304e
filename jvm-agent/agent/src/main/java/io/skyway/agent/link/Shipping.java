package io.skyway.agent.link;

import io.skyway.core.Block;
import io.skyway.core.Shipper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;

/**
 * Carries the blocks of one transfer to the link. Over TCP a thread of its own writes them. In shared memory they only
 * have to be announced, and the walking thread does that itself, between two windows: on a machine that is busy another
 * thread would have to wait for its turn.
 */
final class Shipping implements Shipper {
    private static final long TAKE_MILLIS = 100;

    private final SenderLink link;
    private final Executor threads;
    private final Send send;
    private final BlockSource source;
    /** Done when the shipping thread has ended; null while there is none. The walking thread's. */
    private CompletableFuture<?> thread;

    Shipping(SenderLink link, Executor threads, Send send, BlockSource source, boolean inSharedMemory) {
        this.link = link;
        this.threads = threads;
        this.send = send;
        this.source = source;
        if (!inSharedMemory) {
            beforeLongWindow();
        }
    }

    @Override
    public void betweenWindows() {
        if (thread == null) {
            ship(0);
        }
    }

    @Override
    public void beforeLongWindow() {
        if (thread == null) {
            CompletableFuture<?> done = new CompletableFuture<>();
            thread = done;
            threads.execute(() -> {
                try {
                    ship(TAKE_MILLIS);
                } finally {
                    done.complete(null);
                }
            });
        }
    }

    /** Until the last block; without time to wait, until none is finished. */
    private void ship(long takeMillis) {
        List<Block> finished = new ArrayList<>();
        try {
            while (send.failure() == null && !send.ended) {
                Block block = source.take(takeMillis);
                if (block != null) {
                    finished.add(block);
                }
                boolean more = takeMillis == 0 && block != null && !block.last();
                if (!finished.isEmpty() && (!more || finished.size() == FrameChannel.MOST_AT_ONCE)) {
                    List<Block> blocks = List.copyOf(finished);
                    finished.clear();
                    link.ship(send, blocks);
                }
                if (block == null && takeMillis == 0) {
                    return;
                }
            }
        } catch (IOException e) {
            link.lost(e);
        } catch (Throwable t) {
            send.fail(Failure.of(t, Failure.Side.SENDER));
        } finally {
            // The transfer failed before their turn.
            finished.forEach(link::drop);
        }
    }

    /** The shipping thread uses the source: it must have ended before the source is closed, come what may. */
    void awaitEnd() {
        boolean interrupted = false;
        while (thread != null) {
            try {
                thread.get();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            } catch (ExecutionException e) {
                throw new AssertionError("the shipping thread reports its failures otherwise", e);
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}

package io.skyway.agent.link;

import io.skyway.api.Serializer;
import io.skyway.core.Block;
import io.skyway.core.Shipper;
import io.skyway.core.SkywayException;
import io.skyway.core.SlotPool;
import io.skyway.proto.TransferReport;
import java.io.OutputStream;
import java.util.Objects;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A baseline serializer's bytes, in the same slots that the engine's blocks use. */
final class StreamSource extends OutputStream implements BlockSource {
    private static final int BUFFER = 64 << 10;
    private static final long POLL_MILLIS = 100;

    private final Serializer serializer;
    private final Object root;
    private final SlotPool pool;
    private final BigStack stack;
    // Bounded by the pool's slots.
    private final LinkedBlockingQueue<Block> finished = new LinkedBlockingQueue<>();
    private final byte[] buffer = new byte[BUFFER];
    private int buffered;
    private int slot = -1;
    private int used;
    private long bytes;
    private long waitedNanos;
    private long busyNanos;
    private volatile boolean cancelled;
    private Shipper shipper;

    StreamSource(Serializer serializer, Object root, SlotPool pool, BigStack stack) {
        this.serializer = serializer;
        this.root = root;
        this.pool = pool;
        this.stack = stack;
    }

    @Override
    public void produce(Shipper shipper) throws Exception {
        this.shipper = shipper;
        stack.run(() -> {
            long start = System.nanoTime();
            try {
                serializer.write(root, this);
            } catch (Throwable t) {
                throw Serializers.failure(serializer.name(), t, Failure.Side.SENDER);
            }
            flushBuffer();
            claim();
            finish(true);
            busyNanos = System.nanoTime() - start - waitedNanos;
        });
    }

    @Override
    public void write(int b) {
        if (buffered == BUFFER) {
            flushBuffer();
        }
        buffer[buffered++] = (byte) b;
    }

    @Override
    public void write(byte[] from, int offset, int length) {
        Objects.checkFromIndexSize(offset, length, from.length);
        if (length <= BUFFER - buffered) {
            System.arraycopy(from, offset, buffer, buffered, length);
            buffered += length;
        } else {
            flushBuffer();
            copy(from, offset, length);
        }
    }

    private void flushBuffer() {
        copy(buffer, 0, buffered);
        buffered = 0;
    }

    private void copy(byte[] from, int offset, int length) {
        int done = 0;
        while (done < length) {
            claim();
            int n = Math.min(length - done, pool.slotBytes() - used);
            NativeMemory.view(pool.address(slot, used + n) + used, n).put(from, offset + done, n);
            used += n;
            done += n;
            if (used == pool.slotBytes()) {
                finish(false);
            }
        }
    }

    /** Makes sure that there is a slot to write to. Waits for the receiver when all are full. */
    private void claim() {
        if (cancelled) {
            throw new SkywayException(SkywayException.Kind.CANCELLED, "the transfer was cancelled");
        }
        if (slot >= 0) {
            return;
        }
        long start = System.nanoTime();
        while (slot < 0) {
            slot = pool.acquire(POLL_MILLIS);
            if (slot < 0 && pool.inUse() == 0) {
                slot = pool.acquire(0);
                if (slot < 0) {
                    // None is with the receiver, so none will come back.
                    throw new SkywayException(
                            SkywayException.Kind.HEAP_FULL,
                            "memory for the stream's blocks is short: shared memory is full or limited. TCP needs"
                                    + " none");
                }
            }
            if (cancelled) {
                throw new SkywayException(SkywayException.Kind.CANCELLED, "the transfer was cancelled");
            }
        }
        waitedNanos += System.nanoTime() - start;
        used = 0;
    }

    private void finish(boolean last) {
        bytes += used;
        finished.add(new Block(slot, pool.address(slot, used), used, last));
        slot = -1;
        if (!last) {
            long start = System.nanoTime();
            shipper.betweenWindows();
            waitedNanos += System.nanoTime() - start;
        }
    }

    @Override
    public Block take(long timeoutMillis) {
        try {
            return finished.poll(timeoutMillis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    @Override
    public long objects() {
        return 0;
    }

    @Override
    public void cancel() {
        cancelled = true;
    }

    @Override
    public void report(TransferReport.Builder report) {
        report.setImageBytes(bytes).setSendNanos(busyNanos);
    }

    @Override
    public void close() {
        cancelled = true;
        if (slot >= 0) {
            pool.release(slot);
            slot = -1;
        }
        for (Block b = finished.poll(); b != null; b = finished.poll()) {
            pool.release(b.slot());
        }
    }
}

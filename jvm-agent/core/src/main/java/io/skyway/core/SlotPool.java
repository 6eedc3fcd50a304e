package io.skyway.core;

import java.util.concurrent.atomic.AtomicInteger;

/** Slots of native memory that blocks are written to. Safe for several threads; one writer at a time. */
public final class SlotPool implements AutoCloseable {
    private final int slotBytes;
    private final Object freed = new Object();
    private final AtomicInteger waiting = new AtomicInteger();
    private long pool;
    private int users = 1;
    private boolean closed;

    private SlotPool(long pool, int slotBytes) {
        this.pool = pool;
        this.slotBytes = slotBytes;
    }

    /** Bytes of a slot for segments of at most this size. */
    public static int slotBytesFor(int maxSegmentBytes) {
        return (int) Native.slotBytesFor(maxSegmentBytes);
    }

    /**
     * Memory of this process alone.
     *
     * @throws SkywayException of kind LINK when there is not enough memory
     */
    public static SlotPool anonymous(Engine engine, int slotBytes, int slots) {
        return create(slotBytes, slots, false);
    }

    /**
     * A memory file that a peer of the same user can open as {@code /proc/PID/fd/FD}. It has no name, so that nothing
     * is left of it when both processes are gone, and it is sealed against shrinking.
     *
     * @throws SkywayException of kind LINK when there is not enough memory
     */
    public static SlotPool shared(Engine engine, int slotBytes, int slots) {
        return create(slotBytes, slots, true);
    }

    /**
     * The peer's memory, read-only.
     *
     * @throws SkywayException of kind LINK when the file cannot be opened, is of another user, or is not sealed
     */
    public static SlotPool open(Engine engine, long pid, int fd, int slotBytes) {
        try {
            return new SlotPool(Native.poolOpen(pid, fd, slotBytes), slotBytes);
        } catch (IllegalStateException e) {
            throw new SkywayException(SkywayException.Kind.LINK, e.getMessage() + "; use TCP", e);
        }
    }

    private static SlotPool create(int slotBytes, int slots, boolean shared) {
        try {
            return new SlotPool(Native.poolCreate(slotBytes, slots, shared), slotBytes);
        } catch (IllegalStateException e) {
            throw new SkywayException(SkywayException.Kind.LINK, e.getMessage(), e);
        }
    }

    long handle() {
        if (pool == 0) {
            throw new SkywayException(SkywayException.Kind.LINK, "the link's memory is closed");
        }
        return pool;
    }

    public int slotBytes() {
        return slotBytes;
    }

    /** The memory file's descriptor in this process, or -1. */
    public synchronized int fd() {
        return Native.poolFd(handle());
    }

    /** Slots handed out and not yet released. */
    public synchronized int inUse() {
        return Native.poolInUse(handle());
    }

    /**
     * Where a slot's bytes are.
     *
     * @throws SkywayException of kind BAD_IMAGE when the memory does not have that many bytes there
     */
    public synchronized long address(int slot, int length) {
        long a = Native.poolAddress(handle(), slot, length);
        if (a == 0) {
            throw new SkywayException(
                    SkywayException.Kind.BAD_IMAGE,
                    "slot " + slot + " with " + length + " bytes lies outside of the link's memory");
        }
        return a;
    }

    /** A free slot, or -1 when none becomes free in time. */
    public int acquire(long timeoutMillis) {
        long until = System.nanoTime() + timeoutMillis * 1_000_000;
        for (; ; ) {
            long slot;
            synchronized (this) {
                slot = Native.poolAcquire(handle());
            }
            if (slot >= 0) {
                return (int) slot;
            }
            long left = (until - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                return -1;
            }
            awaitRelease(left);
        }
    }

    public void release(int slot) {
        synchronized (this) {
            if (pool == 0) {
                return;
            }
            Native.poolRelease(pool, slot);
        }
        if (waiting.get() != 0) {
            synchronized (freed) {
                freed.notifyAll();
            }
        }
    }

    /** Until a slot was released, or at most this long; a release just before the call is noticed within 2 ms. */
    void awaitRelease(long millis) {
        waiting.incrementAndGet();
        try {
            synchronized (freed) {
                freed.wait(Math.min(Math.max(millis, 1), 2));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SkywayException(SkywayException.Kind.CANCELLED, "interrupted while waiting for the receiver", e);
        } finally {
            waiting.decrementAndGet();
        }
    }

    /** The memory stays until {@link #drop}, whoever closes the pool in between. */
    synchronized long retain() {
        long p = handle();
        users++;
        return p;
    }

    synchronized void drop() {
        if (--users == 0) {
            Native.poolClose(pool);
            pool = 0;
        }
    }

    /** Gives the memory back, as soon as no writer uses it any more. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            drop();
        }
    }
}

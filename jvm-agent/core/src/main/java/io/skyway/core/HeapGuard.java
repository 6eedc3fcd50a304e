package io.skyway.core;

import java.lang.reflect.Array;

/** Allocates what an image needs, and refuses before the heap is so full that the application suffers. */
final class HeapGuard {
    private final Runtime runtime = Runtime.getRuntime();
    private final long max = runtime.maxMemory();
    // What the application keeps, whatever we land. Parallel counts as free a survivor space that nobody can allocate
    // from, and it may be a third of the young generation, so a ninth of the heap.
    private final long reserve = Math.max(max / 5, 2 << 20);
    private long taken;
    private long budget;

    void restart() {
        taken = 0;
        budget = 0;
    }

    /**
     * An uninitialised chunk.
     *
     * @throws SkywayException of kind HEAP_FULL
     */
    long[] allocate(int words) {
        ensure(8L * words);
        try {
            return Internals.uninitialized(words);
        } catch (OutOfMemoryError e) {
            throw full(8L * words, e);
        }
    }

    Object allocateArray(Class<?> component, int length, long bytes) {
        ensure(bytes);
        try {
            return Array.newInstance(component, length);
        } catch (OutOfMemoryError e) {
            throw full(bytes, e);
        }
    }

    private long free() {
        return max - runtime.totalMemory() + runtime.freeMemory();
    }

    private void ensure(long bytes) {
        // Garbage counts as used until it is collected. So when little seems free, a collection tells how much is, and
        // that is a budget until the next one; an image may never use up what the application keeps.
        if (free() < bytes + reserve && bytes > budget) {
            if (taken + bytes + reserve > max) {
                throw full(bytes, null);
            }
            System.gc();
            budget = free() - reserve;
            // Less than this, and the next collection would follow at once.
            if (budget < Math.max(bytes, max / 64)) {
                throw full(bytes, null);
            }
        }
        budget -= bytes;
        taken += bytes;
    }

    private SkywayException full(long bytes, Throwable cause) {
        return new SkywayException(
                SkywayException.Kind.HEAP_FULL,
                "the receiver's heap cannot hold the graph: " + mib(taken + bytes) + " needed so far, " + mib(free())
                        + " free of " + mib(max) + "; raise the receiver's -Xmx",
                cause);
    }

    private static String mib(long bytes) {
        return String.format("%.1f MiB", Math.max(bytes, 0) / 1048576.0);
    }
}

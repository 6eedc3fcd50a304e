package io.skyway.core;

import java.lang.ref.Cleaner;

/** What a stream has outside of the heap. It goes back when the stream is closed, or when nobody has the stream any more. */
final class StreamMemory {
    // A class of its own has its thread begin with the first stream.
    private static final Cleaner CLEANER = Cleaner.create();

    /** Memory may be short only because a collection that would show streams to be unused was not needed for the heap. */
    private static final int TRIES = 6;

    private StreamMemory() {}

    /** @param free gives the memory back, and does not refer to the stream */
    static Cleaner.Cleanable of(Object stream, Runnable free) {
        return CLEANER.register(stream, free);
    }

    /**
     * A pool with as many slots as an image of this heap can need at most: an object of more than a quarter of a segment has
     * one of its own.
     *
     * @throws SkywayException of kind LINK when there is not enough memory
     */
    static SlotPool forWholeImages(Engine engine, int segmentBytes) {
        long slots = 4 * (Runtime.getRuntime().maxMemory() / segmentBytes) + 1024;
        return pool(engine, segmentBytes, (int) Math.min(slots, 1 << 20));
    }

    /** @throws SkywayException of kind LINK when there is not enough memory */
    static SlotPool pool(Engine engine, int segmentBytes, int slots) {
        for (int i = 1; ; i++) {
            try {
                return SlotPool.anonymous(engine, SlotPool.slotBytesFor(segmentBytes), slots);
            } catch (SkywayException e) {
                if (i == TRIES) {
                    throw e;
                }
                collect(1L << i);
            }
        }
    }

    private static void collect(long millis) {
        System.gc();
        try {
            Thread.sleep(8 * millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

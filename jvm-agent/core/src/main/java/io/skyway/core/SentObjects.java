package io.skyway.core;

import java.util.Arrays;

/**
 * What the images of one stream have sent, in an order that the receiver knows too: image by image, the objects by
 * segment and place in it, then those that travelled as stand-ins. An object's index is its name in later images.
 *
 * <p>They are kept alive, as {@link java.io.ObjectOutputStream} keeps them: addresses mean nothing after a collection, so
 * the engine asks this array where the objects are now.
 */
final class SentObjects {
    /** Small enough to be young on every collector. */
    private static final int AT_ONCE = 4096;

    private Object[] objects = new Object[64];
    private int count;

    int count() {
        return count;
    }

    void clear() {
        objects = new Object[64];
        count = 0;
    }

    /** Outside of windows, before an attempt. */
    void prepare(long writer, Object unshared) {
        Native.writerSent(writer, objects, count, unshared);
    }

    /**
     * Notes what the image that was just written has sent.
     *
     * @return false when a collection has run since its walk: then the objects cannot be told any more, and it must be
     *     walked again
     * @throws SkywayException of kind USAGE when there are more than an array can hold
     */
    boolean collect(long writer, StandIns standIns, Object unshared, Windows windows, Windows.Timing timing) {
        int fresh = Native.writerSources(writer);
        Object[] originals = standIns.isEmpty() ? new Object[0] : standIns.originals();
        int made = Math.max(originals.length - 1, 0);
        long total = (long) count + fresh + made;
        if (fresh < 0 || total > Integer.MAX_VALUE - 16) {
            throw new SkywayException(
                    SkywayException.Kind.USAGE,
                    "the stream holds more than 2,147,483,631 objects; reset() it from time to time");
        }
        // Before the windows: growing may collect.
        if (total > objects.length) {
            objects = Arrays.copyOf(objects, (int) Math.min(Math.max(total, objects.length * 2L), total + (1 << 28)));
        }
        try {
            for (int from = 0; from < fresh; ) {
                int n = Math.min(AT_ONCE, fresh - from);
                Object[] temporary = new Object[n];
                Native.writerTemporary(writer, temporary);
                int r = windows.run(Native.SOURCES, writer, from, n, new long[1], timing);
                if (r == ImageWriter.MOVED) {
                    Arrays.fill(objects, count, objects.length, null);
                    return false;
                }
                if (r == ImageWriter.DONE) {
                    System.arraycopy(temporary, 0, objects, count + from, n);
                    from += n;
                }
            }
        } finally {
            Native.writerTemporary(writer, null);
        }
        if (made > 0) {
            System.arraycopy(originals, 1, objects, count + fresh, made);
        }
        if (unshared != null) {
            for (int i = count; i < total; i++) {
                objects[i] = objects[i] == unshared ? null : objects[i];
            }
        }
        count = (int) total;
        return true;
    }
}

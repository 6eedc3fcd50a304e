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

    /** Together a few MiB, which fit a young generation. */
    private static final int MOST_IN_PARTS = 1 << 20;

    private static final int MOST = Integer.MAX_VALUE - 16;

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

    /** Whether so many objects can be noted by {@link #parts}: all of the arrays must be young at once. */
    static boolean fewEnough(int objects) {
        return objects <= MOST_IN_PARTS;
    }

    /** Arrays for so many objects, for the op that walks and notes in one window. */
    Object[][] parts(long writer, int objects) {
        Object[][] parts = new Object[objects / AT_ONCE + 1][AT_ONCE];
        Native.writerParts(writer, parts);
        return parts;
    }

    /**
     * Notes what the image that was just written has sent.
     *
     * @param parts where the walk has noted it already, or null
     * @return false when a collection has run since the walk: then the objects cannot be told any more, and it must be
     *     walked again
     * @throws SkywayException of kind USAGE when there are more than an array can hold
     */
    boolean collect(
            long writer, Object[][] parts, StandIns standIns, Object unshared, Windows windows, Windows.Timing timing) {
        int fresh = Native.writerSources(writer);
        Object[] originals = standIns.isEmpty() ? new Object[0] : standIns.originals();
        int made = Math.max(originals.length - 1, 0);
        long total = (long) count + fresh + made;
        if (fresh < 0 || total > MOST) {
            throw new SkywayException(
                    SkywayException.Kind.USAGE,
                    "the stream holds more than " + MOST + " objects: reset() it from time to time");
        }
        // Before the windows: growing may collect, and the next walk finds the array large enough.
        if (total > objects.length) {
            objects = Arrays.copyOf(objects, (int) Math.min(Math.max(total, objects.length * 2L), MOST));
        }
        if (parts != null) {
            for (int from = 0; from < fresh; from += AT_ONCE) {
                System.arraycopy(parts[from / AT_ONCE], 0, objects, count + from, Math.min(AT_ONCE, fresh - from));
            }
        } else if (!note(writer, fresh, windows, timing)) {
            Arrays.fill(objects, count, objects.length, null);
            return false;
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

    private boolean note(long writer, int fresh, Windows windows, Windows.Timing timing) {
        long[] pin = new long[1];
        Object[][] part = null;
        for (int from = 0; from < fresh; ) {
            if (part == null) {
                part = parts(writer, 0);
            }
            int r = windows.run(Native.NOTE, writer, from, 0, pin, timing);
            if (r == ImageWriter.MOVED) {
                return false;
            }
            if (r == ImageWriter.DONE) {
                // The same array for the next ones: a new one each time could make the very collection that it fears.
                System.arraycopy(part[0], 0, objects, count + from, Math.min(AT_ONCE, fresh - from));
                from += AT_ONCE;
            } else {
                part = null;
            }
        }
        return true;
    }
}

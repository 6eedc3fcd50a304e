package io.skyway.core;

import java.util.Arrays;

/** What the images of one stream have brought, in the order of {@link SentObjects}. Confined to the stream's thread. */
final class ReceivedObjects {
    /** The objects, and behind them the names of the image in hand. */
    Object[] objects = new Object[64];

    int count;

    void clear() {
        objects = new Object[64];
        count = 0;
    }

    /** The reader's array of names, which begins with the objects so far; the names behind them are over. */
    void names(Object[] names, int used) {
        objects = names;
        Arrays.fill(objects, count, used, null);
    }

    void add(Object o) {
        room(1);
        objects[count++] = o;
    }

    void addAll(Object[] more) {
        room(more.length);
        System.arraycopy(more, 0, objects, count, more.length);
        count += more.length;
    }

    private void room(int more) {
        long total = (long) count + more;
        if (total > Integer.MAX_VALUE - 16) {
            throw new SkywayException(
                    SkywayException.Kind.BAD_IMAGE, "the stream holds more objects than an array can");
        }
        if (total > objects.length) {
            objects = Arrays.copyOf(objects, (int) Math.min(Math.max(total, objects.length * 2L), total + (1 << 28)));
        }
    }

    /** Whether it is one of the first {@code among} objects. */
    boolean contains(Object o, int among) {
        for (int i = 0; i < among; i++) {
            if (objects[i] == o) {
                return true;
            }
        }
        return false;
    }

    /** No later image may name it. */
    void forget(Object o) {
        for (int i = 0; i < count; i++) {
            objects[i] = objects[i] == o ? null : objects[i];
        }
    }
}

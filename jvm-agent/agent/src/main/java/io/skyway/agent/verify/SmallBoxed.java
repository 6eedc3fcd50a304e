package io.skyway.agent.verify;

/**
 * Boxed values that every Java process may cache ({@code valueOf}): which of two equal ones an object holds says nothing
 * about the graph. Larger values are ordinary objects, also where a flag makes the cache larger.
 */
final class SmallBoxed {
    private static final int CACHED_CHARACTERS = 128;

    private SmallBoxed() {}

    /** @return 0 when the object is none; else a number from 1 on that names its class */
    static int kind(Object o) {
        Class<?> type = o.getClass();
        if (type == Integer.class) {
            int value = (Integer) o;
            return value == (byte) value ? 1 : 0;
        }
        if (type == Long.class) {
            long value = (Long) o;
            return value == (byte) value ? 2 : 0;
        }
        if (type == Boolean.class) {
            return 3;
        }
        if (type == Character.class) {
            return (Character) o < CACHED_CHARACTERS ? 4 : 0;
        }
        if (type == Byte.class) {
            return 5;
        }
        if (type == Short.class) {
            short value = (Short) o;
            return value == (byte) value ? 6 : 0;
        }
        return 0;
    }

    /** The value of an object whose kind is not 0. */
    static int value(Object o) {
        if (o instanceof Number number) {
            return number.intValue();
        }
        return o instanceof Character character ? character : (Boolean) o ? 1 : 0;
    }
}

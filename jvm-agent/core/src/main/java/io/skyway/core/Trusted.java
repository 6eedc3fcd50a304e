package io.skyway.core;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;

/**
 * Values that the VM and the JDK's own code take for granted and use without a check, so that an altered image could
 * make them read or write wild memory. An object is landed only if it keeps to them.
 *
 * <ul>
 *   <li>A boolean is 0 or 1: compiled code uses it as an index without looking at it again.
 *   <li>A string's coder is 0 or 1, and its bytes are there: the compiler's string code halts the VM when they are null.
 *       So with {@code StringBuilder}, whose count is also never negative: digits are written in front of it unchecked.
 *   <li>A heap buffer's address is that of its offset in its array, and its capacity ends with the array.
 * </ul>
 *
 * What is about one object is checked as it lands. A buffer's array may arrive later than the buffer; these are looked
 * at before the graph is handed out.
 */
final class Trusted {
    private static final int HIGH_BYTE = 3;

    private Trusted() {}

    /** Pairs of an offset in the object and the largest value of the byte there. */
    static int[] limits(List<Field> fields) {
        List<Integer> out = new ArrayList<>();
        for (Field f : fields) {
            int offset = (int) Internals.offsetOf(f);
            if (f.getType() == boolean.class || isText(f) && f.getName().equals("coder")) {
                out.addAll(List.of(offset, 1));
            } else if (isText(f) && f.getName().equals("count")) {
                out.addAll(List.of(offset + HIGH_BYTE, 0x7f));
            }
        }
        return out.stream().mapToInt(i -> i).toArray();
    }

    static boolean neverNull(Field f) {
        return isText(f) && f.getName().equals("value");
    }

    /** Fields of String, and of what StringBuilder and StringBuffer have in common. */
    private static boolean isText(Field f) {
        Class<?> c = f.getDeclaringClass();
        return c == String.class || c == StringBuilder.class.getSuperclass();
    }

    /** True when {@link #settle} must look at each object of this class. */
    static boolean needsSettling(Class<?> c) {
        return java.nio.Buffer.class.isAssignableFrom(c);
    }

    /**
     * Looks at an object with all that it refers to.
     *
     * @throws SkywayException of kind BAD_IMAGE
     */
    static void settle(Object o) {
        java.nio.Buffer b = (java.nio.Buffer) o;
        long mark = number(b, "mark");
        long position = number(b, "position");
        long limit = number(b, "limit");
        long capacity = number(b, "capacity");
        long address = number(b, "address");
        boolean good = mark >= -1 && mark <= position && 0 <= position && position <= limit && limit <= capacity;
        Object array = reference(b, "hb");
        Object viewed = reference(b, "bb");
        if (array != null) {
            long offset = number(b, "offset");
            good &= viewed == null
                    && offset >= 0
                    && offset + capacity <= Array.getLength(array)
                    && address == base(array) + offset * Internals.arrayScale(array.getClass());
        } else if (viewed != null) {
            // ByteBuffer.asIntBuffer() and its like: the address is one of the viewed buffer's array.
            Object bytes = reference(viewed, "hb");
            good &= bytes != null
                    && address >= base(bytes)
                    && address - base(bytes) <= Integer.MAX_VALUE
                    && address - base(bytes) + capacity * bytesOf(b) <= Array.getLength(bytes);
        } else {
            // CharBuffer.wrap(CharSequence) asks its text for each character.
            good &= address == 0 && reference(b, "str") != null;
        }
        if (!good) {
            throw new SkywayException(
                    SkywayException.Kind.BAD_IMAGE,
                    "a " + b.getClass().getName() + " reaches beyond its array: the image was altered on the way");
        }
    }

    private static long base(Object array) {
        return Internals.arrayBase(array.getClass());
    }

    private static int bytesOf(java.nio.Buffer b) {
        if (b instanceof java.nio.LongBuffer || b instanceof java.nio.DoubleBuffer) {
            return 8;
        }
        return b instanceof java.nio.IntBuffer || b instanceof java.nio.FloatBuffer ? 4 : 2;
    }

    private static Field find(Object o, String name) {
        for (Class<?> c = o.getClass(); c != Object.class; c = c.getSuperclass()) {
            for (Field f : Internals.fieldsOf(c)) {
                if (f.getName().equals(name)) {
                    return f;
                }
            }
        }
        return null;
    }

    private static Object reference(Object o, String name) {
        Field f = find(o, name);
        return f == null ? null : Internals.getReference(o, Internals.offsetOf(f));
    }

    private static long number(Object o, String name) {
        Field f = find(o, name);
        if (f == null) {
            throw new SkywayException(
                    SkywayException.Kind.INTERNAL, o.getClass().getName() + " has no field " + name);
        }
        long offset = Internals.offsetOf(f);
        return f.getType() == long.class ? Internals.getLong(o, offset) : Internals.getInt(o, offset);
    }
}

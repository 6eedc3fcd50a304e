package io.skyway.core;

import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.SerializedLambda;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Set;

/**
 * The JDK's internals that the engine stands on, {@code jdk.internal.misc.Unsafe} above all. No other class reaches
 * into the JDK.
 *
 * <p>{@code sun.misc.Unsafe} would do for most of it, but warns from JDK 24 on.
 */
final class Internals {
    private static final MethodHandle ALLOCATE;
    private static final MethodHandle PUT_REFERENCE;
    private static final MethodHandle GET_REFERENCE;
    private static final MethodHandle GET_INT;
    private static final MethodHandle GET_LONG;
    private static final MethodHandle FIELD_OFFSET;
    private static final MethodHandle STATIC_BASE;
    private static final MethodHandle STATIC_OFFSET;
    private static final MethodHandle ARRAY_BASE;
    private static final MethodHandle ARRAY_SCALE;
    private static final MethodHandle COPY;
    private static final MethodHandle UNINITIALIZED;
    private static final MethodHandle FIELDS;
    private static final MethodHandle ALLOCATE_INSTANCE;
    private static final MethodHandle PUT_BYTE;
    private static final MethodHandle PUT_SHORT;
    private static final MethodHandle PUT_INT;
    private static final MethodHandle PUT_LONG;

    static {
        try {
            Class<?> type = Class.forName("jdk.internal.misc.Unsafe");
            Object unsafe = type.getMethod("getUnsafe").invoke(null);
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            ALLOCATE = find(lookup, type, unsafe, "allocateUninitializedArray", Object.class, Class.class, int.class);
            PUT_REFERENCE =
                    find(lookup, type, unsafe, "putReference", void.class, Object.class, long.class, Object.class);
            GET_REFERENCE = find(lookup, type, unsafe, "getReference", Object.class, Object.class, long.class);
            GET_INT = find(lookup, type, unsafe, "getInt", int.class, Object.class, long.class);
            GET_LONG = find(lookup, type, unsafe, "getLong", long.class, Object.class, long.class);
            FIELD_OFFSET = find(lookup, type, unsafe, "objectFieldOffset", long.class, Field.class);
            STATIC_BASE = find(lookup, type, unsafe, "staticFieldBase", Object.class, Field.class);
            STATIC_OFFSET = find(lookup, type, unsafe, "staticFieldOffset", long.class, Field.class);
            // int until JDK 24, long since.
            ARRAY_BASE =
                    findAs(lookup, type, unsafe, "arrayBaseOffset", MethodType.methodType(long.class, Class.class));
            ARRAY_SCALE = find(lookup, type, unsafe, "arrayIndexScale", int.class, Class.class);
            COPY = find(
                    lookup,
                    type,
                    unsafe,
                    "copyMemory",
                    void.class,
                    Object.class,
                    long.class,
                    Object.class,
                    long.class,
                    long.class);
            ALLOCATE_INSTANCE = find(lookup, type, unsafe, "allocateInstance", Object.class, Class.class);
            PUT_BYTE = find(lookup, type, unsafe, "putByte", void.class, Object.class, long.class, byte.class);
            PUT_SHORT = find(lookup, type, unsafe, "putShort", void.class, Object.class, long.class, short.class);
            PUT_INT = find(lookup, type, unsafe, "putInt", void.class, Object.class, long.class, int.class);
            PUT_LONG = find(lookup, type, unsafe, "putLong", void.class, Object.class, long.class, long.class);
            UNINITIALIZED = find(lookup, type, unsafe, "shouldBeInitialized", boolean.class, Class.class);
            Method fields = Class.class.getDeclaredMethod("getDeclaredFields0", boolean.class);
            fields.setAccessible(true);
            FIELDS = lookup.unreflect(fields);
        } catch (ReflectiveOperationException | RuntimeException e) {
            throw new SkywayException(
                    SkywayException.Kind.ENGINE_REFUSED, "the JDK's internals are not as expected: " + e, e);
        }
    }

    private Internals() {}

    /** A class of its own: it must run before {@link Internals} is initialised. */
    static final class Door {
        private Door() {}

        /** Opens the packages of java.base that the engine needs to its own module. */
        static void open(Instrumentation instrumentation) {
            Module self = Door.class.getModule();
            Set<Module> to = Set.of(self);
            instrumentation.redefineModule(
                    Object.class.getModule(),
                    Set.of(),
                    Map.of("jdk.internal.misc", to),
                    Map.of(
                            "java.lang", to,
                            "java.lang.invoke", to,
                            "java.text", to,
                            "java.util", to,
                            "java.util.concurrent", to,
                            "java.util.function", to,
                            "jdk.internal.misc", to),
                    Set.of(),
                    Map.of());
        }
    }

    private static MethodHandle find(
            MethodHandles.Lookup lookup, Class<?> type, Object unsafe, String name, Class<?> result, Class<?>... args)
            throws ReflectiveOperationException {
        return findAs(lookup, type, unsafe, name, MethodType.methodType(result, args));
    }

    private static MethodHandle findAs(
            MethodHandles.Lookup lookup, Class<?> type, Object unsafe, String name, MethodType as)
            throws ReflectiveOperationException {
        return lookup.unreflect(type.getMethod(name, as.parameterArray()))
                .bindTo(unsafe)
                .asType(as);
    }

    /** An object without a constructor having run. */
    static Object allocate(Class<?> c) {
        try {
            return (Object) ALLOCATE_INSTANCE.invokeExact(c);
        } catch (Throwable t) {
            throw never(t);
        }
    }

    /** Sets an instance field, final ones and those of records too. @throws ClassCastException for a value of another type */
    static void setField(Field f, Object o, Object value) {
        long offset = offsetOf(f);
        Class<?> type = f.getType();
        try {
            if (!type.isPrimitive()) {
                PUT_REFERENCE.invokeExact(o, offset, (Object) type.cast(value));
            } else if (type == boolean.class) {
                PUT_BYTE.invokeExact(o, offset, (byte) ((boolean) (Boolean) value ? 1 : 0));
            } else if (type == byte.class) {
                PUT_BYTE.invokeExact(o, offset, (byte) (Byte) value);
            } else if (type == char.class) {
                PUT_SHORT.invokeExact(o, offset, (short) (char) (Character) value);
            } else if (type == short.class) {
                PUT_SHORT.invokeExact(o, offset, (short) (Short) value);
            } else if (type == int.class) {
                PUT_INT.invokeExact(o, offset, (int) (Integer) value);
            } else if (type == float.class) {
                PUT_INT.invokeExact(o, offset, Float.floatToRawIntBits((Float) value));
            } else if (type == long.class) {
                PUT_LONG.invokeExact(o, offset, (long) (Long) value);
            } else {
                PUT_LONG.invokeExact(o, offset, Double.doubleToRawLongBits((Double) value));
            }
        } catch (Throwable t) {
            throw never(t);
        }
    }

    /** Has the VM's trace of an exception put into its Java field, whatever its class makes of getStackTrace. */
    static void fetchStackTrace(Throwable e) {
        try {
            Method m = Throwable.class.getDeclaredMethod("getOurStackTrace");
            m.setAccessible(true);
            m.invoke(e);
        } catch (ReflectiveOperationException x) {
            throw new SkywayException(
                    SkywayException.Kind.ENGINE_REFUSED, "this JDK keeps stack traces in another way: " + x, x);
        }
    }

    /** The lambda that a serial form describes: its capturing class makes it. */
    static Object readLambda(SerializedLambda form) throws ReflectiveOperationException {
        Method m = SerializedLambda.class.getDeclaredMethod("readResolve");
        m.setAccessible(true);
        return m.invoke(form);
    }

    private static AssertionError never(Throwable t) {
        if (t instanceof Error e) {
            throw e;
        }
        if (t instanceof RuntimeException e) {
            throw e;
        }
        return new AssertionError(t);
    }

    /** A {@code long[]} whose elements hold garbage: one ordinary allocation, without the cost of clearing. */
    static long[] uninitialized(int words) {
        try {
            return (long[]) (Object) ALLOCATE.invokeExact(long.class, words);
        } catch (Throwable t) {
            throw never(t);
        }
    }

    static void putReference(Object holder, long offset, Object value) {
        try {
            PUT_REFERENCE.invokeExact(holder, offset, value);
        } catch (Throwable t) {
            throw never(t);
        }
    }

    static Object getReference(Object holder, long offset) {
        try {
            return (Object) GET_REFERENCE.invokeExact(holder, offset);
        } catch (Throwable t) {
            throw never(t);
        }
    }

    static int getInt(Object holder, long offset) {
        try {
            return (int) GET_INT.invokeExact(holder, offset);
        } catch (Throwable t) {
            throw never(t);
        }
    }

    static long getLong(Object holder, long offset) {
        try {
            return (long) GET_LONG.invokeExact(holder, offset);
        } catch (Throwable t) {
            throw never(t);
        }
    }

    static long offsetOf(Field instanceField) {
        try {
            return (long) FIELD_OFFSET.invokeExact(instanceField);
        } catch (Throwable t) {
            throw never(t);
        }
    }

    /** The value of a static field of reference type, of an initialised class. */
    static Object staticValue(Field staticField) {
        try {
            return getReference(
                    (Object) STATIC_BASE.invokeExact(staticField), (long) STATIC_OFFSET.invokeExact(staticField));
        } catch (Throwable t) {
            throw never(t);
        }
    }

    static int arrayBase(Class<?> array) {
        try {
            return (int) (long) ARRAY_BASE.invokeExact(array);
        } catch (Throwable t) {
            throw never(t);
        }
    }

    static int arrayScale(Class<?> array) {
        try {
            return (int) ARRAY_SCALE.invokeExact(array);
        } catch (Throwable t) {
            throw never(t);
        }
    }

    /** Copies from native memory into a primitive array; pieces, so that no collection waits long for this thread. */
    static void copyToArray(long from, Object array, long offset, long bytes) {
        final long piece = 1 << 20;
        try {
            for (long done = 0; done < bytes; done += piece) {
                COPY.invokeExact((Object) null, from + done, array, offset + done, Math.min(piece, bytes - done));
            }
        } catch (Throwable t) {
            throw never(t);
        }
    }

    /** Copies from a byte array into native memory. */
    static void copyFromArray(byte[] from, long to) {
        try {
            COPY.invokeExact((Object) from, (long) arrayBase(byte[].class), (Object) null, to, (long) from.length);
        } catch (Throwable t) {
            throw never(t);
        }
    }

    static boolean isInitialized(Class<?> c) {
        try {
            return !(boolean) UNINITIALIZED.invokeExact(c);
        } catch (Throwable t) {
            throw never(t);
        }
    }

    /** All declared fields, those included that {@link Class#getDeclaredFields} hides. */
    static Field[] fieldsOf(Class<?> c) {
        try {
            return (Field[]) FIELDS.invokeExact(c, false);
        } catch (Throwable t) {
            throw never(t);
        }
    }
}

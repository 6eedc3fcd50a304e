package io.skyway.core;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Opens windows: stretches in which no object can move.
 *
 * <p>Until JDK 21 a window is a JNI critical section; since 22 it is a foreign call with {@code critical(true)},
 * because there a JNI critical section no longer holds up G1's collections.
 */
abstract class Windows {
    private final AtomicLong windows = new AtomicLong();
    private final AtomicLong nanos = new AtomicLong();
    private final AtomicLong longest = new AtomicLong();

    static Windows forThisVm(String collector, Path library) {
        if (Runtime.version().feature() >= 22) {
            return new Foreign(library);
        }
        return collector.equals("G1") ? new RationedJni() : new Jni();
    }

    /** Runs one {@link Native} op in a window. {@code array} must be the chunk for LAND, and any {@code long[]} else. */
    final int run(int op, long self, long a, long b, long[] array, Timing timing) {
        before();
        long start = System.nanoTime();
        int r = open(op, self, a, b, array);
        long took = System.nanoTime() - start;
        after();
        timing.add(took);
        return r;
    }

    final void total(Timing t) {
        windows.addAndGet(t.windows);
        nanos.addAndGet(t.nanos);
        longest.accumulateAndGet(t.longest, Math::max);
    }

    final long windows() {
        return windows.get();
    }

    final long nanos() {
        return nanos.get();
    }

    final long longest() {
        return longest.get();
    }

    void before() {}

    void after() {}

    abstract int open(int op, long self, long a, long b, long[] array);

    /** Windows of one transfer; confined to one thread. */
    static final class Timing {
        long windows;
        long nanos;
        long longest;

        void add(long took) {
            windows++;
            nanos += took;
            longest = Math.max(longest, took);
        }
    }

    private static class Jni extends Windows {
        static final int HELD_UP = 1 << 16;

        @Override
        int open(int op, long self, long a, long b, long[] array) {
            return Native.critical(op, self, a, b, array) & ~HELD_UP;
        }
    }

    /**
     * G1 until 21: with critical sections entered back to back, allocating threads of the application get a spurious
     * OutOfMemoryError. One window at a time, and a pause after one that held up a collection, keeps that from
     * happening (measured: docs/architecture.md, "Windows").
     */
    private static final class RationedJni extends Jni {
        private static final long PAUSE_NANOS = 5_000_000;

        private final ReentrantLock one = new ReentrantLock(true);
        private boolean heldUp;

        @Override
        void before() {
            one.lock();
        }

        @Override
        int open(int op, long self, long a, long b, long[] array) {
            int r = Native.critical(op, self, a, b, array);
            heldUp = (r & HELD_UP) != 0;
            return r & ~HELD_UP;
        }

        @Override
        void after() {
            try {
                if (heldUp) {
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
            } finally {
                one.unlock();
            }
        }
    }

    private static final class Foreign extends Windows {
        private static volatile MethodHandle handle;

        Foreign(Path library) {
            if (handle == null) {
                handle = bind(library);
            }
            Call.handle();
        }

        @Override
        int open(int op, long self, long a, long b, long[] array) {
            try {
                return (int) Call.OP.invokeExact(op, self, a, b, array);
            } catch (Throwable t) {
                throw new AssertionError(t);
            }
        }

        /** Initialised after {@link #handle}: a constant for the JIT. */
        private static final class Call {
            static final MethodHandle OP = handle;

            static void handle() {
                if (OP == null) {
                    throw new AssertionError();
                }
            }
        }

        // By reflection, because the library is compiled for 17.
        private static MethodHandle bind(Path library) {
            try {
                Class<?> linkerType = Class.forName("java.lang.foreign.Linker");
                Class<?> optionType = Class.forName("java.lang.foreign.Linker$Option");
                Class<?> segmentType = Class.forName("java.lang.foreign.MemorySegment");
                Class<?> layoutType = Class.forName("java.lang.foreign.MemoryLayout");
                Class<?> valueLayout = Class.forName("java.lang.foreign.ValueLayout");
                Class<?> functionType = Class.forName("java.lang.foreign.FunctionDescriptor");
                Class<?> arenaType = Class.forName("java.lang.foreign.Arena");
                Class<?> lookupType = Class.forName("java.lang.foreign.SymbolLookup");

                Object arena = arenaType.getMethod("global").invoke(null);
                Object lookup = lookupType
                        .getMethod("libraryLookup", Path.class, arenaType)
                        .invoke(null, library, arena);
                Object symbol = ((java.util.Optional<?>)
                                lookupType.getMethod("find", String.class).invoke(lookup, "skyway_op"))
                        .orElseThrow();
                Object jint = valueLayout.getField("JAVA_INT").get(null);
                Object jlong = valueLayout.getField("JAVA_LONG").get(null);
                Object address = valueLayout.getField("ADDRESS").get(null);
                Object layouts = java.lang.reflect.Array.newInstance(layoutType, 5);
                Object[] arguments = {jint, jlong, jlong, jlong, address};
                for (int i = 0; i < arguments.length; i++) {
                    java.lang.reflect.Array.set(layouts, i, arguments[i]);
                }
                Object function = functionType
                        .getMethod("of", layoutType, layouts.getClass())
                        .invoke(null, jint, layouts);
                Object options = java.lang.reflect.Array.newInstance(optionType, 1);
                java.lang.reflect.Array.set(
                        options,
                        0,
                        optionType.getMethod("critical", boolean.class).invoke(null, true));
                Object linker = linkerType.getMethod("nativeLinker").invoke(null);
                Method downcall = linkerType.getMethod("downcallHandle", segmentType, functionType, options.getClass());
                MethodHandle raw = (MethodHandle) downcall.invoke(linker, symbol, function, options);
                MethodHandle ofArray = MethodHandles.lookup()
                        .findStatic(segmentType, "ofArray", MethodType.methodType(segmentType, long[].class));
                return MethodHandles.filterArguments(raw, 4, ofArray);
            } catch (ReflectiveOperationException | RuntimeException e) {
                throw new SkywayException(
                        SkywayException.Kind.ENGINE_REFUSED, "the foreign function interface is not usable: " + e, e);
            }
        }
    }
}

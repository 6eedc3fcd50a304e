package io.skyway.agent.link;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.nio.ByteBuffer;

/** Bytes of a slot, for sockets and for streams. Addresses come from a slot pool, which has checked them. */
final class NativeMemory {
    private static final MethodHandle DIRECT_BUFFER = directBuffer();

    private NativeMemory() {}

    /** A view that is read or written without a copy. It does not keep the memory alive. */
    static ByteBuffer view(long address, int length) {
        try {
            return (ByteBuffer) DIRECT_BUFFER.invokeExact(address, (long) length);
        } catch (Error | RuntimeException e) {
            throw e;
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    /** What JNI's NewDirectByteBuffer calls. The length is an int until JDK 20, a long since. */
    private static MethodHandle directBuffer() {
        try {
            Class<?> type = Class.forName("java.nio.DirectByteBuffer");
            Constructor<?> constructor;
            try {
                constructor = type.getDeclaredConstructor(long.class, long.class);
            } catch (NoSuchMethodException e) {
                constructor = type.getDeclaredConstructor(long.class, int.class);
            }
            constructor.setAccessible(true);
            MethodHandle raw = MethodHandles.lookup().unreflectConstructor(constructor);
            return MethodHandles.explicitCastArguments(
                    raw, MethodType.methodType(ByteBuffer.class, long.class, long.class));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }
}

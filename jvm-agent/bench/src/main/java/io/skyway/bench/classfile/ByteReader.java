package io.skyway.bench.classfile;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Reads big-endian numbers, one after the other. */
final class ByteReader {
    private static final VarHandle SHORTS = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    final byte[] bytes;
    private int position;

    ByteReader(byte[] bytes) {
        this.bytes = bytes;
    }

    int position() {
        return position;
    }

    int u1() throws ClassFileException {
        return bytes[advance(1)] & 0xff;
    }

    int u2() throws ClassFileException {
        return (short) SHORTS.get(bytes, advance(2)) & 0xffff;
    }

    int i4() throws ClassFileException {
        return (int) INTS.get(bytes, advance(4));
    }

    long i8() throws ClassFileException {
        return (long) LONGS.get(bytes, advance(8));
    }

    /** Skips as many bytes as an unsigned number of four bytes says. */
    void skip(int count) throws ClassFileException {
        advance(count);
    }

    private int advance(int count) throws ClassFileException {
        int at = position;
        if (count < 0 || count > bytes.length - at) {
            throw new ClassFileException("class file ends within a value: " + Integer.toUnsignedString(count)
                    + " bytes wanted at offset " + at + " of " + bytes.length);
        }
        position = at + count;
        return at;
    }
}

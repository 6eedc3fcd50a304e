package io.skyway.agent.verify;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Collects values, little-endian, into a SHA-256. */
final class DigestSink {
    private static final VarHandle SHORTS =
            MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int CAPACITY = 1 << 16;

    private final MessageDigest sha;
    private final byte[] buffer = new byte[CAPACITY];
    private int used;

    DigestSink() {
        try {
            sha = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java has no SHA-256, which every Java must have", e);
        }
    }

    void putByte(byte value) {
        buffer[room(Byte.BYTES)] = value;
    }

    void putShort(short value) {
        SHORTS.set(buffer, room(Short.BYTES), value);
    }

    void putInt(int value) {
        INTS.set(buffer, room(Integer.BYTES), value);
    }

    void putLong(long value) {
        LONGS.set(buffer, room(Long.BYTES), value);
    }

    /** Length and characters. */
    void putName(String name) {
        putInt(name.length());
        for (int i = 0; i < name.length(); i++) {
            putShort((short) name.charAt(i));
        }
    }

    /**
     * The elements of a primitive array. Element by element, but for bytes: a copy of raw memory would need the array's
     * layout, and the methods that tell it differ between versions of Java.
     */
    void putElements(Object array) {
        if (array instanceof byte[] bytes) {
            putBytes(bytes);
        } else if (array instanceof char[] chars) {
            for (char value : chars) {
                putShort((short) value);
            }
        } else if (array instanceof int[] ints) {
            for (int value : ints) {
                putInt(value);
            }
        } else if (array instanceof long[] longs) {
            for (long value : longs) {
                putLong(value);
            }
        } else if (array instanceof double[] doubles) {
            for (double value : doubles) {
                putLong(Double.doubleToRawLongBits(value));
            }
        } else if (array instanceof boolean[] booleans) {
            for (boolean value : booleans) {
                putByte((byte) (value ? 1 : 0));
            }
        } else if (array instanceof short[] shorts) {
            for (short value : shorts) {
                putShort(value);
            }
        } else {
            for (float value : (float[]) array) {
                putInt(Float.floatToRawIntBits(value));
            }
        }
    }

    private void putBytes(byte[] bytes) {
        if (bytes.length > CAPACITY) {
            flush();
            sha.update(bytes, 0, bytes.length);
            return;
        }
        System.arraycopy(bytes, 0, buffer, room(bytes.length), bytes.length);
    }

    String finish() {
        flush();
        return HexFormat.of().formatHex(sha.digest());
    }

    private int room(int bytes) {
        if (used + bytes > CAPACITY) {
            flush();
        }
        int at = used;
        used += bytes;
        return at;
    }

    private void flush() {
        sha.update(buffer, 0, used);
        used = 0;
    }
}

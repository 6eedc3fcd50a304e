package io.skyway.core;

import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** An image as bytes that a test can alter: fields by name, lengths and checksum repaired. */
final class RawImage {
    static final int HEADER = 144;
    static final int ATTEMPT = 32;
    static final int KIND = 36;
    static final int SEQUENCE = 40;
    static final int BLOCK_BYTES = 48;
    static final int SEGMENT = 56;
    static final int FLAGS = 64;
    static final int OBJECTS = 68;
    static final int PAYLOAD = 72;
    static final int CROSS = 80;
    static final int LATE = 84;
    static final int TYPES = 88;
    static final int NAMED = 92;
    static final int NAMED_BYTES = 96;
    static final int ARRAY_TYPE = 100;
    static final int ARRAY_LENGTH = 104;
    static final int ARRAY_OFFSET = 112;
    static final int ARRAY_HASH = 120;
    static final int ROOT = 128;
    static final int TOTAL = 136;

    private static final int CHECKSUM = 8;
    private static final int[] CRC = new int[256];

    static {
        for (int i = 0; i < CRC.length; i++) {
            int c = i;
            for (int k = 0; k < 8; k++) {
                c = (c & 1) != 0 ? c >>> 1 ^ 0x82f63b78 : c >>> 1;
            }
            CRC[i] = c;
        }
    }

    final List<byte[]> blocks = new ArrayList<>();

    RawImage() {}

    RawImage(RawImage other) {
        other.blocks.forEach(b -> blocks.add(b.clone()));
    }

    static RawImage write(Engine engine, Object root, int segmentBytes, long id) {
        RawImage image = new RawImage();
        try (SlotPool pool = SlotPool.anonymous(engine, SlotPool.slotBytesFor(segmentBytes), 1 << 12);
                ImageWriter w = engine.newWriter(pool, new WriterOptions(segmentBytes, 0, id))) {
            w.write(root);
            for (Block b = w.take(0); b != null; b = w.take(0)) {
                byte[] bytes = new byte[b.length()];
                Internals.copyToArray(b.address(), bytes, Internals.arrayBase(byte[].class), bytes.length);
                image.blocks.add(bytes);
                pool.release(b.slot());
            }
        }
        return image;
    }

    static ByteBuffer of(byte[] block) {
        return ByteBuffer.wrap(block).order(ByteOrder.LITTLE_ENDIAN);
    }

    int getInt(int block, int at) {
        return of(blocks.get(block)).getInt(at);
    }

    RawImage putInt(int block, int at, int value) {
        of(blocks.get(block)).putInt(at, value);
        return this;
    }

    RawImage putLong(int block, int at, long value) {
        of(blocks.get(block)).putLong(at, value);
        return this;
    }

    /** The first place where these eight bytes are, in the payload of the first block. */
    int find(long word) {
        ByteBuffer b = of(blocks.get(0));
        for (int at = HEADER; at + 8 <= b.capacity(); at += 4) {
            if (b.getLong(at) == word) {
                return at;
            }
        }
        throw new AssertionError("not in the image: " + Long.toHexString(word));
    }

    static void repair(byte[] block) {
        if (block.length >= HEADER && block.length % 8 == 0) {
            ByteBuffer b = of(block);
            b.putLong(BLOCK_BYTES, block.length);
            b.putLong(CHECKSUM, 0);
            b.putLong(CHECKSUM, lanes(b, HEADER, block.length, lanes(b, 0, HEADER, 0x5357)));
        }
    }

    private static long step(long crc, long word) {
        int c = (int) crc;
        long w = word;
        for (int i = 0; i < 8; i++) {
            c = CRC[(c ^ (int) w) & 0xff] ^ c >>> 8;
            w >>>= 8;
        }
        return Integer.toUnsignedLong(c);
    }

    private static long lanes(ByteBuffer in, int from, int to, long seed) {
        long a = seed & 0xffffffffL;
        long b = seed >>> 32;
        long c = 0x9e3779b9L;
        long d = 0x7f4a7c15L;
        int i = from;
        for (; i + 32 <= to; i += 32) {
            a = step(a, in.getLong(i));
            b = step(b, in.getLong(i + 8));
            c = step(c, in.getLong(i + 16));
            d = step(d, in.getLong(i + 24));
        }
        for (; i < to; i += 8) {
            a = step(a, in.getLong(i));
        }
        return step(a, c | b << 32) | step(d, a | (long) ((to - from) / 8) << 32) << 32;
    }

    /** Lands the image, each block from memory of its own; the checksum is repaired first. */
    Object land(Engine engine, ReaderOptions options) {
        try (Memory memory = new Memory(engine);
                ImageReader reader = engine.newReader(options)) {
            for (byte[] b : blocks) {
                repair(b);
                memory.accept(reader, b);
            }
            return reader.finish();
        }
    }

    /** A slot to land blocks from. */
    static final class Memory implements AutoCloseable {
        private static final int BYTES = 1 << 20;
        private static final Method COPY;
        private static final Object UNSAFE;

        static {
            try {
                Class<?> c = Class.forName("jdk.internal.misc.Unsafe");
                UNSAFE = c.getMethod("getUnsafe").invoke(null);
                COPY = c.getMethod("copyMemory", Object.class, long.class, Object.class, long.class, long.class);
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }

        private final SlotPool pool;
        private final long address;

        Memory(Engine engine) {
            pool = SlotPool.anonymous(engine, BYTES, 1);
            address = pool.address(pool.acquire(0), BYTES);
        }

        void accept(ImageReader reader, byte[] block) {
            try {
                COPY.invoke(
                        UNSAFE, block, (long) Internals.arrayBase(byte[].class), null, address, (long) block.length);
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
            reader.accept(address, block.length);
        }

        @Override
        public void close() {
            pool.close();
        }
    }
}

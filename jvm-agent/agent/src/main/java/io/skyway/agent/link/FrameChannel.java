package io.skyway.agent.link;

import io.skyway.core.Block;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/** Frames over one connection. Any thread may write; one thread reads. */
final class FrameChannel implements AutoCloseable {
    /** Acknowledgements, or places of blocks, that go out in one write. */
    static final int MOST_AT_ONCE = 8;

    private static final int READ_AHEAD = 8 << 10;

    private final Wire wire;
    private final int blockLimit;
    private final ReentrantLock writing = new ReentrantLock();
    private final ByteBuffer header = ByteBuffer.allocateDirect((MOST_AT_ONCE + 1) * (FrameHeader.BYTES + 16));
    private final ByteBuffer ahead = ByteBuffer.allocateDirect(READ_AHEAD).limit(0);
    /** When the reading thread began to wait for bytes; 0 while it does not. */
    private volatile long waitingSince;

    /** @param blockLimit most bytes of a BLOCK frame's payload */
    FrameChannel(Wire wire, int blockLimit) {
        this.wire = wire;
        this.blockLimit = blockLimit;
    }

    /** Writes a frame with a small payload. */
    void write(FrameType type, long transfer, byte[] payload) throws IOException {
        writing.lock();
        try {
            writeLocked(type, transfer, ByteBuffer.wrap(payload));
        } finally {
            writing.unlock();
        }
    }

    /**
     * Says that blocks have landed, at most {@link #MOST_AT_ONCE}.
     *
     * @param slots where they lay; -1 when it is no slot of the sender's
     * @param landed blocks of the transfer that have landed, these included
     */
    void writeAcks(long transfer, int[] slots, int count, long landed) throws IOException {
        writing.lock();
        try {
            header.clear();
            for (int i = 0; i < count; i++) {
                FrameHeader.put(header, FrameType.ACK, FrameType.ACK.limit, transfer);
                header.putInt(slots[i]).putLong(landed - (count - 1 - i));
            }
            header.flip();
            wire.write(header);
        } finally {
            writing.unlock();
        }
    }

    /** Writes blocks' places in the shared memory, at most {@link #MOST_AT_ONCE}; after the last one the image's end. */
    void writeSlots(long transfer, List<Block> blocks) throws IOException {
        writing.lock();
        try {
            header.clear();
            for (Block b : blocks) {
                FrameHeader.put(header, FrameType.BLOCK, FrameType.ACK.limit, transfer);
                header.putInt(b.slot()).putLong(b.length());
                if (b.last()) {
                    FrameHeader.put(header, FrameType.END, 0, transfer);
                }
            }
            header.flip();
            wire.write(header);
        } finally {
            writing.unlock();
        }
    }

    /** Writes a block's bytes. */
    void writeBlock(long transfer, ByteBuffer bytes) throws IOException {
        writing.lock();
        try {
            writeLocked(FrameType.BLOCK, transfer, bytes);
        } finally {
            writing.unlock();
        }
    }

    /** Says that this side lives. Not needed, and not waited for, while another frame is being written. */
    void writeAlive(long transfer) throws IOException {
        if (writing.tryLock()) {
            try {
                writeLocked(FrameType.ALIVE, transfer, ByteBuffer.allocate(0));
            } finally {
                writing.unlock();
            }
        }
    }

    private void writeLocked(FrameType type, long transfer, ByteBuffer payload) throws IOException {
        header.clear();
        FrameHeader.put(header, type, payload.remaining(), transfer);
        header.flip();
        if (!payload.hasRemaining()) {
            wire.write(header);
            return;
        }
        wire.write(header, payload);
    }

    /** Waits for the next frame's header. @throws EOFException when the peer is gone */
    FrameHeader next() throws IOException {
        while (ahead.remaining() < FrameHeader.BYTES) {
            ahead.compact();
            try {
                receive(ahead);
            } finally {
                ahead.flip();
            }
        }
        return FrameHeader.read(ahead, blockLimit);
    }

    /** Reads a whole payload; its length has passed {@link FrameHeader#read}. */
    byte[] payload(FrameHeader frame) throws IOException {
        byte[] bytes = new byte[frame.length()];
        fill(ByteBuffer.wrap(bytes));
        return bytes;
    }

    /** Reads bytes of the payload until the buffer is full. */
    void fill(ByteBuffer into) throws IOException {
        int n = Math.min(into.remaining(), ahead.remaining());
        into.put(ahead.slice(ahead.position(), n));
        ahead.position(ahead.position() + n);
        while (into.hasRemaining()) {
            receive(into);
        }
    }

    /** Reads bytes of the payload and drops them. */
    void skip(int length) throws IOException {
        ByteBuffer dropped = ByteBuffer.allocate(Math.min(length, READ_AHEAD));
        for (int left = length; left > 0; left -= dropped.limit()) {
            dropped.clear().limit(Math.min(left, dropped.capacity()));
            fill(dropped);
        }
    }

    private void receive(ByteBuffer into) throws IOException {
        waitingSince = System.nanoTime() | 1;
        int n = wire.read(into);
        waitingSince = 0;
        if (n < 0) {
            throw new EOFException("the connection was closed");
        }
    }

    /**
     * How long nothing has come from the peer although this side is waiting for it.
     *
     * @param begin waiting before this time does not count, in {@link System#nanoTime} units
     * @return nanoseconds
     */
    long silentSince(long begin) {
        long since = waitingSince;
        return since == 0 ? 0 : Math.min(System.nanoTime() - since, System.nanoTime() - begin);
    }

    boolean isOpen() {
        return wire.isOpen();
    }

    /** Ends waiting reads and writes on both sides. */
    @Override
    public void close() {
        wire.close();
    }
}

package io.skyway.agent.link;

import io.skyway.core.SlotPool;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;

/** A baseline serializer's bytes as they arrive. */
final class StreamInput extends InputStream {
    private static final int BUFFER = 64 << 10;

    /** Told when a block is used up. */
    interface Done {
        void accept(Slice slice) throws IOException;
    }

    private final Inbox inbox;
    private final SlotPool pool;
    private final Done done;
    private final byte[] buffer = new byte[BUFFER];
    private int position;
    private int limit;
    private Slice slice;
    private int taken;
    private boolean end;
    private long bytes;

    StreamInput(Inbox inbox, SlotPool pool, Done done) {
        this.inbox = inbox;
        this.pool = pool;
        this.done = done;
    }

    @Override
    public int read() throws IOException {
        return position < limit || fill() ? buffer[position++] & 0xff : -1;
    }

    @Override
    public int read(byte[] to, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, to.length);
        if (length == 0) {
            return 0;
        }
        if (position == limit) {
            // Large reads need no detour through the buffer.
            if (length >= BUFFER) {
                return advance() ? copy(to, offset, length) : -1;
            }
            if (!fill()) {
                return -1;
            }
        }
        int n = Math.min(length, limit - position);
        System.arraycopy(buffer, position, to, offset, n);
        position += n;
        return n;
    }

    @Override
    public int available() {
        return limit - position;
    }

    private boolean fill() throws IOException {
        if (!advance()) {
            return false;
        }
        position = 0;
        limit = copy(buffer, 0, BUFFER);
        return true;
    }

    private int copy(byte[] to, int offset, int length) throws IOException {
        int n = Math.min(length, slice.length() - taken);
        NativeMemory.view(pool.address(slice.slot(), slice.length()) + taken, n).get(to, offset, n);
        taken += n;
        bytes += n;
        if (taken == slice.length()) {
            giveBack();
        }
        return n;
    }

    /** Makes sure that the current block has bytes left. Waits for the sender. */
    private boolean advance() throws IOException {
        while (slice == null && !end) {
            Slice next;
            try {
                next = inbox.take();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted", e);
            }
            if (next == Slice.END) {
                end = true;
            } else {
                slice = next;
                taken = 0;
                if (next.length() == 0) {
                    giveBack();
                }
            }
        }
        return slice != null;
    }

    /** Takes what the serializer left unread, until the sender's end. */
    void drain() throws IOException {
        position = limit;
        while (advance()) {
            bytes += slice.length() - taken;
            giveBack();
        }
    }

    private void giveBack() throws IOException {
        Slice s = slice;
        slice = null;
        done.accept(s);
    }

    /** Gives back the block that is in use. When landing has failed. */
    void abandon() throws IOException {
        if (slice != null) {
            giveBack();
        }
    }

    long bytes() {
        return bytes;
    }
}

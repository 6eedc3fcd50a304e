package io.skyway.core;

import io.skyway.api.internal.Streams;
import java.io.BufferedOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.NotSerializableException;
import java.io.OutputStream;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * The sending side of an object stream.
 *
 * <p>Each root is an image of its own, whose references to objects of earlier ones name them by {@link SentObjects}. An image
 * is complete before the first of its bytes is sent: a graph that is refused leaves nothing in the stream.
 */
final class ObjectSink implements Streams.Sink {
    // Where a block's header says how much of what it has; format.h.
    private static final int HEADER = 144;
    private static final int PAYLOAD_BYTES = 72;
    private static final int CROSS = 80;
    private static final int LATE = 84;
    private static final int TYPE_COUNT = 88;

    private final Engine engine;
    private final OutputStream underlying;
    private final OutputStream out;
    private final SlotPool pool;
    private final ImageWriter writer;
    private final Cleaner.Cleanable memory;
    private final SentObjects sent = new SentObjects();
    private final Set<Integer> told = new HashSet<>();
    private final byte[] buffer = new byte[StreamFormat.DATA_BYTES];
    private final Data data = new Data();
    private TypeIds toldOf;
    private int buffered;
    private long number;
    private long images;
    private boolean closed;
    private IOException broken;

    ObjectSink(Engine engine, OutputStream underlying) throws IOException {
        this.engine = engine;
        this.underlying = underlying;
        this.out = new BufferedOutputStream(new FilterOutputStream(underlying) {
            @Override
            public void write(byte[] b, int off, int len) throws IOException {
                out.write(b, off, len);
            }

            @Override
            public void flush() {
                // That is for the application to ask for.
            }
        });
        int most = StreamFormat.segmentBytes();
        // An image is complete before it is sent.
        this.pool = StreamMemory.forWholeImages(engine, most);
        this.writer = engine.newWriter(pool, new WriterOptions(most, 0, 0));
        this.memory = StreamMemory.of(this, new Free(sent, writer, pool));
        boolean begun = false;
        try {
            out.write(StreamFormat.MAGIC);
            out.write(StreamFormat.VERSION >>> 8);
            out.write(StreamFormat.VERSION);
            record(StreamFormat.LAYOUT, StreamFormat.encode(engine.layout()));
            begun = true;
        } finally {
            if (!begun) {
                free();
            }
        }
    }

    private void usable() throws IOException {
        if (closed) {
            throw new IOException("the stream is closed");
        }
        if (broken != null) {
            throw new IOException("the stream has failed before: " + broken.getMessage(), broken);
        }
    }

    private void record(int kind, byte[] body) throws IOException {
        record(kind, body, body.length);
    }

    private void record(int kind, byte[] body, int length) throws IOException {
        try {
            ByteBuffer header = ByteBuffer.allocate(StreamFormat.RECORD_HEADER)
                    .put((byte) kind)
                    .putInt(length)
                    .putInt(StreamFormat.checksum(number++, kind, body, length));
            out.write(header.array());
            out.write(body, 0, length);
        } catch (IOException e) {
            // Part of a record may be on its way.
            broken = e;
            throw e;
        }
    }

    private void sendData() throws IOException {
        if (buffered != 0) {
            int n = buffered;
            buffered = 0;
            record(StreamFormat.DATA, buffer, n);
        }
    }

    @Override
    public OutputStream data() {
        return data;
    }

    private final class Data extends OutputStream {
        @Override
        public void write(int b) throws IOException {
            usable();
            if (buffered == buffer.length) {
                sendData();
            }
            buffer[buffered++] = (byte) b;
        }

        @Override
        public void write(byte[] b, int off, int len) throws IOException {
            Objects.checkFromIndexSize(off, len, b.length);
            usable();
            for (int done = 0; done < len; ) {
                if (buffered == buffer.length) {
                    sendData();
                }
                int n = Math.min(len - done, buffer.length - buffered);
                System.arraycopy(b, off + done, buffer, buffered, n);
                buffered += n;
                done += n;
            }
        }
    }

    @Override
    public void object(Object root, boolean shared) throws IOException {
        usable();
        if (root == null) {
            sendData();
            record(StreamFormat.NULL, new byte[0]);
            drain();
            return;
        }
        List<Block> blocks = new ArrayList<>();
        long before = images;
        boolean whole = false;
        try {
            int earlier = sent.count();
            List<byte[]> types = write(root, shared, blocks);
            sendData();
            for (byte[] t : types) {
                record(StreamFormat.TYPES, t);
            }
            record(
                    StreamFormat.IMAGE,
                    ByteBuffer.allocate(StreamFormat.IMAGE_BYTES)
                            .putLong(images)
                            .putInt(earlier)
                            .putInt(blocks.size())
                            .array());
            for (Block b : blocks) {
                byte[] body = new byte[b.length()];
                copy(b.address(), body);
                record(StreamFormat.BLOCK, body);
            }
            drain();
            whole = true;
        } catch (SkywayException e) {
            throw as(e);
        } finally {
            if (!whole && images != before && broken == null) {
                // Later roots would refer to objects that the reader never gets.
                broken = new IOException("an image was not sent whole");
            }
            blocks.forEach(b -> pool.release(b.slot()));
            Reference.reachabilityFence(this);
        }
    }

    private List<byte[]> write(Object root, boolean shared, List<Block> blocks) throws IOException {
        // Ids must mean the same from the walk to their description, whatever orchestrator comes meanwhile.
        engine.idsStand().lock();
        try {
            writer.imageId(images + 1);
            writer.continues(sent, shared ? null : root);
            writer.write(root);
            images++;
            for (Block b = writer.take(0); b != null; b = writer.take(0)) {
                blocks.add(b);
            }
            return types(blocks);
        } finally {
            engine.idsStand().unlock();
        }
    }

    /** Records of the types that the stream has not described yet. */
    private List<byte[]> types(List<Block> blocks) throws IOException {
        boolean anew = toldOf != null && toldOf != engine.types.ids();
        toldOf = engine.types.ids();
        if (anew) {
            told.clear();
        }
        Set<Integer> fresh = new HashSet<>();
        byte[] header = new byte[HEADER];
        for (Block b : blocks) {
            copy(b.address(), header);
            ByteBuffer h = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
            int count = h.getInt(TYPE_COUNT);
            long at = HEADER + (h.getLong(PAYLOAD_BYTES) + 7 & ~7L) + 8L * h.getInt(CROSS) + 16L * h.getInt(LATE);
            byte[] ids = new byte[4 * count];
            copy(b.address() + at, ids);
            ByteBuffer list = ByteBuffer.wrap(ids).order(ByteOrder.LITTLE_ENDIAN);
            for (int i = 0; i < count; i++) {
                int id = list.getInt(4 * i);
                if (!told.contains(id)) {
                    fresh.add(id);
                }
            }
        }
        if (fresh.isEmpty() && !anew) {
            return List.of();
        }
        Map<Integer, TypeDescriptor> described = new HashMap<>(engine.types.descriptors(fresh));
        if (described.size() != fresh.size()) {
            throw new SkywayException(SkywayException.Kind.INTERNAL, "a type of the image is not known any more");
        }
        told.addAll(fresh);
        return StreamFormat.encode(described, anew);
    }

    private static void copy(long from, byte[] to) {
        Internals.copyToArray(from, to, Internals.arrayBase(byte[].class), to.length);
    }

    private IOException as(SkywayException e) {
        if (e.kind() == SkywayException.Kind.GRAPH_REFUSED) {
            NotSerializableException n = new NotSerializableException(e.getMessage());
            n.initCause(e);
            return n;
        }
        return new IOException(e.getMessage(), e);
    }

    /** The underlying stream has all of an object after writeObject, as with Java's streams. */
    private void drain() throws IOException {
        try {
            out.flush();
        } catch (IOException e) {
            broken = e;
            throw e;
        }
    }

    @Override
    public void reset() throws IOException {
        usable();
        sendData();
        record(StreamFormat.RESET, new byte[0]);
        sent.clear();
    }

    @Override
    public void flush() throws IOException {
        usable();
        sendData();
        try {
            out.flush();
            underlying.flush();
        } catch (IOException e) {
            broken = e;
            throw e;
        }
    }

    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        try {
            if (broken == null) {
                flush();
            }
        } finally {
            closed = true;
            free();
            underlying.close();
        }
    }

    private void free() {
        memory.clean();
    }

    private record Free(SentObjects sent, ImageWriter writer, SlotPool pool) implements Runnable {
        @Override
        public void run() {
            sent.clear();
            writer.close();
            pool.close();
        }
    }
}

package io.skyway.core;

import io.skyway.api.internal.Streams;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InvalidClassException;
import java.io.InvalidObjectException;
import java.io.StreamCorruptedException;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;

/** The receiving side of an object stream. Reads no byte of the underlying stream that is not its own. */
final class ObjectSource implements Streams.Source {
    private static final int END = -1;

    private final Engine engine;
    private final InputStream in;
    private final ReaderOptions options;
    private final Data data = new Data();
    private final ReceivedObjects received = new ReceivedObjects();
    private final Map<Integer, TypeDescriptor> types = new HashMap<>();
    private final SlotPool pool;
    private final int slot;
    private final Free free;
    private final Cleaner.Cleanable memory;
    private TypeScope scope;
    // The record that was read, and not used yet; 0: none.
    private int kind;
    private byte[] body = new byte[0];
    private int used;
    private long number = -1; // before the header
    private long images;
    private String rejected;
    private boolean closed;
    private Throwable broken;

    ObjectSource(Engine engine, InputStream in, ClassLoader loader, Predicate<String> allowed) {
        this.engine = engine;
        this.in = in;
        Predicate<String> noting = allowed == null
                ? null
                : name -> {
                    boolean ok = allowed.test(name);
                    rejected = ok ? rejected : name;
                    return ok;
                };
        this.options = new ReaderOptions(Engine.loader(new ReaderOptions(loader, null, 0)), noting, 0);
        this.pool = StreamMemory.pool(engine, StreamFormat.segmentBytes(), 1);
        this.slot = pool.acquire(0);
        this.free = new Free(pool);
        this.scope = newScope();
        this.memory = StreamMemory.of(this, free);
    }

    private TypeScope newScope() {
        TypeScope s = new TypeScope(engine.types, options.loader(), new Described());
        free.scope = s.handle();
        return s;
    }

    /** Has the scope's handle only: the scope itself refers to this stream. */
    private static final class Free implements Runnable {
        private final SlotPool pool;
        private volatile long scope;

        Free(SlotPool pool) {
            this.pool = pool;
        }

        @Override
        public void run() {
            Native.freeScope(scope);
            pool.close();
        }
    }

    /** What the stream itself says of its ids. */
    private final class Described implements TypeIds {
        @Override
        public int[] register(List<TypeDescriptor> ignored) {
            throw new UnsupportedOperationException("a stream that is read gives out no ids");
        }

        @Override
        public List<TypeDescriptor> lookup(int[] ids) {
            List<TypeDescriptor> out = new ArrayList<>();
            for (int id : ids) {
                TypeDescriptor d = types.get(id);
                if (d == null) {
                    throw new SkywayException(
                            SkywayException.Kind.BAD_IMAGE, "the stream has not described type id " + id);
                }
                out.add(d);
            }
            return out;
        }
    }

    private void usable() throws IOException {
        if (closed) {
            throw new IOException("the stream is closed");
        }
        if (broken != null) {
            StreamCorruptedException e =
                    new StreamCorruptedException("the stream has failed before: " + broken.getMessage());
            e.initCause(broken);
            throw e;
        }
    }

    /** Kind of the next record that the application can ask for, or END. */
    private int next() throws IOException {
        usable();
        if (kind != 0) {
            return kind;
        }
        Throwable failure = new IOException("reading was cut short");
        try {
            int k;
            do {
                k = fetch();
                if (k == StreamFormat.RESET) {
                    received.clear();
                } else if (k == StreamFormat.TYPES) {
                    describe();
                }
            } while (k == StreamFormat.RESET || k == StreamFormat.TYPES);
            if (k != END && k != StreamFormat.DATA && k != StreamFormat.IMAGE && k != StreamFormat.NULL) {
                throw corrupted("a record of kind " + k + " stands where it does not belong");
            }
            if (k == StreamFormat.DATA && body.length == 0) {
                throw corrupted("a record of data is empty");
            }
            failure = null;
            if (k != END) {
                kind = k;
            }
            return k;
        } catch (IOException | RuntimeException e) {
            // An empty stream may still grow.
            failure = e instanceof EOFException && number < 0 ? null : e;
            throw e;
        } finally {
            if (failure != null) {
                fail(failure);
            }
        }
    }

    private void fail(Throwable why) {
        broken = why;
        received.clear();
    }

    private StreamCorruptedException corrupted(String what) {
        return new StreamCorruptedException(what + " (record " + number + "): the stream was cut or altered");
    }

    /** Reads one record. @return its kind; END where the stream ends before it */
    private int fetch() throws IOException {
        if (number < 0) {
            begin();
        }
        int k = fetchRaw();
        if (k == StreamFormat.LAYOUT) {
            throw corrupted("a second layout");
        }
        return k;
    }

    private int fetchRaw() throws IOException {
        byte[] header = in.readNBytes(StreamFormat.RECORD_HEADER);
        if (header.length == 0) {
            return END;
        }
        if (header.length < StreamFormat.RECORD_HEADER) {
            throw corrupted("the stream ends inside a record's header");
        }
        ByteBuffer h = ByteBuffer.wrap(header);
        int k = h.get();
        int length = h.getInt();
        int checksum = h.getInt();
        int most = StreamFormat.most(k);
        if (most < 0) {
            throw corrupted("no kind of record: " + k);
        }
        if (length < 0 || length > most) {
            throw corrupted(
                    "a record of kind " + k + " says that it has " + length + " bytes, of " + most + " at most");
        }
        // Allocates as bytes come, not from what the header says.
        byte[] b = in.readNBytes(length);
        if (b.length < length) {
            throw corrupted("the stream ends inside a record");
        }
        if (StreamFormat.checksum(number, k, b, length) != checksum) {
            throw corrupted("a record's checksum is wrong");
        }
        number++;
        body = b;
        used = 0;
        return k;
    }

    private void begin() throws IOException {
        byte[] start = in.readNBytes(StreamFormat.MAGIC.length + 2);
        if (start.length == 0) {
            throw new EOFException("the stream is empty");
        }
        int n = StreamFormat.MAGIC.length;
        number = 0;
        if (start.length < n + 2 || !Arrays.equals(start, 0, n, StreamFormat.MAGIC, 0, n)) {
            throw corrupted("these bytes are no Skyway stream");
        }
        int version = (start[n] & 0xff) << 8 | start[n + 1] & 0xff;
        if (version != StreamFormat.VERSION) {
            throw new StreamCorruptedException(
                    "the stream has version " + version + " of the format, this Skyway reads " + StreamFormat.VERSION
                            + ": use the same Skyway on both sides");
        }
        if (fetchRaw() != StreamFormat.LAYOUT) {
            throw corrupted("the stream does not begin with a layout");
        }
        Layout theirs;
        try {
            theirs = StreamFormat.layout(body);
        } catch (IOException e) {
            throw corrupted("a layout cannot be read");
        }
        if (!theirs.fingerprint().equals(engine.layout().fingerprint())) {
            throw new StreamCorruptedException("the stream was written by a JVM with another object layout ("
                    + String.join("; ", engine.layout().differences(theirs))
                    + "): run both with the same Java release and the same flags");
        }
    }

    private void describe() throws IOException {
        Map<Integer, TypeDescriptor> more;
        if (body.length == 0) {
            throw corrupted("a record of types is empty");
        }
        try {
            more = StreamFormat.types(body);
        } catch (IOException e) {
            throw corrupted("a record of types cannot be read");
        }
        if (body[0] != 0) {
            // The sender's ids are another orchestrator's now.
            types.clear();
            scope.free();
            scope = newScope();
        }
        for (Map.Entry<Integer, TypeDescriptor> e : more.entrySet()) {
            if (types.put(e.getKey(), e.getValue()) != null) {
                throw corrupted("type id " + e.getKey() + " is described twice");
            }
        }
    }

    @Override
    public InputStream data() {
        return data;
    }

    private int dataLeft() throws IOException {
        return next() == StreamFormat.DATA ? body.length - used : 0;
    }

    private final class Data extends InputStream {
        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] b, int off, int len) throws IOException {
            Objects.checkFromIndexSize(off, len, b.length);
            if (len == 0) {
                return 0;
            }
            int n = Math.min(dataLeft(), len);
            if (n == 0) {
                return -1;
            }
            System.arraycopy(body, used, b, off, n);
            used += n;
            if (used == body.length) {
                kind = 0;
            }
            return n;
        }

        @Override
        public int available() throws IOException {
            usable();
            return kind == StreamFormat.DATA ? body.length - used : 0;
        }
    }

    @Override
    public Object object(boolean shared) throws IOException, ClassNotFoundException {
        switch (next()) {
            case END:
                throw new EOFException("the stream has no more objects");
            case StreamFormat.DATA:
                throw new StreamCorruptedException("primitive data come next (" + (body.length - used)
                        + " bytes or more), and no object: read in the order in which it was written");
            case StreamFormat.NULL:
                kind = 0;
                return null;
            default:
        }
        kind = 0;
        Throwable failure = new IOException("reading was cut short");
        try {
            Object root = image(shared);
            failure = null;
            return root;
        } catch (SkywayException e) {
            failure = e;
            throw as(e);
        } catch (IOException | RuntimeException e) {
            failure = e;
            throw e;
        } finally {
            if (failure != null) {
                fail(failure);
            }
            Reference.reachabilityFence(this);
        }
    }

    private Object image(boolean shared) throws IOException {
        if (body.length != StreamFormat.IMAGE_BYTES) {
            throw corrupted("an image's record is too short");
        }
        ByteBuffer b = ByteBuffer.wrap(body);
        long id = b.getLong();
        int earlier = b.getInt();
        int blocks = b.getInt();
        if (id != ++images || earlier != received.count || blocks <= 0) {
            throw corrupted("an image does not continue the ones before it");
        }
        Object root;
        try (ImageReader reader =
                new ImageReader(engine, new ReaderOptions(options.loader(), options.allowed(), id), scope, received)) {
            for (int i = 0; i < blocks; i++) {
                if (fetch() != StreamFormat.BLOCK) {
                    throw corrupted("an image ends after " + i + " of " + blocks + " blocks");
                }
                long address = pool.address(slot, body.length);
                Internals.copyFromArray(body, address);
                reader.accept(address, body.length);
            }
            root = reader.finish();
        }
        if (!shared) {
            if (received.contains(root, earlier)) {
                throw new InvalidObjectException("the object was read before, so it cannot be read as an unshared one");
            }
            received.forget(root);
        }
        return root;
    }

    /** In the words of object streams. */
    private Exception translated(SkywayException e) {
        String what = e.getMessage();
        return switch (e.kind()) {
            case CLASS_MISSING ->
                e.getCause() == null ? new InvalidObjectException(what) : new ClassNotFoundException(what, e);
            case LAYOUT_MISMATCH -> new InvalidClassException(what);
            case BAD_IMAGE ->
                rejected != null
                        ? new InvalidClassException(rejected, "it is not on the reader's allow-list")
                        : new StreamCorruptedException(what);
            default -> new IOException(what);
        };
    }

    private IOException as(SkywayException e) throws ClassNotFoundException {
        Exception t = translated(e);
        if (t instanceof ClassNotFoundException c) {
            throw c;
        }
        if (t.getCause() == null) {
            t.initCause(e);
        }
        return (IOException) t;
    }

    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        received.clear();
        memory.clean();
        in.close();
    }
}

package io.skyway.core;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.skyway.api.SkywayObjectInputStream;
import io.skyway.api.SkywayObjectOutputStream;
import io.skyway.api.internal.Streams;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InvalidClassException;
import java.io.InvalidObjectException;
import java.io.NotActiveException;
import java.io.NotSerializableException;
import java.io.OutputStream;
import java.io.Serializable;
import java.io.StreamCorruptedException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Object streams in one JVM. */
class ObjectStreamsTest {
    private static Engine engine;

    static final class Node {
        int id;
        Object a;
        Object b;

        Node(int id) {
            this.id = id;
        }
    }

    interface Writes {
        void to(SkywayObjectOutputStream out) throws IOException;
    }

    @BeforeAll
    static void start() throws Exception {
        engine = TestEngine.get();
        Streams.use(new ObjectStreams(engine));
    }

    private static byte[] written(Writes writes) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (SkywayObjectOutputStream out = new SkywayObjectOutputStream(bytes)) {
            writes.to(out);
        }
        return bytes.toByteArray();
    }

    private static SkywayObjectInputStream reading(byte[] stream) throws IOException {
        return new SkywayObjectInputStream(new ByteArrayInputStream(stream));
    }

    @Test
    void rootsShareWhatTheyShared() throws Exception {
        Node common = new Node(1);
        byte[] large = new byte[300_000];
        Object[] many = new Object[20_000];
        Arrays.fill(many, common);
        Node first = new Node(2);
        first.a = common;
        first.b = many;
        Node second = new Node(3);
        second.a = new Object[] {common, first, large};
        second.b = many;
        byte[] stream = written(out -> {
            out.writeObject(first);
            System.gc();
            out.writeObject(large);
            System.gc();
            out.writeObject(second);
            out.writeObject(common);
            out.writeObject(second);
        });
        try (SkywayObjectInputStream in = reading(stream)) {
            Node f = (Node) in.readObject();
            System.gc();
            byte[] l = (byte[]) in.readObject();
            Node s = (Node) in.readObject();
            System.gc();
            assertEquals(2, f.id);
            assertNotSame(first, f);
            assertNotSame(common, f.a);
            assertArrayEquals(new Object[] {f.a, f, l}, (Object[]) s.a);
            assertSame(f.a, ((Object[]) s.a)[0]);
            assertSame(f, ((Object[]) s.a)[1]);
            assertSame(l, ((Object[]) s.a)[2]);
            assertSame(f.b, s.b);
            assertSame(f.a, ((Object[]) s.b)[19_999]);
            assertSame(f.a, in.readObject());
            assertSame(s, in.readObject());
            assertThrows(EOFException.class, in::readObject);
            assertThrows(EOFException.class, in::readInt);
        }
    }

    /** Graphs that refer to each other at random, with collections in between; compared in plain Java. */
    @Test
    void randomRoots() throws Exception {
        long seed = new Random().nextLong();
        Random r = new Random(seed);
        List<Object> pool = new ArrayList<>();
        List<Object> roots = new ArrayList<>();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (SkywayObjectOutputStream out = new SkywayObjectOutputStream(bytes)) {
            for (int round = 0; round < 20; round++) {
                int n = 1 + r.nextInt(round % 10 == 0 ? 10_000 : 300);
                int from = pool.size();
                for (int i = 0; i < n; i++) {
                    int kind = r.nextInt(100);
                    pool.add(
                            kind < 60
                                    ? new Node(r.nextInt())
                                    : kind < 98
                                            ? new Object[r.nextInt(6)]
                                            : kind < 99 ? new byte[r.nextInt(60_000)] : new Object[r.nextInt(9_000)]);
                }
                for (Object o : pool.subList(from, pool.size())) {
                    if (o instanceof Node x) {
                        x.a = pool.get(r.nextInt(pool.size()));
                        x.b = pool.get(r.nextInt(pool.size()));
                    } else if (o instanceof Object[] a) {
                        for (int k = 0; k < a.length; k++) {
                            a[k] = r.nextInt(3) == 0 ? null : pool.get(r.nextInt(pool.size()));
                        }
                    }
                }
                Object root = pool.get(pool.size() - 1 - r.nextInt(n));
                roots.add(root);
                out.writeObject(root);
                if (round % 7 == 3) {
                    System.gc();
                }
            }
        }
        IdentityHashMap<Object, Object> met = new IdentityHashMap<>();
        List<Object> copies = new ArrayList<>();
        try (SkywayObjectInputStream in = reading(bytes.toByteArray())) {
            for (int i = 0; i < roots.size(); i++) {
                copies.add(in.readObject());
                if (i % 11 == 5) {
                    System.gc();
                }
            }
        }
        System.gc();
        for (int i = 0; i < roots.size(); i++) {
            assertTrue(isomorphic(roots.get(i), copies.get(i), met), "seed " + seed + ", root " + i);
        }
    }

    /** Objects move between a walk and the noting of what it sent, and between roots. */
    @Test
    void collectionsAtAnyMoment() throws Exception {
        AtomicBoolean done = new AtomicBoolean();
        // As long a pause as a collection took: on two busy cores the walk would get no turn otherwise.
        Thread collects = new Thread(() -> {
            while (!done.get()) {
                long began = System.nanoTime();
                System.gc();
                LockSupport.parkNanos(System.nanoTime() - began);
            }
        });
        Node[] nodes = new Node[70_000];
        for (int i = 0; i < nodes.length; i++) {
            nodes[i] = new Node(i);
            nodes[i].a = i == 0 ? null : nodes[i - 1];
            nodes[i].b = nodes[i / 2];
        }
        byte[] stream;
        collects.start();
        try {
            stream = written(out -> {
                out.writeObject(nodes[66_000]);
                out.writeObject(nodes);
            });
        } finally {
            done.set(true);
            collects.join(30_000);
        }
        try (SkywayObjectInputStream in = reading(stream)) {
            List<Node> roots = List.of((Node) in.readObject());
            Node[] all = (Node[]) in.readObject();
            for (int i = 0; i < nodes.length; i++) {
                assertEquals(i, all[i].id);
                assertSame(i == 0 ? null : all[i - 1], all[i].a);
                assertSame(all[i / 2], all[i].b);
            }
            for (Node n : roots) {
                assertSame(all[n.id], n);
            }
        }
    }

    /** As when another orchestrator attaches: the same numbers stand for other classes from then on. */
    @Test
    void idsChangeInTheMiddle() throws Exception {
        Node first = new Node(1);
        byte[] stream = written(out -> {
            out.writeObject(new Object[] {first, "text", List.of(first)});
            LocalTypeIds other = new LocalTypeIds();
            other.register(List.of(
                    new TypeDescriptor("first", TypeDescriptor.Kind.INSTANCE, 16, 0, 0, List.of(), "", new byte[32])));
            engine.useTypes(other);
            out.writeObject(new Object[] {first, new Node(2), "more", new int[3], List.of(first, first)});
        });
        try (SkywayObjectInputStream in = reading(stream)) {
            Object[] a = (Object[]) in.readObject();
            Object[] b = (Object[]) in.readObject();
            assertSame(a[0], b[0]);
            assertEquals(2, ((Node) b[1]).id);
            assertEquals("more", b[2]);
            assertEquals(List.of(b[0], b[0]), b[4]);
        }
    }

    private static boolean isomorphic(Object x, Object y, IdentityHashMap<Object, Object> met) {
        ArrayList<Object[]> open = new ArrayList<>();
        open.add(new Object[] {x, y});
        while (!open.isEmpty()) {
            Object[] pair = open.remove(open.size() - 1);
            Object p = pair[0];
            Object q = pair[1];
            if (p == null || q == null) {
                if (p != q) {
                    return false;
                }
                continue;
            }
            if (met.containsKey(p)) {
                if (met.get(p) != q) {
                    return false;
                }
                continue;
            }
            met.put(p, q);
            if (p == q || p.getClass() != q.getClass()) {
                return false;
            }
            if (p instanceof Node n) {
                Node m = (Node) q;
                if (n.id != m.id) {
                    return false;
                }
                open.add(new Object[] {n.a, m.a});
                open.add(new Object[] {n.b, m.b});
            } else if (p instanceof byte[] n) {
                if (!Arrays.equals(n, (byte[]) q)) {
                    return false;
                }
            } else {
                Object[] n = (Object[]) p;
                Object[] m = (Object[]) q;
                if (n.length != m.length) {
                    return false;
                }
                for (int i = 0; i < n.length; i++) {
                    open.add(new Object[] {n[i], m[i]});
                }
            }
        }
        return true;
    }

    @Test
    void whatWasWrittenFirstStays() throws Exception {
        Node n = new Node(1);
        byte[] stream = written(out -> {
            out.writeObject(n);
            n.id = 2;
            n.a = new Node(3);
            out.writeObject(n);
            out.writeObject(n.a);
            out.reset();
            out.writeObject(n);
            out.shuffleStart();
            out.writeObject(n);
        });
        try (SkywayObjectInputStream in = reading(stream)) {
            Node first = (Node) in.readObject();
            assertEquals(1, first.id);
            assertSame(first, in.readObject());
            assertNull(first.a);
            Node inner = (Node) in.readObject();
            Node again = (Node) in.readObject();
            assertNotSame(first, again);
            assertEquals(2, again.id);
            assertNotSame(inner, again.a);
            assertEquals(3, ((Node) again.a).id);
            assertNotSame(again, in.readObject());
        }
    }

    @Test
    void unsharedObjectsAreSentAnew() throws Exception {
        Node inner = new Node(1);
        Node n = new Node(2);
        n.a = inner;
        n.b = n;
        byte[] stream = written(out -> {
            out.writeObject(n);
            out.writeUnshared(n);
            out.writeObject(n);
            Node other = new Node(4);
            out.writeUnshared(other);
            out.writeObject(other);
            out.writeObject(inner);
        });
        try (SkywayObjectInputStream in = reading(stream)) {
            Node shared = (Node) in.readObject();
            Node unshared = (Node) in.readUnshared();
            assertNotSame(shared, unshared);
            assertSame(unshared, unshared.b);
            assertSame(shared.a, unshared.a);
            assertSame(shared, in.readObject());
            assertNotSame(in.readObject(), in.readObject());
            assertThrows(InvalidObjectException.class, in::readUnshared);
            assertThrows(StreamCorruptedException.class, in::readObject);
        }
    }

    @Test
    void primitivesAndObjectsInterleave() throws Exception {
        byte[] bulk = new byte[100_000];
        new Random(7).nextBytes(bulk);
        byte[] stream = written(out -> {
            out.writeBoolean(true);
            out.writeByte(-1);
            out.writeShort(-2);
            out.writeChar('\u20ac');
            out.writeInt(Integer.MIN_VALUE);
            out.writeObject("between");
            out.writeLong(Long.MAX_VALUE);
            out.writeFloat(1.5f);
            out.writeDouble(-0.0);
            out.writeUTF("text \u00e9");
            out.write(bulk);
            out.write(bulk, 10, 20);
            out.write(255);
            out.writeBytes("by");
            out.writeChars("ch");
            out.writeObject(null);
            out.writeObject(List.of(1, 2));
            out.writeInt(5);
        });
        try (SkywayObjectInputStream in = reading(stream)) {
            assertThrows(StreamCorruptedException.class, in::readObject);
            assertTrue(in.readBoolean());
            assertEquals(-1, in.readByte());
            assertEquals(-2, in.readShort());
            assertEquals('\u20ac', in.readChar());
            assertEquals(Integer.MIN_VALUE, in.readInt());
            assertThrows(EOFException.class, in::readInt);
            assertEquals(-1, in.read());
            assertEquals("between", in.readObject());
            assertEquals(Long.MAX_VALUE, in.readLong());
            assertEquals(1.5f, in.readFloat());
            assertEquals(Double.doubleToLongBits(-0.0), Double.doubleToLongBits(in.readDouble()));
            assertEquals("text \u00e9", in.readUTF());
            byte[] got = new byte[bulk.length];
            in.readFully(got);
            assertArrayEquals(bulk, got);
            assertEquals(20, in.skipBytes(20));
            assertEquals(255, in.readUnsignedByte());
            assertEquals('b', in.read());
            assertEquals('y', in.read());
            assertEquals('c', in.readChar());
            assertEquals('h', in.readChar());
            assertNull(in.readObject());
            assertEquals(List.of(1, 2), in.readObject());
            assertEquals(5, in.readInt());
            assertEquals(-1, in.read());
            assertThrows(EOFException.class, in::readObject);
            assertThrows(NotActiveException.class, in::defaultReadObject);
            assertThrows(NotActiveException.class, in::readFields);
        }
        written(out -> {
            assertThrows(NotActiveException.class, out::defaultWriteObject);
            assertThrows(NotActiveException.class, out::putFields);
            assertThrows(NotActiveException.class, out::writeFields);
        });
    }

    @Test
    void identitiesTablesAndStandIns() throws Exception {
        Node key = new Node(1);
        Pattern pattern = Pattern.compile("a+b");
        Callable<Integer> lambda = (Callable<Integer> & Serializable) () -> 42;
        byte[] stream = written(out -> {
            // Its hash is computed only after it was sent.
            out.writeObject(new Object[] {key, pattern, lambda, TimeUnit.DAYS});
            Map<Object, String> m = new HashMap<>();
            m.put(key, "key");
            m.put(TimeUnit.DAYS, "days");
            out.writeObject(m);
            out.writeObject(new IdentityHashMap<>(Map.of(key, "found")));
            System.gc();
            out.writeObject(new Object[] {lambda, pattern, key});
            out.writeObject(TimeUnit.DAYS);
            out.writeObject(pattern);
        });
        try (SkywayObjectInputStream in = reading(stream)) {
            Object[] f = (Object[]) in.readObject();
            assertSame(TimeUnit.DAYS, f[3]);
            assertTrue(((Pattern) f[1]).matcher("aab").matches());
            assertEquals(42, ((Callable<?>) f[2]).call());
            Map<?, ?> m = (Map<?, ?>) in.readObject();
            assertEquals("key", m.get(f[0]));
            assertEquals("days", m.get(TimeUnit.DAYS));
            assertEquals("found", ((Map<?, ?>) in.readObject()).get(f[0]));
            Object[] again = (Object[]) in.readObject();
            assertSame(f[2], again[0]);
            assertSame(f[1], again[1]);
            assertSame(f[0], again[2]);
            assertSame(TimeUnit.DAYS, in.readObject());
            assertSame(f[1], in.readObject());
        }
    }

    @Test
    void aRefusedGraphLeavesNothing() throws Exception {
        Node ok = new Node(1);
        byte[] stream = written(out -> {
            out.writeObject(ok);
            NotSerializableException e = assertThrows(
                    NotSerializableException.class,
                    () -> out.writeObject(new Object[] {new Node(8), Thread.currentThread()}));
            assertTrue(e.getMessage().contains("root[1]"), e.getMessage());
            out.writeObject(new Object[] {ok, new Node(2)});
        });
        try (SkywayObjectInputStream in = reading(stream)) {
            Object first = in.readObject();
            Object[] second = (Object[]) in.readObject();
            assertSame(first, second[0]);
            assertEquals(2, ((Node) second[1]).id);
            assertThrows(EOFException.class, in::readObject);
        }
    }

    @Test
    void filesAndSockets(@TempDir Path folder) throws Exception {
        Node n = new Node(9);
        n.a = "x".repeat(1000);
        Path file = folder.resolve("stream");
        try (SkywayObjectOutputStream out = new SkywayObjectOutputStream(Files.newOutputStream(file))) {
            out.writeObject(n);
        }
        try (SkywayObjectInputStream in = new SkywayObjectInputStream(Files.newInputStream(file))) {
            assertEquals(n.a, ((Node) in.readObject()).a);
        }
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            FutureTask<Integer> echo = new FutureTask<>(() -> {
                int roots = 0;
                try (Socket s = server.accept();
                        SkywayObjectOutputStream out = new SkywayObjectOutputStream(s.getOutputStream());
                        SkywayObjectInputStream in = new SkywayObjectInputStream(s.getInputStream())) {
                    for (Object o = in.readObject(); o != null; o = in.readObject()) {
                        out.writeObject(o);
                        out.flush();
                        roots++;
                    }
                }
                return roots;
            });
            new Thread(echo).start();
            try (Socket s = new Socket(server.getInetAddress(), server.getLocalPort());
                    SkywayObjectOutputStream out = new SkywayObjectOutputStream(s.getOutputStream());
                    SkywayObjectInputStream in = new SkywayObjectInputStream(s.getInputStream())) {
                Object before = null;
                for (int i = 0; i < 20; i++) {
                    Node sent = new Node(i);
                    sent.a = n;
                    out.writeObject(sent);
                    out.flush();
                    Node back = (Node) in.readObject();
                    assertEquals(i, back.id);
                    assertTrue(i == 0 || back.a == before);
                    before = back.a;
                }
                out.writeObject(null);
                out.flush();
                assertEquals(20, echo.get(50, TimeUnit.SECONDS));
            }
        }
    }

    /** Nothing behind a stream's own bytes is taken from the underlying stream. */
    @Test
    void readsNoByteTooMany() throws Exception {
        byte[] stream = written(out -> out.writeObject(new Node(1)));
        byte[] longer = Arrays.copyOf(stream, stream.length + 4);
        ByteArrayInputStream in = new ByteArrayInputStream(longer);
        assertEquals(1, ((Node) new SkywayObjectInputStream(in).readObject()).id);
        assertEquals(4, in.available());
    }

    @Test
    void everyCutEndsInAnException() throws Exception {
        byte[] stream = sample();
        for (int n = 0; n < stream.length; n += n < 400 || n > stream.length - 400 ? 1 : 37) {
            byte[] cut = Arrays.copyOf(stream, n);
            IOException e = assertThrows(IOException.class, () -> drain(cut), "cut at " + n);
            assertTrue(e instanceof EOFException || e instanceof StreamCorruptedException, e.toString());
        }
        drain(stream);
    }

    @Test
    void everyAlterationEndsInAnException() throws Exception {
        byte[] stream = sample();
        Random r = new Random(11);
        for (int n = 0; n < stream.length; n += n < 600 ? 1 : 29) {
            byte[] altered = stream.clone();
            altered[n] ^= (byte) (1 << r.nextInt(8));
            IOException e = assertThrows(IOException.class, () -> drain(altered), "altered at " + n);
            assertTrue(e instanceof StreamCorruptedException, e.toString());
        }
        System.gc();
        drain(stream);
    }

    private static byte[] sample() throws IOException {
        return written(out -> {
            Node n = new Node(1);
            n.a = List.of("a", TimeUnit.HOURS);
            out.writeObject(n);
            out.writeInt(77);
            out.writeObject(new Object[] {n, new byte[3000], null});
            out.writeObject(n);
        });
    }

    private static void drain(byte[] stream) throws Exception {
        try (SkywayObjectInputStream in = reading(stream)) {
            Object n = in.readObject();
            assertEquals(77, in.readInt());
            assertSame(n, ((Object[]) in.readObject())[0]);
            assertSame(n, in.readObject());
        }
    }

    /** Records that each are whole, but not where they were written. */
    @Test
    void recordsCannotBeMoved() throws Exception {
        byte[] stream = written(out -> {
            out.writeObject(null);
            out.writeInt(1);
            out.flush();
            out.writeObject(null);
        });
        int record = StreamFormat.RECORD_HEADER;
        byte[] without = new byte[stream.length - record - 4];
        // Without the data: the last two records are the data and the null.
        int at = stream.length - 2 * record - 4;
        System.arraycopy(stream, 0, without, 0, at);
        System.arraycopy(stream, stream.length - record, without, at, record);
        try (SkywayObjectInputStream in = reading(without)) {
            assertNull(in.readObject());
            StreamCorruptedException e = assertThrows(StreamCorruptedException.class, in::readObject);
            assertTrue(e.getMessage().contains("checksum"), e.getMessage());
            StreamCorruptedException later = assertThrows(StreamCorruptedException.class, in::readInt);
            assertTrue(later.getMessage().contains("has failed before"), later.getMessage());
        }
    }

    @Test
    void anotherLayoutIsRefusedByName() throws Exception {
        byte[] stream = written(out -> out.writeInt(1));
        Map<String, String> entries = new HashMap<>(engine.layout().entries());
        entries.put("identity hash at bit", "77");
        byte[] body = StreamFormat.encode(new Layout("0123456789abcdef", entries, 0));
        ByteArrayOutputStream other = new ByteArrayOutputStream();
        other.write(stream, 0, 10);
        other.write(StreamFormat.LAYOUT);
        for (int v : new int[] {body.length, StreamFormat.checksum(0, StreamFormat.LAYOUT, body, body.length)}) {
            other.write(new byte[] {(byte) (v >>> 24), (byte) (v >>> 16), (byte) (v >>> 8), (byte) v});
        }
        other.write(body);
        try (SkywayObjectInputStream in = reading(other.toByteArray())) {
            StreamCorruptedException e = assertThrows(StreamCorruptedException.class, in::readInt);
            assertTrue(e.getMessage().contains("identity hash at bit"), e.getMessage());
            assertTrue(e.getMessage().contains("77"), e.getMessage());
        }
    }

    @Test
    void classesAreFoundByTheReadersRules() throws Exception {
        byte[] stream = written(out -> out.writeObject(new Object[] {new Node(1)}));
        try (SkywayObjectInputStream in =
                new SkywayObjectInputStream(new ByteArrayInputStream(stream), ClassLoader.getPlatformClassLoader())) {
            ClassNotFoundException e = assertThrows(ClassNotFoundException.class, in::readObject);
            assertTrue(e.getMessage().contains(Node.class.getName()), e.getMessage());
            assertThrows(StreamCorruptedException.class, in::readObject);
        }
        try (SkywayObjectInputStream in =
                new SkywayObjectInputStream(new ByteArrayInputStream(stream), null, name -> !name.contains("Node"))) {
            InvalidClassException e = assertThrows(InvalidClassException.class, in::readObject);
            assertEquals(Node.class.getName(), e.classname);
        }
        try (SkywayObjectInputStream in = new SkywayObjectInputStream(
                new ByteArrayInputStream(stream), getClass().getClassLoader(), name -> true)) {
            assertNotNull(in.readObject());
        }
    }

    @Test
    void aFailedUnderlyingStreamEndsIt() throws Exception {
        OutputStream full = new OutputStream() {
            private int room = 3000;

            @Override
            public void write(int b) throws IOException {
                if (room-- == 0) {
                    throw new IOException("the disk is full");
                }
            }
        };
        SkywayObjectOutputStream out = new SkywayObjectOutputStream(full);
        assertEquals(
                "the disk is full",
                assertThrows(IOException.class, () -> out.writeObject(new byte[20_000]))
                        .getMessage());
        IOException later = assertThrows(IOException.class, () -> out.writeInt(1));
        assertTrue(later.getMessage().contains("has failed before"), later.getMessage());
        out.close();
        assertTrue(assertThrows(IOException.class, () -> out.writeInt(1))
                .getMessage()
                .contains("closed"));
    }

    @Test
    void nativeMemoryGoesBack() throws Exception {
        long before = engine.statistics().nativeBytes();
        byte[] stream = written(out -> {
            for (int i = 0; i < 50; i++) {
                out.writeObject(new Object[] {new Node(i), new byte[100_000]});
            }
        });
        try (SkywayObjectInputStream in = reading(stream)) {
            for (int i = 0; i < 50; i++) {
                assertFalse(((Object[]) in.readObject()).length == 0);
            }
        }
        assertEquals(before, engine.statistics().nativeBytes());
    }
}

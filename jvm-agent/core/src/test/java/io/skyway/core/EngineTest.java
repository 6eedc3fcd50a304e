package io.skyway.core;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Copies in one JVM, by way of images: what arrives is asked to work. */
class EngineTest {
    private static Engine engine;

    enum Color {
        RED,
        GREEN {
            @Override
            String shout() {
                return "GREEN!";
            }
        };

        String shout() {
            return name();
        }
    }

    static final class Node {
        final int id;
        Node next;
        Object any;
        Runnable typed;

        Node(int id) {
            this.id = id;
        }
    }

    record Point(int x, long y, String name, Color color) {}

    @BeforeAll
    static void start() throws Exception {
        engine = TestEngine.get();
    }

    @SuppressWarnings("unchecked")
    private static <T> T copy(T graph) {
        Object c = engine.copy(graph);
        System.gc();
        return (T) c;
    }

    @Test
    void collectionsWork() {
        Map<String, List<Integer>> m = new HashMap<>();
        for (int i = 0; i < 1000; i++) {
            m.put("key " + i, new LinkedList<>(List.of(i, i * 1000)));
        }
        Map<String, List<Integer>> c = copy(m);
        assertEquals(m, c);
        assertNotSame(m, c);
        c.put("new", List.of());
        c.get("key 7").add(8);
        assertEquals(1001, c.size());
        assertEquals(1000, m.size());
        TreeMap<Long, long[]> t = new TreeMap<>(Collections.reverseOrder());
        for (long i = 0; i < 100; i++) {
            t.put(i, new long[] {i});
        }
        TreeMap<Long, long[]> tc = copy(t);
        tc.put(1000L, new long[] {1});
        assertEquals(1000L, tc.firstKey());
        assertSame(t.comparator(), tc.comparator());
    }

    @Test
    void fixedIdentities() {
        Object[] a = {
            Color.RED,
            Color.GREEN,
            TimeUnit.DAYS,
            String.class,
            int.class,
            int[][].class,
            Optional.empty(),
            Collections.emptyList(),
            String.CASE_INSENSITIVE_ORDER,
            Boolean.TRUE,
            Integer.valueOf(7),
            Long.valueOf(-128),
            Character.valueOf('x'),
            Collections.reverseOrder()
        };
        Object[] c = copy(a);
        for (int i = 0; i < a.length; i++) {
            assertSame(a[i], c[i], "element " + i);
        }
        assertEquals("GREEN!", ((Color) c[1]).shout());
        assertEquals(List.of(1), copy(List.of(1)));
        assertEquals(1, copy(List.of(1)).size());
        assertSame(Color.RED, copy(Color.RED));
        List<Object> grown = copy(new ArrayList<>());
        grown.add("x");
        assertEquals(List.of("x"), grown);
    }

    /** Also beyond the objects of a small graph, which are looked up in another way. */
    @Test
    void boxesThatAreCachedAreNamedAndOthersCopied() {
        List<Object> boxes = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            boxes.add(new Node(i));
        }
        for (int round = 0; round < 2; round++) {
            for (long v = -200; v <= 200; v++) {
                boxes.addAll(List.of((int) v, v, (short) v, (char) Math.abs(v), (byte) v));
            }
            for (long v : new long[] {Long.MIN_VALUE, Long.MAX_VALUE, 1L << 32, -1L << 32, (1L << 32) + 5}) {
                boxes.addAll(List.of(v, (int) (v >> 32), Integer.MIN_VALUE, Integer.MAX_VALUE));
            }
        }
        Object[] c = copy(boxes.toArray());
        for (int i = 1_000; i < c.length; i++) {
            Object box = boxes.get(i);
            assertEquals(box, c[i]);
            assertEquals(isCached(box), box == c[i], box.getClass() + " " + box);
        }
    }

    /** Whether boxing its value gives the same object each time. */
    private static boolean isCached(Object box) {
        if (box instanceof Integer i) {
            return Integer.valueOf(i.intValue()) == Integer.valueOf(i.intValue());
        } else if (box instanceof Long l) {
            return Long.valueOf(l.longValue()) == Long.valueOf(l.longValue());
        } else if (box instanceof Short s) {
            return Short.valueOf(s.shortValue()) == Short.valueOf(s.shortValue());
        } else if (box instanceof Character c) {
            return Character.valueOf(c.charValue()) == Character.valueOf(c.charValue());
        }
        return box instanceof Byte;
    }

    @Test
    void identityHashesTravel() {
        Node plain = new Node(1);
        int hash = System.identityHashCode(plain);
        IdentityHashMap<Node, String> m = new IdentityHashMap<>(Map.of(plain, "found"));
        Object[] c = copy(new Object[] {plain, m, new byte[300_000]});
        assertEquals(hash, System.identityHashCode(c[0]));
        assertEquals("found", ((Map<?, ?>) c[1]).get(c[0]));
        byte[] large = new byte[500_000];
        int largeHash = System.identityHashCode(large);
        assertEquals(largeHash, System.identityHashCode(copy(large)));
    }

    @Test
    void sharingAndCycles() {
        Object[] a = new Object[100_000];
        Node n = new Node(5);
        Arrays.fill(a, n);
        a[0] = a;
        n.any = a;
        n.next = n;
        Object[] c = copy(a);
        assertSame(c, c[0]);
        Node cn = (Node) c[1];
        assertSame(cn, c[99_999]);
        assertSame(c, cn.any);
        assertSame(cn, cn.next);
        assertNotSame(n, cn);
    }

    @Test
    void longListNeedsNoRecursion() {
        Node first = new Node(0);
        Node last = first;
        for (int i = 1; i < 300_000; i++) {
            last.next = new Node(i);
            last.next.any = first;
            last = last.next;
        }
        Node c = copy(first);
        int n = 0;
        for (Node x = c; x != null; x = x.next) {
            assertEquals(n++, x.id);
            assertTrue(x.id == 0 || x.any == c);
        }
        assertEquals(300_000, n);
    }

    @Test
    void valuesOfEveryKind() {
        Object[] a = {
            new byte[] {1, -1},
            new short[] {-2},
            new char[] {'\uffff'},
            new int[0],
            new long[] {Long.MIN_VALUE},
            new float[] {Float.NaN, -0f},
            new double[] {1e300},
            new boolean[] {true, false, true},
            new int[][] {{1}, {}, null},
            "",
            "\u00e9",
            "\u20ac\ud800",
            new Point(1, 2, "p", Color.GREEN),
            1.5,
            123456,
            new StringBuilder("text"),
            new java.math.BigDecimal("12345678901234567890.5"),
            java.time.LocalDate.of(2026, 11, 30),
            new java.util.BitSet(135)
        };
        Object[] c = copy(a);
        assertTrue(Arrays.deepEquals(Arrays.copyOf(a, 15), Arrays.copyOf(c, 15)));
        assertEquals("text", c[15].toString());
        ((StringBuilder) c[15]).append('!');
        assertEquals("text!", c[15].toString());
        assertEquals(Arrays.asList(a).subList(16, 19), Arrays.asList(c).subList(16, 19));
        ReentrantLock lock = copy(new ReentrantLock());
        lock.lock();
        assertTrue(lock.isHeldByCurrentThread());
        lock.unlock();
    }

    @Test
    void monitorsOfCopiesAreFree() throws Exception {
        Object[] a = {new Node(1), new Node(2)};
        synchronized (a[0]) {
            Object[] c = copy(a);
            Thread t = new Thread(() -> {
                synchronized (c[0]) {
                    c[1] = null;
                }
            });
            t.start();
            t.join(10_000);
            assertNull(c[1]);
        }
    }

    /** An independent plain-Java comparison, over graphs from a printed seed. */
    @Test
    void randomGraphs() {
        long seed = new Random().nextLong();
        Random r = new Random(seed);
        for (int round = 0; round < 60; round++) {
            Object[] graph = randomGraph(r, 1 + r.nextInt(round % 10 == 0 ? 60_000 : 2_000));
            Object c = round % 5 == 0 ? copy(graph) : engine.copy(graph);
            assertTrue(isomorphic(graph, c), "seed " + seed + " round " + round);
        }
    }

    private static Object[] randomGraph(Random r, int n) {
        Object[] all = new Object[n];
        for (int i = 0; i < n; i++) {
            switch (r.nextInt(7)) {
                case 0, 1, 2 -> all[i] = new Node(r.nextInt());
                case 3 -> all[i] = new Object[r.nextInt(r.nextInt(50) == 0 ? 8000 : 12)];
                case 4 -> all[i] = "text " + r.nextInt(100);
                case 5 -> all[i] = new byte[r.nextInt(r.nextInt(100) == 0 ? 400_000 : 40)];
                default -> all[i] = Color.values()[r.nextInt(2)];
            }
        }
        for (Object o : all) {
            if (o instanceof Node x) {
                x.any = all[r.nextInt(n)];
                Object next = all[r.nextInt(n)];
                x.next = next instanceof Node y ? y : null;
            } else if (o instanceof Object[] a) {
                for (int k = 0; k < a.length; k++) {
                    a[k] = r.nextInt(4) == 0 ? null : all[r.nextInt(n)];
                }
            }
        }
        return all;
    }

    private static boolean isomorphic(Object a, Object b) {
        IdentityHashMap<Object, Object> met = new IdentityHashMap<>();
        ArrayList<Object[]> open = new ArrayList<>();
        open.add(new Object[] {a, b});
        while (!open.isEmpty()) {
            Object[] pair = open.remove(open.size() - 1);
            Object x = pair[0];
            Object y = pair[1];
            if (x == null || y == null || x instanceof Enum) {
                if (x != y) {
                    return false;
                }
                continue;
            }
            if (met.containsKey(x)) {
                if (met.get(x) != y) {
                    return false;
                }
                continue;
            }
            met.put(x, y);
            if (x == y || x.getClass() != y.getClass()) {
                return false;
            }
            if (x instanceof Node n) {
                Node m = (Node) y;
                if (n.id != m.id) {
                    return false;
                }
                open.add(new Object[] {n.any, m.any});
                open.add(new Object[] {n.next, m.next});
            } else if (x instanceof Object[] p) {
                Object[] q = (Object[]) y;
                if (p.length != q.length) {
                    return false;
                }
                for (int i = 0; i < p.length; i++) {
                    open.add(new Object[] {p[i], q[i]});
                }
            } else if (x instanceof byte[] p) {
                if (!Arrays.equals(p, (byte[]) y)) {
                    return false;
                }
            } else if (!x.equals(y)) {
                return false;
            }
        }
        return true;
    }

    @Test
    void refusalsNameThePath() {
        Node holder = new Node(1);
        holder.any = new Object[] {null, Map.of("key", ByteBuffer.allocateDirect(8))};
        GraphRefusedException e = assertThrows(GraphRefusedException.class, () -> engine.copy(holder));
        assertEquals(1, e.refusals().size());
        assertEquals("root.any[1].v0", e.refusals().get(0).path());
        assertEquals("java.nio.DirectByteBuffer", e.refusals().get(0).className());
        List<Object> many = new ArrayList<>(List.of(
                Thread.currentThread(),
                getClass().getClassLoader(),
                (Runnable) () -> {},
                new java.lang.ref.PhantomReference<>("x", new java.lang.ref.ReferenceQueue<>()),
                new java.util.zip.Inflater(),
                java.lang.reflect.Proxy.newProxyInstance(
                        getClass().getClassLoader(), new Class<?>[] {Runnable.class}, (p, m, args) -> null)));
        GraphRefusedException all = assertThrows(GraphRefusedException.class, () -> engine.copy(many));
        assertEquals(many.size(), all.refusals().size(), all.getMessage());
        assertEquals("ok", copy("ok"));
    }

    interface Add extends java.util.function.Function<Integer, Integer>, java.io.Serializable {}

    static final class Handler implements java.lang.reflect.InvocationHandler {
        Object proxy;

        @Override
        public Object invoke(Object p, java.lang.reflect.Method m, Object[] args) {
            return p == proxy;
        }
    }

    static final class Stray {
        Object kept = "kept";
        Thread thread = Thread.currentThread();
        int number = 7;
    }

    @Test
    void standInsShareWithTheGraphAndAreInCycles() {
        int captured = 5;
        Add add = x -> x + captured;
        Handler handler = new Handler();
        handler.proxy = java.lang.reflect.Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {java.util.concurrent.Callable.class}, handler);
        // Elements of a large array, fields of objects in many segments, and the root itself.
        Object[] large = new Object[100_000];
        LinkedList<Object> list = new LinkedList<>();
        for (int i = 0; i < large.length; i++) {
            large[i] = i % 3 == 0 ? add : new int[] {i};
            list.add(i % 5 == 0 ? new Object[] {add, "s" + i} : "t" + i);
        }
        Object[] copy = (Object[]) engine.copy(new Object[] {add, large, list, handler, handler.proxy});
        Add other = (Add) copy[0];
        assertNotSame(add, other);
        assertEquals(6, other.apply(1));
        Object[] otherLarge = (Object[]) copy[1];
        assertSame(other, otherLarge[99_999]);
        assertEquals(99_998, ((int[]) otherLarge[99_998])[0]);
        assertSame(other, ((Object[]) ((List<?>) copy[2]).get(99_995))[0]);
        assertSame(copy[4], ((Handler) copy[3]).proxy);
        assertEquals(6, ((Add) engine.copy(add)).apply(1));
        // Every one of many, each with its own.
        List<Object> many = new ArrayList<>();
        for (int i = 0; i < 5000; i++) {
            int n = i;
            many.add((Add) x -> x + n);
        }
        List<?> manyCopies = (List<?>) engine.copy(many);
        for (int i = 0; i < many.size(); i++) {
            assertEquals(i + 1, ((Add) manyCopies.get(i)).apply(1));
        }
    }

    @Test
    void stackTracesComeAlong() {
        Exception e = new IllegalStateException("outer", new Error("inner"));
        Exception copy = (Exception) engine.copy(e);
        assertArrayEquals(e.getStackTrace(), copy.getStackTrace());
        assertTrue(copy.getStackTrace().length > 0);
        assertEquals("inner", copy.getCause().getMessage());
        copy.addSuppressed(new Error());
        copy.fillInStackTrace();
        System.gc();
        assertEquals("ok", copy("ok"));
    }

    @Test
    void cutsAndHooksAreTheApplicationsWord() {
        Stray stray = new Stray();
        assertThrows(GraphRefusedException.class, () -> engine.copy(stray));
        engine.rules().cut(Stray.class, "thread");
        engine.rules().cut(Stray.class, "number");
        List<Object> seen = new ArrayList<>();
        engine.rules().onArrival(Stray.class, seen::add);
        Stray copy = (Stray) engine.copy(stray);
        assertEquals("kept", copy.kept);
        assertNull(copy.thread);
        assertEquals(0, copy.number);
        assertEquals(7, stray.number);
        assertEquals(List.of(copy), seen);
        assertThrows(SkywayException.class, () -> engine.rules().cut(Stray.class, "nothing"));
        engine.rules().cut(StringBuffer.class);
        assertArrayEquals(new Object[] {null, "x"}, (Object[]) engine.copy(new Object[] {new StringBuffer("b"), "x"}));
    }

    static final class Cell {
        volatile long value;
    }

    @Test
    void consistentCopiesAreOfOneMoment() throws InterruptedException {
        int most = engine.layout().maxSegmentBytes();
        // A thread counts all cells up in their order; at any moment they hold n, n, ..., n - 1, n - 1.
        Object[] graph = new Object[60_000];
        for (int i = 0; i < graph.length; i++) {
            graph[i] = i % 2 == 0 ? new Cell() : new byte[100];
        }
        Thread counter = new Thread(() -> {
            for (long n = 1; !Thread.currentThread().isInterrupted(); n++) {
                for (int i = 0; i < graph.length; i += 2) {
                    ((Cell) graph[i]).value = n;
                }
            }
        });
        counter.setDaemon(true);
        counter.start();
        try (SlotPool pool = SlotPool.anonymous(engine, SlotPool.slotBytesFor(most), 256);
                ImageWriter w = engine.newWriter(pool, new WriterOptions(most, 0, true, 20))) {
            boolean moved = false;
            for (int round = 0; round < 20; round++) {
                w.imageId(20 + round);
                SendReport sent = w.write(graph);
                assertTrue(sent.windows() >= 1);
                try (ImageReader reader = engine.newReader(new ReaderOptions(null, null, 20 + round))) {
                    for (Block b = w.take(0); b != null; b = w.take(0)) {
                        reader.accept(b.address(), b.length());
                        pool.release(b.slot());
                    }
                    Object[] copy = (Object[]) reader.finish();
                    long first = ((Cell) copy[0]).value;
                    long before = first;
                    for (int i = 0; i < copy.length; i += 2) {
                        long v = ((Cell) copy[i]).value;
                        assertTrue(v == before || v == first - 1, "cell " + i + " of another moment");
                        before = v;
                    }
                    moved |= first > 1;
                }
            }
            assertTrue(moved, "nothing changed meanwhile");
        } finally {
            counter.interrupt();
            counter.join();
        }
    }

    static final class Two {
        String kept = "kept";
        String left = "left";
        int number = 7;
    }

    static final class Whole {
        String text = "text";
    }

    @Test
    void whatIsCutIsStillReceived() {
        int most = engine.layout().maxSegmentBytes();
        try (SlotPool pool = SlotPool.anonymous(engine, SlotPool.slotBytesFor(most), 64);
                ImageWriter w = engine.newWriter(pool, new WriterOptions(most, 0, 30))) {
            // As from a JVM that cuts nothing.
            w.write(new Object[] {new Two(), new Whole()});
            Block b = w.take(1000);
            engine.rules().cut(Two.class, "left");
            engine.rules().cut(Two.class, "number");
            engine.rules().cut(Whole.class);
            // With a scope of its own, so that the classes are looked up now.
            try (ImageReader reader = engine.newReader(new ReaderOptions(null, c -> true, 30))) {
                reader.accept(b.address(), b.length());
                Object[] landed = (Object[]) reader.finish();
                assertEquals("left", ((Two) landed[0]).left);
                assertEquals(7, ((Two) landed[0]).number);
                assertEquals("text", ((Whole) landed[1]).text);
            }
            Object[] sent = (Object[]) engine.copy(new Object[] {new Two(), new Whole()});
            assertEquals("kept", ((Two) sent[0]).kept);
            assertNull(((Two) sent[0]).left);
            assertEquals(0, ((Two) sent[0]).number);
            assertNull(sent[1]);
        }
    }

    @Test
    void nullRootIsAUsageError() {
        SkywayException e = assertThrows(SkywayException.class, () -> engine.copy(null));
        assertEquals(SkywayException.Kind.USAGE, e.kind());
    }

    @Test
    void imagesAreTakenOnce() {
        int most = engine.layout().maxSegmentBytes();
        try (SlotPool pool = SlotPool.anonymous(engine, SlotPool.slotBytesFor(most), 64);
                ImageWriter w = engine.newWriter(pool, new WriterOptions(most, 0, 11))) {
            SendReport sent = w.write(new int[] {1, 2, 3});
            assertEquals(1, sent.objects());
            Block b = w.take(1000);
            assertTrue(b.last());
            assertNull(w.take(0));
            try (ImageReader other = engine.newReader(new ReaderOptions(null, null, 12))) {
                bad("another image", () -> other.accept(b.address(), b.length()));
            }
            try (ImageReader barred = engine.newReader(new ReaderOptions(null, c -> false, 11))) {
                barred.accept(b.address(), b.length());
                assertArrayEquals(new int[] {1, 2, 3}, (int[]) barred.finish());
                bad("after the image's last", () -> barred.accept(b.address(), b.length()));
            }
            w.imageId(13);
            w.write(new Point(1, 2, "x", null));
            Block c = w.take(1000);
            try (ImageReader barred = engine.newReader(new ReaderOptions(null, n -> !n.contains("Point"), 13))) {
                bad("allow-list", () -> barred.accept(c.address(), c.length()));
            }
            try (ImageReader cut = engine.newReader(new ReaderOptions(null, null, 13))) {
                bad("shorter than its header", () -> cut.accept(c.address(), 20));
                assertFalse(cut.complete());
                // What a refused block left half done must not become a graph, whatever follows.
                bad("an earlier block of this image was refused", () -> cut.accept(c.address(), c.length()));
                bad("an earlier block of this image was refused", cut::finish);
            }
            try (ImageReader cut = engine.newReader(new ReaderOptions(null, null, 13))) {
                bad("lengths do not fit", () -> cut.accept(c.address(), c.length() - 8));
            }
            try (ImageReader cut = engine.newReader(new ReaderOptions(null, null, 13))) {
                bad("before its last block", cut::finish);
            }
        }
    }

    private static void bad(String message, org.junit.jupiter.api.function.Executable e) {
        SkywayException s = assertThrows(SkywayException.class, e);
        assertEquals(SkywayException.Kind.BAD_IMAGE, s.kind());
        assertTrue(s.getMessage().contains(message), s.getMessage());
    }

    @Test
    void cancelled() {
        int most = engine.layout().maxSegmentBytes();
        try (SlotPool pool = SlotPool.anonymous(engine, SlotPool.slotBytesFor(most), 2);
                ImageWriter w = engine.newWriter(pool, new WriterOptions(most, 0, 1))) {
            Thread later = new Thread(() -> {
                while (w.objectsSoFar() == 0) {
                    Thread.yield();
                }
                w.cancel();
            });
            later.start();
            // Nobody takes blocks, so the writer waits for slots until it is cancelled.
            SkywayException e = assertThrows(SkywayException.class, () -> w.write(new byte[50][100_000]));
            assertEquals(SkywayException.Kind.CANCELLED, e.kind());
            assertNull(w.take(0));
        }
    }

    @Test
    void cancelledBeforeItBegins() {
        int most = engine.layout().maxSegmentBytes();
        try (SlotPool pool = SlotPool.anonymous(engine, SlotPool.slotBytesFor(most), 2);
                ImageWriter w = engine.newWriter(pool, new WriterOptions(most, 0, 1))) {
            w.cancel();
            SkywayException e = assertThrows(SkywayException.class, () -> w.write(new byte[50][100_000]));
            assertEquals(SkywayException.Kind.CANCELLED, e.kind());
        }
    }

    @Test
    void aGraphLargerThanTheHeapIsRefusedBeforeDamage() {
        List<byte[]> filler = new ArrayList<>();
        long size = Runtime.getRuntime().maxMemory() / 3;
        for (long have = 0; have < size; have += 1 << 20) {
            filler.add(new byte[1 << 20]);
        }
        List<Object> kept = new ArrayList<>();
        SkywayException e = assertThrows(SkywayException.class, () -> {
            for (int i = 0; i < 4; i++) {
                kept.add(engine.copy(filler));
            }
        });
        assertEquals(SkywayException.Kind.HEAP_FULL, e.kind(), e.getMessage());
        assertTrue(e.getMessage().contains("MiB"), e.getMessage());
        kept.clear();
        filler.clear();
        assertEquals("fine", copy("fine"));
    }

    /** Each visit to Java begins the walk again: their number must not grow with that of the stand-ins. */
    @Test
    void manyStandInsAreMadeInFewWalks() {
        Object[] graph = new Object[40_000];
        for (int i = 0; i < graph.length; i++) {
            graph[i] = new java.lang.ref.SoftReference<>(new Node(i));
        }
        int segment = engine.layout().maxSegmentBytes();
        try (SlotPool pool = SlotPool.anonymous(engine, SlotPool.slotBytesFor(segment), 1 << 20);
                ImageWriter writer = engine.newWriter(pool, new WriterOptions(segment, 0, 1))) {
            writer.write(graph);
            int attempt = Internals.getInt(null, writer.take(0).address() + RawImage.ATTEMPT);
            assertTrue(attempt > 1 && attempt < 24, "attempt " + attempt);
        }
        Object[] c = copy(graph);
        for (int i = 0; i < c.length; i++) {
            assertEquals(i, ((Node) ((java.lang.ref.SoftReference<?>) c[i]).get()).id);
        }
    }

    @Test
    void nativeMemoryGoesBack() {
        engine.copy(new Node(1));
        long before = engine.statistics().nativeBytes();
        for (int i = 0; i < 20; i++) {
            engine.copy(randomGraph(new Random(i), 20_000));
        }
        assertEquals(before, engine.statistics().nativeBytes());
        assertTrue(engine.statistics().nativePeakBytes() > before);
        assertTrue(engine.statistics().windows() > 20);
    }
}

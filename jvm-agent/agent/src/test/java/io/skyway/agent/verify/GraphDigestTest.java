package io.skyway.agent.verify;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;

import java.lang.instrument.Instrumentation;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class GraphDigestTest {
    private static final int MANY = 1_000_000;

    /** One field of each kind. */
    static class Node {
        boolean z;
        byte b;
        char c;
        short s;
        int i;
        long j;
        float f;
        double d;
        Object left;
        Object right;

        Node with(Object newLeft, Object newRight) {
            left = newLeft;
            right = newRight;
            return this;
        }
    }

    /** The same fields in another class. */
    static class Other extends Node {}

    /** A field that hides the superclass's. */
    static class Hiding extends Node {
        int i;
    }

    static class Link {
        Link next;
    }

    static class Swapped {
        int a;
        int b;

        Swapped(int a, int b) {
            this.a = a;
            this.b = b;
        }
    }

    enum Color {
        RED,
        GREEN {
            @Override
            public String toString() {
                return "another class";
            }
        };

        int mutable;
    }

    record Point(int x, Object y) {}

    /** Sees the given classes as loaded. */
    private static GraphDigest.Result digest(Object root, Class<?>... loaded) {
        Instrumentation inst = (Instrumentation) Proxy.newProxyInstance(
                GraphDigestTest.class.getClassLoader(),
                new Class<?>[] {Instrumentation.class},
                (proxy, method, args) -> {
                    if (method.getName().equals("getAllLoadedClasses")) {
                        return loaded;
                    }
                    throw new UnsupportedOperationException(method.getName());
                });
        return GraphDigest.of(root, inst);
    }

    private static Node node(java.util.function.Consumer<Node> change) {
        Node node = new Node();
        change.accept(node);
        return node;
    }

    private static Object list(Object... elements) {
        return new ArrayList<>(Arrays.asList(elements));
    }

    private static Object[] array(Object... elements) {
        return elements;
    }

    private static Object ring(int length) {
        Node first = new Node();
        Node last = first;
        for (int i = 1; i < length; i++) {
            last = new Node().with(last, null);
        }
        first.left = last;
        return first;
    }

    /** Pairs of graphs that differ in one thing. */
    static Stream<Arguments> changes() {
        String one = new String("one");
        Node shared = new Node();
        Object[] self = new Object[1];
        self[0] = self;
        return Stream.of(
                Arguments.of("boolean", new Node(), node(n -> n.z = true)),
                Arguments.of("byte", new Node(), node(n -> n.b = -1)),
                Arguments.of("char", new Node(), node(n -> n.c = 0x100)),
                Arguments.of("short", new Node(), node(n -> n.s = 0x100)),
                Arguments.of("int", new Node(), node(n -> n.i = 1 << 31)),
                Arguments.of("long", new Node(), node(n -> n.j = 1L << 63)),
                Arguments.of("float: sign of zero", new Node(), node(n -> n.f = -0.0f)),
                Arguments.of("double: sign of zero", new Node(), node(n -> n.d = -0.0)),
                Arguments.of("the value in another field", node(n -> n.s = 1), node(n -> n.c = 1)),
                Arguments.of("two fields swapped", new Swapped(1, 2), new Swapped(2, 1)),
                Arguments.of("class", new Node(), new Other()),
                Arguments.of("hidden field", node(n -> n.i = 7), new Hiding()),
                Arguments.of("null root", null, new Node()),
                Arguments.of("null field", new Node(), new Node().with(new Node(), null)),
                Arguments.of("other field", new Node().with(null, new Node()), new Node().with(new Node(), null)),
                Arguments.of("order", array(new Node(), new Other()), array(new Other(), new Node())),
                Arguments.of("shared or equal", array(shared, shared), array(new Node(), new Node())),
                Arguments.of("shared or equal string", array(one, one), array(one, new String(one.toCharArray()))),
                Arguments.of(
                        "shared characters", array(one, new String(one)), array(one, new String(one.toCharArray()))),
                Arguments.of(
                        "which one is shared", array(shared, new Node(), shared), array(new Node(), shared, shared)),
                Arguments.of("array length", new int[2], new int[3]),
                Arguments.of("zero length", new Object[0], new Object[1]),
                Arguments.of("array class", new Object[1], new Node[1]),
                Arguments.of("array of another primitive", new int[1], new float[1]),
                Arguments.of("boolean[]", new boolean[] {true, false}, new boolean[] {false, true}),
                Arguments.of("byte[]", new byte[] {1, 2}, new byte[] {2, 1}),
                Arguments.of("char[]", new char[] {'a', 'b'}, new char[] {'b', 'a'}),
                Arguments.of("short[]", new short[] {1, 2}, new short[] {2, 1}),
                Arguments.of("int[]", new int[] {1, 2}, new int[] {2, 1}),
                Arguments.of("long[]", new long[] {1, 2}, new long[] {2, 1}),
                Arguments.of("float[]", new float[] {1, 2}, new float[] {2, 1}),
                Arguments.of("double[]", new double[] {1, 2}, new double[] {2, 1}),
                Arguments.of("end of a large array", large(0), large(1)),
                Arguments.of("list capacity", new ArrayList<>(1), new ArrayList<>(2)),
                Arguments.of("cycle", new Node().with(new Node(), null), ring(2)),
                Arguments.of("cycle length", ring(2), ring(3)),
                Arguments.of("array holds itself", self, array(new Object[1])),
                Arguments.of("string", list("Gruß"), list("Gruss")),
                Arguments.of("coder", list("abcd"), list("\u6261\u6463")),
                Arguments.of("enum constant", array(Color.RED), array(Color.GREEN)),
                Arguments.of("enum of another class", array(Color.RED), array(TimeUnit.DAYS)),
                Arguments.of("Class", array(int.class), array(Integer.class)),
                Arguments.of("Class of an array", array(int[].class), array(int[][].class)),
                Arguments.of("small box", array(1), array(2)),
                Arguments.of("small box of another class", array(1), array(1L)),
                Arguments.of("small box or null", array(0), array((Object) null)),
                Arguments.of("character or number", array('a'), array(97)),
                Arguments.of("large box", array(1000), array(1001)),
                Arguments.of("large boxes shared", pair(5000, true), pair(5000, false)),
                Arguments.of("record", new Point(1, null), new Point(2, null)));
    }

    private static byte[] large(int last) {
        byte[] bytes = new byte[200_001];
        bytes[200_000] = (byte) last;
        return bytes;
    }

    private static Object pair(int value, boolean same) {
        Object first = Integer.valueOf(value);
        Object second = same ? first : Integer.valueOf(Integer.parseInt(String.valueOf(value)));
        return array(first, second);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("changes")
    void aChangeGivesAnotherDigest(String what, Object one, Object other) {
        assertNotEquals(digest(one).hex(), digest(other).hex(), what);
        assertEquals(digest(one), digest(one), what);
    }

    /** Built twice, nothing shared. */
    static Stream<Arguments> graphs() {
        return Stream.<Supplier<Object>>of(
                        () -> null,
                        Node::new,
                        () -> ring(100),
                        () -> list("a", "ü", "語", 1, 1000, 'x', 2.5, Color.RED, Color.GREEN, int[].class),
                        () -> array(new int[] {1}, new long[][] {{2}, null}, new boolean[] {true}, array()),
                        () -> new LinkedList<>(Collections.nCopies(1000, "same")),
                        () -> new Point(1, new Point(2, new Node())))
                .map(supplier -> Arguments.of(supplier.get(), supplier.get()));
    }

    @ParameterizedTest
    @MethodSource("graphs")
    void isomorphicGraphsHaveEqualDigests(Object one, Object other) {
        assertEquals(digest(one), digest(other));
    }

    @Test
    void aStringsCachedHashDoesNotMatter() {
        String hashed = new String("some text");
        String fresh = new String(hashed.toCharArray());
        assertNotEquals(0, hashed.hashCode());
        assertEquals(digest(hashed), digest(fresh));
    }

    @Test
    void contentOfEnumConstantsDoesNotMatter() {
        String before = digest(array(Color.RED)).hex();
        Color.RED.mutable++;
        assertEquals(before, digest(array(Color.RED)).hex());
    }

    @Test
    @SuppressWarnings("removal")
    void whichSmallBoxIsHeldDoesNotMatter() {
        Integer own = new Integer(7);
        assertNotSame(own, Integer.valueOf(7));
        assertEquals(digest(array(7, 7)), digest(array(7, own)));
    }

    @Test
    void platformConstantsAreNamed() {
        Object constant = Collections.EMPTY_LIST;
        GraphDigest.Result named = digest(array(constant), Collections.class, Optional.class);
        assertEquals(1, named.objects());
        assertEquals(2, digest(array(constant)).objects());
        assertNotEquals(digest(array(constant)).hex(), named.hex());
        // Another process may have loaded other classes; what it holds itself is what counts.
        assertEquals(named, digest(array(constant), Collections.class));
        assertEquals(2, digest(array(constant), Optional.class).objects());
    }

    @Test
    void aCopyOfAPlatformConstantIsNotOne() {
        Object constant = Optional.empty();
        Object copy = Optional.of("x");
        assertNotEquals(digest(array(constant), Optional.class), digest(array(copy), Optional.class));
        assertEquals(1, digest(array(constant, constant), Optional.class).objects());
    }

    @Test
    void namesOfLambdasDoNotHoldTheirNumber() {
        Supplier<Supplier<Object>> maker = () -> () -> null;
        assertEquals(GraphDigestTest.class.getName() + "$$Lambda", ClassPlan.stableName(maker.getClass()));
        Object proxy = Proxy.newProxyInstance(
                GraphDigestTest.class.getClassLoader(), new Class<?>[] {Runnable.class}, (self, method, args) -> null);
        assertEquals("proxy " + Runnable.class.getName(), ClassPlan.stableName(proxy.getClass()));
    }

    @Test
    void counts() {
        Node shared = new Node();
        GraphDigest.Result result = digest(array(shared, shared, null, new int[3], 5, Color.RED));
        assertEquals(3, result.objects());
        assertEquals(1 + 5, result.references());
        assertEquals(30 + 12, result.primitiveBytes());
    }

    @Test
    void aLongListIsNoDeepRecursion() {
        assertEquals(digest(links(MANY)), digest(links(MANY)));
        assertEquals(MANY, digest(links(MANY)).objects());
        assertNotEquals(digest(links(MANY)).hex(), digest(links(MANY + 1)).hex());
    }

    private static Link links(int length) {
        Link first = null;
        for (int i = 0; i < length; i++) {
            Link link = new Link();
            link.next = first;
            first = link;
        }
        return first;
    }

    @Test
    void manyObjectsKeepTheirNumbers() {
        ObjectTable table = new ObjectTable();
        List<Object> objects = new ArrayList<>();
        for (int i = 0; i < 300_000; i++) {
            Object o = new Object();
            objects.add(o);
            assertEquals(i, table.ordinal(o));
        }
        assertEquals(objects.size(), table.size());
        for (int i = 0; i < objects.size(); i++) {
            assertEquals(i, table.ordinal(objects.get(i)));
            assertEquals(objects.get(i), table.get(i));
        }
    }
}

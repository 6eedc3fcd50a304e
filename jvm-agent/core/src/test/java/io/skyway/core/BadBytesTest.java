package io.skyway.core;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.DoubleBuffer;
import java.nio.IntBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Images that no sender would write, in a real JVM. */
class BadBytesTest {
    private static Engine engine;

    @BeforeAll
    static void start() throws Exception {
        engine = TestEngine.get();
    }

    static Stream<List<String>> layouts() {
        String other = Runtime.version().feature() >= 24 ? "-XX:+UseCompactObjectHeaders" : "-XX:-UseCompressedOops";
        return Stream.of(
                List.of("-XX:+UseSerialGC"),
                List.of("-XX:+UseParallelGC"),
                List.of("-XX:+UseG1GC"),
                List.of("-XX:+UseG1GC", other),
                List.of("-XX:+UseSerialGC", "-XX:-UseCompressedOops"));
    }

    /** In a JVM of its own, which verifies its heap before and after each collection. */
    @ParameterizedTest
    @MethodSource("layouts")
    void alteredImagesEndInAnErrorOrInAGraph(List<String> flags) throws Exception {
        long seed = new Random().nextLong();
        Path log = Files.createTempFile("skyway-bad-bytes", ".log");
        try {
            List<String> command = new ArrayList<>();
            command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            command.addAll(flags);
            command.addAll(List.of(
                    "-Xmx128m",
                    "-XX:+UnlockDiagnosticVMOptions",
                    "-XX:+VerifyBeforeGC",
                    "-XX:+VerifyAfterGC",
                    "-XX:+ErrorFileToStdout",
                    "-Djdk.attach.allowAttachSelf=true",
                    "-XX:+EnableDynamicAgentLoading",
                    "-cp",
                    System.getProperty("java.class.path"),
                    BadBytes.class.getName(),
                    System.getProperty("skyway.library"),
                    "1500",
                    String.valueOf(seed)));
            Process p = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            try {
                assertTrue(p.waitFor(55, TimeUnit.SECONDS), () -> "seed " + seed + ": no end\n" + tail(log));
            } finally {
                p.destroyForcibly();
            }
            assertEquals(0, p.exitValue(), () -> "seed " + seed + "\n" + tail(log));
            String last = tail(log);
            assertTrue(last.contains("\"images\": 1500"), last);
            assertFalse(last.contains("\"landed\": 0,"), last);
        } finally {
            Files.delete(log);
        }
    }

    private static String tail(Path log) {
        try {
            String text = Files.readString(log, StandardCharsets.ISO_8859_1);
            return text.substring(Math.max(0, text.length() - 4000));
        } catch (IOException e) {
            return e.toString();
        }
    }

    private static RawImage image(Object root) {
        return RawImage.write(engine, root, 64 << 10, 1);
    }

    private static Object land(RawImage image) {
        return image.land(engine, new ReaderOptions(null, null, 1));
    }

    private static void bad(String message, RawImage image) {
        SkywayException e = assertThrows(SkywayException.class, () -> land(image));
        assertEquals(SkywayException.Kind.BAD_IMAGE, e.kind());
        assertTrue(e.getMessage().contains(message), e.getMessage());
    }

    /** Where a field lies in an object; in the image, a graph's root comes first. */
    private static int offset(Class<?> c, String name) {
        for (Class<?> k = c; k != null; k = k.getSuperclass()) {
            for (Field f : Internals.fieldsOf(k)) {
                if (f.getName().equals(name)) {
                    return (int) Internals.offsetOf(f);
                }
            }
        }
        throw new AssertionError(name);
    }

    @Test
    void heapBuffersWork() {
        ByteBuffer b =
                ByteBuffer.wrap(new byte[] {1, 2, 3, 4, 5, 6, 7, 8}, 2, 4).slice();
        Object[] all = {
            b,
            b.duplicate().order(ByteOrder.LITTLE_ENDIAN).asShortBuffer(),
            ByteBuffer.allocate(64).position(8).slice().asDoubleBuffer().put(2, 1.5),
            b.asReadOnlyBuffer(),
            CharBuffer.wrap("text", 1, 3),
            CharBuffer.wrap(new char[] {'a', 'b', 'c'}, 1, 2),
            IntBuffer.wrap(new int[] {1, 2, 3}).position(1).mark(),
            ByteBuffer.allocate(300_000).putInt(299_996, 42)
        };
        Object[] c = (Object[]) engine.copy(all);
        System.gc();
        assertEquals(List.of(all), List.of(c));
        ByteBuffer arrived = (ByteBuffer) c[0];
        arrived.put(0, (byte) 9);
        assertEquals(3, b.get(0));
        assertEquals(9, ((ByteBuffer) c[3]).get(0));
        assertEquals(1.5, ((DoubleBuffer) c[2]).get(2));
        assertEquals("ex", c[4].toString());
        assertEquals(42, ((ByteBuffer) c[7]).getInt(299_996));
        // Alone in its image.
        assertEquals(b, engine.copy(b));
    }

    /** The addresses and bounds of buffers are used without a look: none that lies is handed out. */
    @ParameterizedTest
    @ValueSource(strings = {"address", "capacity", "limit", "position", "offset", "hb"})
    void aBufferNeverReachesBeyondItsArray(String field) {
        ByteBuffer b = ByteBuffer.wrap(new byte[64], 16, 32).slice();
        RawImage image = image(b);
        int at = RawImage.HEADER + offset(b.getClass(), field);
        bad("reaches beyond its array", new RawImage(image).putInt(0, at, field.equals("hb") ? 0 : 1_000_000));
        if (!field.equals("hb")) {
            bad("reaches beyond its array", new RawImage(image).putInt(0, at, -8));
        }
        assertEquals(b, land(image));
    }

    @ParameterizedTest
    @ValueSource(strings = {"address", "capacity", "bb"})
    void aViewNeverReachesBeyondItsArray(String field) {
        IntBuffer b = ByteBuffer.allocate(64).asIntBuffer();
        RawImage image = image(b);
        int at = RawImage.HEADER + offset(b.getClass(), field);
        bad("reaches beyond its array", new RawImage(image).putInt(0, at, field.equals("bb") ? 0 : 30));
        assertEquals(b, land(image));
    }

    @Test
    void textIsWholeOrRefused() {
        for (Object text : new Object[] {"some text", new StringBuilder("some text")}) {
            Class<?> c = text instanceof String ? String.class : StringBuilder.class.getSuperclass();
            RawImage image = image(text);
            int coder = RawImage.HEADER + offset(c, "coder");
            for (byte value : new byte[] {2, 31, -1}) {
                RawImage altered = new RawImage(image);
                altered.blocks.get(0)[coder] = value;
                bad("a value that the VM never gives it", altered);
            }
            bad(
                    "null that its class cannot do without",
                    new RawImage(image).putInt(0, RawImage.HEADER + offset(c, "value"), 0));
            // The other coder, with bytes that do not come in pairs: another text, but a text.
            RawImage odd = new RawImage(image);
            odd.blocks.get(0)[coder] = 1;
            assertEquals(text instanceof String ? 4 : 9, ((CharSequence) land(odd)).length());
        }
        RawImage negative = image(new StringBuilder("x"));
        bad(
                "a value that the VM never gives it",
                negative.putInt(0, RawImage.HEADER + offset(StringBuilder.class.getSuperclass(), "count"), -100));
    }

    static final class Flagged {
        final long marker = 0x5a5a_1234_5a5a_4321L;
        boolean flag = true;
    }

    @Test
    void booleansAreTrueOrFalse() {
        RawImage image = image(new Flagged());
        int at = RawImage.HEADER + offset(Flagged.class, "flag");
        assertEquals(1, image.blocks.get(0)[at]);
        image.blocks.get(0)[at] = 2;
        bad("a value that the VM never gives it", image);
        RawImage array = image(new boolean[] {true, true, true, true, true, true, true, true});
        int first = array.find(0x0101_0101_0101_0101L);
        array.blocks.get(0)[first + 3] = (byte) 0x80;
        bad("a value that the VM never gives it", array);
    }

    static final class Counted {
        volatile long count;
    }

    /** What native code trusts is refused by the sender, and by the receiver too. */
    @Test
    void nativeStateStays() throws Exception {
        List<Object> all = new ArrayList<>(List.of(
                AtomicLongFieldUpdater.newUpdater(Counted.class, "count"),
                java.security.MessageDigest.getInstance("SHA-256"),
                Class.forName("java.util.zip.Inflater$InflaterZStreamRef"),
                javax.crypto.Cipher.getInstance("AES/CBC/NoPadding")));
        GraphRefusedException e = assertThrows(GraphRefusedException.class, () -> engine.copy(all));
        String text = e.getMessage();
        assertTrue(text.contains("its field offset is an address, or an offset that nothing checks"), text);
        assertTrue(text.contains("the VM works on its fields without checking them"), text);
        assertTrue(e.refusals().size() >= 3, text);
        for (String name : List.of(
                "java.util.zip.Inflater$InflaterZStreamRef",
                "java.nio.DirectByteBuffer",
                "java.lang.invoke.MethodHandle",
                "sun.security.provider.SHA2$SHA256",
                "com.sun.crypto.provider.AESCrypt",
                "java.util.concurrent.atomic.AtomicIntegerFieldUpdater$AtomicIntegerFieldUpdaterImpl",
                "jdk.internal.foreign.HeapMemorySegmentImpl$OfByte",
                "sun.nio.ch.NativeObject",
                "java.io.ObjectStreamClass$FieldReflector",
                "java.awt.image.Raster",
                "com.sun.crypto.provider.ChaCha20Cipher",
                "com.sun.crypto.provider.HmacCore",
                "sun.security.util.math.intpoly.IntegerPolynomial$Element")) {
            Class<?> c;
            try {
                c = Class.forName(name);
            } catch (ClassNotFoundException absent) {
                continue;
            }
            assertNotAllowed(c);
        }
        for (Class<?> c : List.of(
                String.class,
                ByteBuffer.allocate(1).getClass(),
                java.util.HashMap.class,
                java.util.concurrent.ConcurrentHashMap.class,
                java.util.concurrent.atomic.LongAdder.class,
                java.util.Date.class,
                java.time.ZonedDateTime.class,
                java.util.zip.CRC32.class,
                java.math.BigInteger.class,
                Counted.class)) {
            assertNull(Policy.refusal(c, false), c.getName());
        }
    }

    /** A receiver asks the same questions: it does not land what its sender should not have sent. */
    private static void assertNotAllowed(Class<?> c) {
        assertTrue(Policy.refusal(c, false) != null, c.getName());
        TypeTable.Type t = engine.types.type(c);
        assertFalse(t.copied(), c.getName());
        assertTrue(t.refusal != null, c.getName());
    }

    /** A registry that says of a good id that it is another class: as if the sender had announced that. */
    @Test
    void aReceiverLandsNothingThatItWouldNotSend() throws Exception {
        Engine e = engine;
        RawImage image = image(new Counted());
        TypeIds real = e.types.ids();
        int stolen = idOf(Counted.class);
        TypeIds lies = new TypeIds() {
            @Override
            public int[] register(List<TypeDescriptor> descriptors) {
                return real.register(descriptors);
            }

            @Override
            public List<TypeDescriptor> lookup(int[] ids) {
                List<TypeDescriptor> out = new ArrayList<>();
                for (int id : ids) {
                    out.add(
                            id == stolen
                                    ? new TypeDescriptor(
                                            "java.util.zip.Inflater$InflaterZStreamRef",
                                            TypeDescriptor.Kind.INSTANCE,
                                            24,
                                            0,
                                            0,
                                            List.of(),
                                            "java.lang.Object",
                                            new byte[32])
                                    : real.lookup(new int[] {id}).get(0));
                }
                return out;
            }
        };
        e.useTypes(lies);
        try {
            bad("objects of java.util.zip.Inflater$InflaterZStreamRef are not landed", image);
        } finally {
            e.useTypes(real);
        }
        assertTrue(land(image) instanceof Counted);
    }

    private static int idOf(Class<?> c) {
        return engine.types.type(c).id;
    }

    /** An attempt that begins again must not hand out what the one before it left. */
    @Test
    void aRestartedImageForgetsItsOnlySegment() {
        RawImage two = image(new Object[] {"first"});
        RawImage second = image(new Object[] {"second", new byte[100_000]});
        assertTrue(second.blocks.size() > 1);
        for (byte[] b : second.blocks) {
            ByteBuffer h = RawImage.of(b);
            h.putInt(RawImage.ATTEMPT, h.getInt(RawImage.ATTEMPT) + 1);
            two.blocks.add(b);
        }
        assertEquals("second", ((Object[]) land(two))[0]);
    }

    @Test
    void theRootIsAnObject() {
        RawImage image = image(new Object[] {TimeUnit.DAYS, "x"});
        bad("the graph's root is no object", new RawImage(image).putLong(0, RawImage.ROOT, Long.MIN_VALUE + 9));
        assertSame(TimeUnit.DAYS, land(image.putLong(0, RawImage.ROOT, Long.MIN_VALUE)));
    }

    /** No array that this heap could never carve: it was allocated again without end. */
    @Test
    void aSegmentThatNoHeapCarves() {
        RawImage image = new RawImage();
        int most = engine.layout().maxSegmentBytes();
        byte[] block = new byte[RawImage.HEADER + 524_160];
        RawImage small = image(new long[] {1, 2, 3});
        System.arraycopy(small.blocks.get(0), 0, block, 0, RawImage.HEADER);
        ByteBuffer h = RawImage.of(block);
        h.putLong(RawImage.PAYLOAD, 524_160);
        h.putInt(RawImage.OBJECTS, 65_520);
        h.putInt(RawImage.FLAGS, 1);
        h.putInt(RawImage.TYPES, 0);
        image.blocks.add(block);
        assertTrue(524_160 + 4 * 65_520 > most, "this heap carves every segment");
        bad("larger than this heap can carve", image);
    }

    /** Allocated are bytes that came, whatever a header claims. */
    @Test
    void nothingIsAllocatedFromAClaim() {
        RawImage image = image(new Object[] {new byte[200_000], "x"});
        long claimed = Integer.MAX_VALUE;
        for (int i = 0; i < image.blocks.size(); i++) {
            if (image.getInt(i, RawImage.KIND) == 1) {
                image.putLong(i, RawImage.ARRAY_LENGTH, claimed);
            }
        }
        // All pieces come; then the references to the array wait for ever. Allocated at once, 2 GiB would not fit.
        SkywayException e = assertThrows(SkywayException.class, () -> land(image));
        assertEquals(SkywayException.Kind.BAD_IMAGE, e.kind(), e.getMessage());
        for (int count : new int[] {Integer.MAX_VALUE, -1, 1_000_000_000}) {
            bad(
                    "more names than it has bytes for",
                    new RawImage(image(new Object[] {TimeUnit.DAYS})).putInt(0, RawImage.NAMED, count));
        }
        RawImage array = image(new long[] {0x77});
        int at = array.find(0x77) - 4;
        bad("reaches beyond its segment", lengthAt(array, at, Integer.MAX_VALUE));
        bad("an array's length is not one", lengthAt(array, at, -1));
    }

    /** The length lies in the four bytes before the elements, or in the four before these. */
    private static RawImage lengthAt(RawImage image, int at, int length) {
        RawImage out = new RawImage(image);
        int where = image.getInt(0, at) == 1 ? at : at - 4;
        assertEquals(1, image.getInt(0, where));
        return out.putInt(0, where, length);
    }

    static final class Barred {
        static boolean initialised = set();
        Object any;

        private static boolean set() {
            System.setProperty("skyway.test.barred", "initialised");
            return true;
        }
    }

    /** The allow-list comes before everything: no class is loaded, nothing is allocated. */
    @Test
    void whatIsNotAllowedIsNotEvenLoaded() {
        // An image that uses the id of a class that its graph has nothing to do with.
        RawImage image = image(new Object[] {"text", new Counted()});
        List<String> asked = new ArrayList<>();
        SkywayException e = assertThrows(
                SkywayException.class,
                () -> image.land(
                        engine,
                        new ReaderOptions(
                                null,
                                name -> {
                                    asked.add(name);
                                    return !name.endsWith("Counted");
                                },
                                1)));
        assertEquals(SkywayException.Kind.BAD_IMAGE, e.kind());
        assertTrue(e.getMessage().contains("is not on the receiver's allow-list"), e.getMessage());
        assertTrue(asked.contains(Counted.class.getName()), asked.toString());

        // Names: the class is asked for before it is looked up, and so not initialised.
        for (String name : List.of(
                "enum:" + Barred.class.getName() + "#X",
                "class:" + Barred.class.getName(),
                "static:java.util.Collections#EMPTY_LIST",
                "box:java.lang.Integer#7")) {
            SkywayException s = assertThrows(
                    SkywayException.class, () -> named(name).land(engine, new ReaderOptions(null, n -> false, 1)));
            assertTrue(s.getMessage().contains("is not on the receiver's allow-list"), name + ": " + s.getMessage());
        }
        assertNull(System.getProperty("skyway.test.barred"));
        assertEquals(7, named("box:java.lang.Integer#7").land(engine, new ReaderOptions(null, n -> true, 1)));
        assertArrayEquals(new int[] {3}, (int[])
                image(new int[] {3}).land(engine, new ReaderOptions(null, n -> false, 1)));
    }

    /** An image with nothing but one name, which is its root. */
    private static RawImage named(String name) {
        byte[] text = name.getBytes(StandardCharsets.UTF_8);
        int bytes = 2 + text.length;
        byte[] block = new byte[RawImage.HEADER + (bytes + 7 & ~7)];
        System.arraycopy(image(new int[1]).blocks.get(0), 0, block, 0, RawImage.HEADER);
        ByteBuffer h = RawImage.of(block);
        h.putInt(RawImage.FLAGS, 1);
        h.putInt(RawImage.OBJECTS, 0);
        h.putLong(RawImage.PAYLOAD, 0);
        h.putInt(RawImage.CROSS, 0);
        h.putInt(RawImage.LATE, 0);
        h.putInt(RawImage.TYPES, 0);
        h.putInt(RawImage.NAMED, 1);
        h.putInt(RawImage.NAMED_BYTES, bytes);
        h.putLong(RawImage.ROOT, Long.MIN_VALUE);
        h.putLong(RawImage.TOTAL, 0);
        h.putShort(RawImage.HEADER, (short) text.length);
        System.arraycopy(text, 0, block, RawImage.HEADER + 2, text.length);
        RawImage image = new RawImage();
        image.blocks.add(block);
        return image;
    }
}

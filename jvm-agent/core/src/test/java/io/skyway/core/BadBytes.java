package io.skyway.core;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.IntBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Feeds altered images to the receiver of this JVM: {@code BadBytes LIBRARY IMAGES SEED}. Each must end in a {@link
 * SkywayException} or in a graph whose every reference is of its field's type; the JVM verifies its heap meanwhile. Last
 * comes a good image. Prints one line of JSON; any other end is a failure.
 */
public final class BadBytes {
    private static final int SEGMENT_BYTES = 4096;
    private static final int IMAGES_BETWEEN_COLLECTIONS = 2000;
    private static final int KEPT = 64;
    private static final Set<SkywayException.Kind> CLEAR = Set.of(
            SkywayException.Kind.BAD_IMAGE,
            SkywayException.Kind.CLASS_MISSING,
            SkywayException.Kind.LAYOUT_MISMATCH,
            SkywayException.Kind.HEAP_FULL);
    private static final int[] FIELDS = {
        RawImage.ATTEMPT,
        RawImage.KIND,
        RawImage.SEQUENCE,
        RawImage.SEGMENT,
        RawImage.FLAGS,
        RawImage.OBJECTS,
        RawImage.PAYLOAD,
        RawImage.CROSS,
        RawImage.LATE,
        RawImage.TYPES,
        RawImage.NAMED,
        RawImage.NAMED_BYTES,
        RawImage.ARRAY_TYPE,
        RawImage.ARRAY_LENGTH,
        RawImage.ARRAY_OFFSET,
        RawImage.ARRAY_HASH,
        RawImage.ROOT,
        RawImage.TOTAL,
        RawImage.ROOT + 4,
        RawImage.ARRAY_LENGTH + 4,
        RawImage.SEGMENT + 4
    };

    static final class Node {
        int id;
        boolean flag;
        Node next;
        Object any;
        String text;
        boolean[] flags;
        List<Object> list;

        Node(int id) {
            this.id = id;
        }
    }

    private BadBytes() {}

    public static void main(String[] arguments) throws Exception {
        Engine engine = TestEngine.start(Path.of(arguments[0]));
        long images = Long.parseLong(arguments[1]);
        long seed = Long.parseLong(arguments[2]);
        System.out.println(run(engine, images, seed));
    }

    static String run(Engine engine, long images, long seed) {
        Random random = new Random(seed);
        List<RawImage> good = new ArrayList<>();
        List<ReaderOptions> options = new ArrayList<>();
        for (int i = 0; i < 24; i++) {
            good.add(RawImage.write(engine, graph(random, 1 + i % 12), SEGMENT_BYTES, 1));
        }
        options.add(new ReaderOptions(null, null, 1));
        options.add(new ReaderOptions(null, c -> true, 1));
        Deque<Object> kept = new ArrayDeque<>();
        long refused = 0;
        long landed = 0;
        try (RawImage.Memory memory = new RawImage.Memory(engine)) {
            for (long n = 0; n < images; n++) {
                RawImage image = new RawImage(good.get(random.nextInt(good.size())));
                boolean repaired = random.nextInt(16) != 0;
                for (int k = random.nextInt(4); k >= 0; k--) {
                    alter(image, random);
                }
                if (repaired) {
                    repair(image, random);
                }
                try (ImageReader reader = engine.newReader(options.get(random.nextInt(options.size())))) {
                    for (byte[] b : image.blocks) {
                        memory.accept(reader, b);
                    }
                    Object root = reader.finish();
                    walk(root);
                    kept.add(root);
                    if (kept.size() > KEPT) {
                        kept.remove();
                    }
                    landed++;
                } catch (SkywayException e) {
                    if (!CLEAR.contains(e.kind())
                            || e.getMessage() == null
                            || e.getMessage().isEmpty()) {
                        throw new AssertionError("seed " + seed + ", image " + n, e);
                    }
                    refused++;
                } catch (RuntimeException | Error e) {
                    throw new AssertionError("seed " + seed + ", image " + n, e);
                }
                if (n % IMAGES_BETWEEN_COLLECTIONS == 0) {
                    System.gc();
                }
            }
        }
        System.gc();
        kept.clear();
        System.gc();
        Object[] last = graph(random, 12);
        Object[] copy = (Object[]) engine.copy(last);
        for (int i = 0; i < last.length; i++) {
            if (last[i] instanceof String && !last[i].equals(copy[i])) {
                throw new AssertionError("a good image after bad ones did not arrive as it was");
            }
        }
        return "{\"images\": " + images + ", \"refused\": " + refused + ", \"landed\": " + landed + ", \"seed\": "
                + seed + "}";
    }

    /** Small graphs of many classes, over several blocks. */
    private static Object[] graph(Random r, int size) {
        List<Object> all = new ArrayList<>();
        Node before = null;
        for (int i = 0; i < size * 3; i++) {
            Node n = new Node(r.nextInt());
            n.flag = r.nextBoolean();
            n.next = before;
            n.text = r.nextBoolean() ? "text " + r.nextInt() : "\u20ac " + r.nextInt();
            n.flags = new boolean[r.nextInt(9)];
            n.list = r.nextBoolean() ? new ArrayList<>(List.of(n.text, i)) : new LinkedList<>(List.of(i, n.text));
            n.any = value(r);
            all.add(n);
            all.add(n.text);
            before = n;
        }
        if (size % 3 == 1) {
            all.add(new byte[3000]);
            all.add(new boolean[2000]);
            Object[] large = new Object[5000];
            for (int i = 0; i < large.length; i += 1 + r.nextInt(200)) {
                large[i] = all.get(r.nextInt(all.size()));
            }
            all.add(large);
            Node[] typed = new Node[4500];
            typed[7] = before;
            all.add(typed);
        }
        before.any = all;
        return all.toArray();
    }

    private static Object value(Random r) {
        switch (r.nextInt(16)) {
            case 0:
                return new StringBuilder("built ").append(r.nextInt());
            case 1:
                return new StringBuffer("\u20ac").append(r.nextLong());
            case 2:
                return ByteBuffer.wrap(new byte[100], 10, 20).slice();
            case 3:
                return ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN).asIntBuffer();
            case 4:
                return CharBuffer.wrap("a text to look at");
            case 5:
                return IntBuffer.wrap(new int[9], 2, 5);
            case 6:
                return new BigInteger(300, r);
            case 7:
                return new HashMap<>(Map.of("a", 1, "b", TimeUnit.DAYS, "c", r.nextDouble()));
            case 8:
                return new TreeMap<>(Map.of(r.nextInt(), "x", r.nextInt(100) + 1, new long[] {1, 2}));
            case 9:
                return BitSet.valueOf(new long[] {r.nextLong(), 5});
            case 10:
                return new Object[] {Optional.empty(), String.class, int[].class, Boolean.TRUE, 'x', new Node[2]};
            case 11:
                return java.time.LocalDateTime.of(2026, 11, 30, 1, 2);
            case 12:
                return new Boolean[] {true, false, null};
            case 13:
                return new double[][] {{1, 2}, {}, null};
            case 14:
                return new StringBuilder[] {new StringBuilder("x"), null};
            default:
                return Collections.unmodifiableList(new ArrayList<>(List.of("u", r.nextLong())));
        }
    }

    // ---- alteration

    private static long interesting(Random r) {
        long[] values = {
            0,
            1,
            2,
            3,
            7,
            8,
            16,
            24,
            0x7f,
            0xff,
            0xffff,
            0x10000,
            0x10001,
            0x1ffff,
            65520,
            524160,
            0x7fffffffL,
            0x80000000L,
            0xffffffffL,
            Long.MIN_VALUE,
            Long.MIN_VALUE + 1,
            -1,
            Long.MAX_VALUE
        };
        return switch (r.nextInt(5)) {
            case 0 -> r.nextInt(2048);
            case 1 -> (long) r.nextInt(6) << 16 | r.nextInt(600);
            case 2 -> (long) r.nextInt(6) << 32 | r.nextInt(1024) * 4L;
            default -> values[r.nextInt(values.length)];
        };
    }

    private static void alter(RawImage image, Random r) {
        List<byte[]> blocks = image.blocks;
        int i = r.nextInt(blocks.size());
        byte[] b = blocks.get(i);
        ByteBuffer in = RawImage.of(b);
        int payloadEnd = b.length < RawImage.HEADER
                ? b.length
                : (int) Math.min(b.length, RawImage.HEADER + Math.max(in.getLong(RawImage.PAYLOAD), 0));
        int choice = r.nextInt(16);
        if (choice < 8 && payloadEnd > RawImage.HEADER + 8) {
            int at = RawImage.HEADER + r.nextInt((payloadEnd - RawImage.HEADER) / 4) * 4;
            switch (r.nextInt(6)) {
                case 0 -> in.putInt(at, 0);
                case 1 -> in.putInt(at, -1);
                case 2 -> in.putInt(at, 0x80000000 | r.nextInt(6));
                case 3 -> in.putInt(at, in.getInt(at) + r.nextInt(5) - 2);
                case 4 -> b[at + r.nextInt(4)] ^= (byte) (1 << r.nextInt(8));
                default -> in.putInt(at, 1 + r.nextInt((payloadEnd - RawImage.HEADER) / 8 + 1));
            }
        } else if (choice < 10 && b.length >= RawImage.HEADER) {
            int field = FIELDS[r.nextInt(FIELDS.length)];
            in.putInt(field, (int) interesting(r));
        } else if (choice < 12 && b.length - payloadEnd >= 8) {
            in.putLong(payloadEnd + r.nextInt((b.length - payloadEnd) / 8) * 8, interesting(r));
        } else {
            switch (r.nextInt(7)) {
                case 0 -> {
                    if (blocks.size() > 1) {
                        blocks.remove(i);
                    }
                }
                case 1 -> blocks.add(r.nextInt(blocks.size() + 1), b.clone());
                case 2 -> Collections.swap(blocks, i, r.nextInt(blocks.size()));
                case 3 -> blocks.set(i, java.util.Arrays.copyOf(b, r.nextInt(b.length + 1)));
                case 4 -> blocks.set(i, java.util.Arrays.copyOf(b, b.length + 8 * (1 + r.nextInt(64))));
                case 5 -> restart(image, i, r);
                default -> blocks.set(i, spliced(b, blocks.get(r.nextInt(blocks.size())), payloadEnd, r));
            }
        }
    }

    /** From here on the image is another attempt, which begins with some of its blocks. */
    private static void restart(RawImage image, int from, Random r) {
        List<byte[]> again = new ArrayList<>();
        for (int k = 0; k < image.blocks.size() && r.nextInt(6) != 0; k++) {
            again.add(image.blocks.get(k).clone());
        }
        image.blocks.addAll(from, again);
        for (int k = from; k < image.blocks.size(); k++) {
            byte[] b = image.blocks.get(k);
            if (b.length >= RawImage.HEADER) {
                ByteBuffer in = RawImage.of(b);
                in.putInt(RawImage.ATTEMPT, in.getInt(RawImage.ATTEMPT) + 1);
            }
        }
    }

    /** With a piece of another payload in its own. */
    private static byte[] spliced(byte[] b, byte[] other, int payloadEnd, Random r) {
        if (payloadEnd <= RawImage.HEADER || other.length <= RawImage.HEADER + 8) {
            return b;
        }
        int n = 8 * (1 + r.nextInt(Math.min(64, (other.length - RawImage.HEADER) / 8)));
        int from = RawImage.HEADER + r.nextInt((other.length - RawImage.HEADER - n) / 8 + 1) * 8;
        int at = RawImage.HEADER + r.nextInt((payloadEnd - RawImage.HEADER) / 8 + 1) * 8;
        ByteBuffer out = ByteBuffer.allocate(b.length + n).order(ByteOrder.LITTLE_ENDIAN);
        out.put(b, 0, at).put(other, from, n).put(b, at, b.length - at);
        out.putLong(RawImage.PAYLOAD, out.getLong(RawImage.PAYLOAD) + n);
        out.putInt(RawImage.OBJECTS, out.getInt(RawImage.OBJECTS) + r.nextInt(3));
        return out.array();
    }

    /** Lengths, order and checksums, so that most of what was altered is looked at further in. */
    private static void repair(RawImage image, Random r) {
        long sequence = -1;
        long attempt = -1;
        for (int i = 0; i < image.blocks.size(); i++) {
            byte[] b = image.blocks.get(i);
            if (b.length < RawImage.HEADER || r.nextInt(64) == 0) {
                continue;
            }
            ByteBuffer h = RawImage.of(b);
            long own = Integer.toUnsignedLong(h.getInt(RawImage.ATTEMPT));
            sequence = own > attempt ? 0 : sequence + 1;
            attempt = Math.max(attempt, own);
            if (r.nextInt(32) != 0) {
                h.putLong(RawImage.SEQUENCE, sequence);
            }
            long wanted = RawImage.HEADER
                    + up(h.getLong(RawImage.PAYLOAD))
                    + 8L * Integer.toUnsignedLong(h.getInt(RawImage.CROSS))
                    + 16L * Integer.toUnsignedLong(h.getInt(RawImage.LATE))
                    + up(4L * Integer.toUnsignedLong(h.getInt(RawImage.TYPES)))
                    + up(Integer.toUnsignedLong(h.getInt(RawImage.NAMED_BYTES)));
            if (wanted != b.length && wanted >= RawImage.HEADER && wanted < 1 << 17) {
                b = java.util.Arrays.copyOf(b, (int) wanted);
                image.blocks.set(i, b);
            }
            RawImage.repair(b);
        }
    }

    private static long up(long n) {
        return n + 7 & ~7L;
    }

    // ---- what landed

    /** Every reference is of its field's type; what the JDK's compiled code trusts is used. */
    private static void walk(Object root) {
        IdentityHashMap<Object, Object> met = new IdentityHashMap<>();
        Deque<Object> open = new ArrayDeque<>();
        open.add(root);
        while (!open.isEmpty()) {
            Object o = open.remove();
            if (o instanceof Class || o instanceof Enum || met.put(o, o) != null) {
                continue;
            }
            use(o);
            Class<?> c = o.getClass();
            if (o instanceof Object[] a) {
                for (Object e : a) {
                    follow(e, c.getComponentType(), open);
                }
                continue;
            }
            for (Class<?> k = c; k != null && !k.isArray(); k = k.getSuperclass()) {
                for (Field f : REFERENCES.get(k)) {
                    follow(Internals.getReference(o, Internals.offsetOf(f)), f.getType(), open);
                }
            }
        }
    }

    private static final ClassValue<List<Field>> REFERENCES = new ClassValue<>() {
        @Override
        protected List<Field> computeValue(Class<?> c) {
            List<Field> out = new ArrayList<>();
            for (Field f : Internals.fieldsOf(c)) {
                if (!Modifier.isStatic(f.getModifiers()) && !f.getType().isPrimitive()) {
                    out.add(f);
                }
            }
            return out;
        }
    };

    private static void follow(Object value, Class<?> declared, Deque<Object> open) {
        if (value != null) {
            if (!declared.isInstance(value)) {
                throw new AssertionError("a " + value.getClass() + " stands where a " + declared + " must");
            }
            open.add(value);
        }
    }

    private static int[] counts = new int[2];

    /** Altered numbers may make Java throw; they must not make it read elsewhere. */
    private static void use(Object o) {
        try {
            if (o instanceof String s) {
                counts[s.hashCode() & 1]++;
                counts[s.equals("text") ? 1 : 0]++;
                counts[s.indexOf("xt") & 1]++;
                counts[(s + "!").toUpperCase(java.util.Locale.ROOT).length() & 1]++;
            } else if (o instanceof StringBuilder b && b.length() < 1 << 16) {
                counts[b.append(12345).append('x').append("\u20ac").toString().length() & 1]++;
            } else if (o instanceof StringBuffer b && b.length() < 1 << 16) {
                counts[b.append(-7L).reverse().toString().length() & 1]++;
            } else if (o instanceof ByteBuffer b) {
                for (int i = 0; i < b.capacity(); i++) {
                    b.clear();
                    b.put(i, (byte) (b.get(i) + 1));
                }
            } else if (o instanceof IntBuffer b) {
                b.clear();
                for (int i = 0; i < b.capacity(); i++) {
                    b.put(i, b.get(i) + 1);
                }
            } else if (o instanceof CharBuffer b) {
                counts[b.toString().length() & 1]++;
            } else if (o instanceof boolean[] a) {
                for (boolean f : a) {
                    counts[f ? 1 : 0]++;
                }
            } else if (o instanceof Node n) {
                counts[n.flag ? 1 : 0]++;
            } else if (o instanceof BigInteger b) {
                counts[b.multiply(b).signum() & 1]++;
            } else if (o.getClass().isArray()) {
                counts[Array.getLength(o) & 1]++;
            }
        } catch (IndexOutOfBoundsException
                | NullPointerException
                | IllegalArgumentException
                | NegativeArraySizeException
                | ArithmeticException
                | java.nio.BufferUnderflowException
                | java.nio.BufferOverflowException
                | java.nio.ReadOnlyBufferException e) {
            counts[0]++;
        }
    }
}

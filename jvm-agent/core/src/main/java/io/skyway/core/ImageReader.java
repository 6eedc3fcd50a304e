package io.skyway.core;

import java.lang.reflect.Array;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/** Lands one image, block by block, in order. Every call comes from one thread. */
public final class ImageReader implements AutoCloseable {
    // Results, in the order of reader.h.
    private static final int OK = 0;
    private static final int NOT_YOUNG = 1;
    private static final int PAIRS = 2;
    private static final int AGAIN = 4;
    private static final int EXPORTS = 5;

    // Fields of Reader::Found.
    private static final int RESULT = 0;
    private static final int KIND = 1;
    private static final int FLAGS = 2;
    private static final int CHUNK_WORDS = 4;
    private static final int SEGMENT = 5;
    private static final int LATE = 6;
    private static final int NAMED = 7;
    private static final int NAMED_BYTES = 8;
    private static final int RESTARTED = 9;
    private static final int ARRAY_LENGTH = 11;
    private static final int ARRAY_TYPE = 12;
    private static final int ARRAY_HASH = 13;
    private static final int MISSING = 14;
    private static final int FULL_WORDS = 15;

    private static final int PIECE = 1;
    private static final int LAST = 1;
    private static final int ALONE = 2;
    private static final int TARGETS_AT_ONCE = 4096;

    private static final AtomicLong CHUNKS_RETRIED = new AtomicLong();

    private final Engine engine;
    private final ReaderOptions options;
    private final TypeScope scope;
    private final HeapGuard guard = new HeapGuard();
    private final Windows.Timing timing = new Windows.Timing();
    private final long[] found = new long[16];
    private final long[] pin = new long[1];

    private long reader;
    private Object[] spine = new Object[16];
    private Object[] names = new Object[16];
    private int nameCount;
    private boolean handlesStale = true;
    private boolean complete;
    // Whether a named object has a hash that is this process's own.
    private boolean ownHashes;
    private final List<long[]> standInStores = new ArrayList<>();
    private boolean failed;
    // Of a stream: objects of its earlier images, which are this one's first names.
    private final ReceivedObjects received;
    private final BitSet larges = new BitSet();
    private Object[] made = new Object[0];
    private Object[] envelope;
    private boolean rootIsNone;
    // Those of them that no one else in this process has.
    private final List<Object> fresh = new ArrayList<>();
    private Object alone;
    private long imageBytes;
    private long segments;
    private long chunksRetried;
    private long nanos;
    private final NativeMeter memory = new NativeMeter();

    ImageReader(Engine engine, ReaderOptions options) {
        this(engine, options, engine.scope(options), null);
    }

    /** For an image of a stream, which keeps the scope and the objects of earlier images. */
    ImageReader(Engine engine, ReaderOptions options, TypeScope scope, ReceivedObjects received) {
        this.engine = engine;
        this.options = options;
        this.scope = scope;
        this.received = received;
        if (received != null) {
            names = received.objects;
            nameCount = received.count;
            ownHashes = received.count != 0;
        }
        this.reader = Native.readerNew(scope.handle(), options.imageId(), engine.layoutBits(), pin);
    }

    static long chunksRetriedOfAll() {
        return CHUNKS_RETRIED.get();
    }

    /**
     * Checks and lands one block; its memory may be reused when this returns. A block of a new attempt drops what was
     * landed before.
     *
     * @throws SkywayException of kind BAD_IMAGE, CLASS_MISSING, LAYOUT_MISMATCH or HEAP_FULL; nothing of the image can
     *     be had from this reader any more
     */
    public void accept(long address, int length) {
        long start = System.nanoTime();
        usable();
        complete = false;
        failed = true;
        try {
            land(address, length);
            failed = false;
        } finally {
            nanos += System.nanoTime() - start;
            memory.hold(Native.readerNativeBytes(reader), Native.readerMostBytes(reader));
        }
    }

    private void usable() {
        // What a failed block left half done must not become a graph: a reference that it was to tell would be null.
        if (failed) {
            throw new SkywayException(
                    SkywayException.Kind.BAD_IMAGE, "an earlier block of this image was refused; send it anew");
        }
    }

    private void land(long block, int length) {
        Native.readerCheck(reader, block, length, found);
        expect((int) found[RESULT]);
        if (found[RESTARTED] != 0) {
            Arrays.fill(spine, null);
            int kept = received == null ? 0 : received.count;
            Arrays.fill(names, kept, names.length, null);
            nameCount = kept;
            larges.clear();
            ownHashes = kept != 0;
            standInStores.clear();
            alone = null;
            imageBytes = 0;
            segments = 0;
            guard.restart();
        }
        imageBytes += length;
        if (found[MISSING] != 0) {
            scope.bind(Native.readerMissing(reader), options);
        }
        if (found[NAMED_BYTES] != 0) {
            resolveNames(Native.readerNames(reader, block, (int) found[NAMED_BYTES]), (int) found[NAMED]);
        }
        int segment = (int) found[SEGMENT];
        if (segment >= spine.length) {
            spine = Arrays.copyOf(spine, Math.max(segment + 1, spine.length * 2));
            handlesStale = true;
        }
        refreshHandles();
        if (found[KIND] == PIECE) {
            piece(block, segment);
        } else {
            segment(block, segment);
        }
        complete = (found[FLAGS] & LAST) != 0;
    }

    private void refreshHandles() {
        if (handlesStale) {
            Native.readerHandles(reader, spine, names);
            handlesStale = false;
        }
    }

    private void segment(long block, int segment) {
        boolean exports = (found[FLAGS] & ALONE) == 0;
        int words = chunkWords(CHUNK_WORDS);
        long[] chunk = guard.allocate(words);
        for (int tries = 1; ; ) {
            int r = engine.windows.run(Native.LAND, reader, block, 0, chunk, timing);
            if (r == OK) {
                break;
            }
            if (r == PAIRS) {
                answerPairs();
            } else if (r == EXPORTS) {
                exports = true;
                words = chunkWords(FULL_WORDS);
            } else if (r == NOT_YOUNG) {
                // A collection came between the allocation and the window.
                chunksRetried++;
                CHUNKS_RETRIED.incrementAndGet();
                if (++tries % 64 == 0) {
                    Thread.yield();
                }
            } else {
                expect(r);
            }
            chunk = guard.allocate(words);
        }
        segments++;
        if (!exports) {
            alone = Native.readerHolder(reader);
        } else {
            spine[segment] = Native.readerHolder(reader);
        }
        if (found[LATE] != 0) {
            late(block);
        }
    }

    private int chunkWords(int which) {
        // A larger array is never young (on G1 it is humongous), so that it would be allocated again without end.
        if (found[which] * Long.BYTES > engine.layout().maxSegmentBytes()) {
            throw new SkywayException(
                    SkywayException.Kind.BAD_IMAGE,
                    "a segment of " + found[which] * Long.BYTES + " bytes is larger than this heap can carve ("
                            + engine.layout().maxSegmentBytes() + "): the image was written for another receiver");
        }
        return (int) found[which];
    }

    private void late(long block) {
        for (; ; ) {
            int r = engine.windows.run(Native.LATE, reader, block, 0, pin, timing);
            javaStores();
            long[] later = Native.readerStandIns(reader);
            if (later != null) {
                standInStores.add(later);
            }
            if (r == OK) {
                return;
            }
            if (r == PAIRS) {
                answerPairs();
            } else if (r != AGAIN) {
                expect(r);
            }
        }
    }

    /** References into objects that have left the young generation: stored here, with the collector's barriers. */
    private void javaStores() {
        long[] s = Native.readerStores(reader);
        if (s == null) {
            return;
        }
        for (int i = 0; i < s.length; i += 5) {
            Object value;
            if (s[i + 3] < 0) {
                value = names[(int) s[i + 4]];
            } else {
                Object in = spine[(int) s[i + 3]];
                value = s[i + 4] < 0 ? in : ((Object[]) in)[(int) s[i + 4]];
            }
            Object[] holder = (Object[]) spine[(int) s[i]];
            if (s[i + 2] < 0) {
                holder[(int) s[i + 1]] = value;
            } else {
                Internals.putReference(holder[(int) s[i + 1]], s[i + 2], value);
            }
        }
    }

    private void answerPairs() {
        for (long p : Native.readerPairs(reader)) {
            int declared = (int) (p >>> 32);
            int plan = (int) p;
            boolean yes = engine.types.declaredClass(declared).isAssignableFrom(engine.types.byPlan(plan).javaClass);
            if (!Native.setAssignable(declared, plan, yes)) {
                throw new SkywayException(SkywayException.Kind.INTERNAL, "too many classes in this process");
            }
        }
    }

    private void piece(long block, int segment) {
        expect(Native.readerKeepPiece(reader, block));
        long elements = Native.readerLarge(reader, segment);
        if (elements == 0) {
            return;
        }
        int count = (int) found[ARRAY_LENGTH];
        Class<?> component = scope.type((int) found[ARRAY_TYPE]).javaClass.getComponentType();
        int scale = Internals.arrayScale(component.arrayType());
        Object array = guard.allocateArray(component, count, (long) count * scale);
        if (array instanceof Object[] a) {
            fill(a, component, segment);
        } else {
            Internals.copyToArray(elements, array, Internals.arrayBase(array.getClass()), (long) count * scale);
        }
        if (found[ARRAY_HASH] != 0) {
            long held = Native.hold(array);
            try {
                engine.windows.run(Native.STAMP, held, found[ARRAY_HASH], 0, pin, timing);
            } finally {
                Native.unhold(held);
            }
        }
        spine[segment] = array;
        larges.set(segment);
        Native.readerLandedLarge(reader, segment);
        segments++;
    }

    /** By way of a young array, which a window can fill without barriers, and one bulk copy with them. */
    private void fill(Object[] array, Class<?> component, int segment) {
        for (int from = 0; from < array.length; ) {
            int n = Math.min(TARGETS_AT_ONCE, array.length - from);
            Object[] temporary = (Object[]) Array.newInstance(component, n);
            Native.readerTemporary(reader, temporary);
            int r = engine.windows.run(Native.TARGETS, reader, segment, (long) from << 32 | n, pin, timing);
            if (r == OK) {
                System.arraycopy(temporary, 0, array, from, n);
                from += n;
            } else if (r == PAIRS) {
                answerPairs();
            } else if (r != NOT_YOUNG) {
                expect(r);
            }
        }
        Native.readerTemporary(reader, null);
    }

    private void resolveNames(byte[] text, int count) {
        if (nameCount + count > names.length) {
            names = Arrays.copyOf(names, Math.max(nameCount + count, names.length * 2));
            handlesStale = true;
        }
        int at = 0;
        for (int i = 0; i < count; i++) {
            int n = at + 2 <= text.length ? (text[at] & 0xff) | (text[at + 1] & 0xff) << 8 : -1;
            if (n < 0 || at + 2 + n > text.length) {
                throw new SkywayException(SkywayException.Kind.BAD_IMAGE, "a block's list of names is cut short");
            }
            String name = new String(text, at + 2, n, StandardCharsets.UTF_8);
            names[nameCount++] = scope.named(name, options);
            ownHashes |= HashRepair.isOwn(names[nameCount - 1]);
            at += 2 + n;
        }
    }

    private void expect(int result) {
        if (result != OK) {
            throw new SkywayException(SkywayException.Kind.BAD_IMAGE, Native.readerError(reader));
        }
    }

    /** True when the last block was accepted. */
    public boolean complete() {
        return complete;
    }

    /**
     * The graph's root.
     *
     * @throws SkywayException of kind BAD_IMAGE when blocks or references are missing
     */
    public Object finish() {
        long start = System.nanoTime();
        long[] root = new long[2];
        usable();
        if (!complete) {
            throw new SkywayException(SkywayException.Kind.BAD_IMAGE, "the image ends before its last block");
        }
        if (!Native.readerRoot(reader, root)) {
            throw new SkywayException(SkywayException.Kind.BAD_IMAGE, Native.readerError(reader));
        }
        Object o;
        if (root[0] < 0) {
            o = names[(int) root[1]];
        } else if (alone != null) {
            o = alone;
        } else {
            Object in = spine[(int) root[0]];
            o = root[1] < 0 ? in : ((Object[]) in)[(int) root[1]];
        }
        if (o == null && root[0] < 0 && root[1] < nameCount && received != null) {
            throw new SkywayException(
                    SkywayException.Kind.CLASS_MISSING, "the object was read before as an unshared one, or was none");
        }
        if (o == null) {
            throw new SkywayException(SkywayException.Kind.BAD_IMAGE, "the graph's root is no object");
        }
        // Before any code of the application sees them.
        long[] places = Native.readerArrivals(reader);
        for (long place : places) {
            Object landed = arrival(place);
            if (Trusted.needsSettling(landed.getClass())) {
                Trusted.settle(landed);
            }
        }
        o = resolveStandIns(o);
        // As with Java's streams, a replacement may be none; a graph that has a name must be one.
        if (o == null && (received == null || !rootIsNone)) {
            throw new SkywayException(SkywayException.Kind.BAD_IMAGE, "the graph's root is no object");
        }
        arrived(places);
        if (received != null) {
            keep();
        }
        nanos += System.nanoTime() - start;
        return o;
    }

    /** The objects in the order in which the sender notes them: by segment, then what was made from stand-ins. */
    private void keep() {
        if (alone != null) {
            throw new SkywayException(SkywayException.Kind.BAD_IMAGE, "an image of a stream has no exports");
        }
        received.names(names, nameCount);
        for (int s = 0; s < spine.length; s++) {
            if (larges.get(s)) {
                received.add(spine[s]);
            } else if (spine[s] != null) {
                received.addAll((Object[]) spine[s]);
            }
        }
        received.addAll(made);
    }

    /** Makes what the stand-ins stand for, and stores it where the graph refers to it. @return the graph's root */
    private Object resolveStandIns(Object root) {
        if (!Native.readerEnvelope(reader)) {
            if (!standInStores.isEmpty()) {
                throw new SkywayException(
                        SkywayException.Kind.BAD_IMAGE, "the image has no stand-ins, but refers to some");
            }
            return root;
        }
        if (root == null || root.getClass() != Object[].class) {
            throw new SkywayException(SkywayException.Kind.BAD_IMAGE, "the image's envelope is none");
        }
        envelope = (Object[]) root;
        Map<Integer, List<long[]>> stores = new HashMap<>();
        for (long[] s : standInStores) {
            for (int i = 0; i < s.length; i += 5) {
                stores.computeIfAbsent((int) s[i + 4], k -> new ArrayList<>()).add(Arrays.copyOfRange(s, i, i + 5));
            }
        }
        ownHashes = true;
        if (envelope.length == 0 || stores.keySet().stream().anyMatch(p -> p <= 0 || p >= envelope.length)) {
            throw new SkywayException(SkywayException.Kind.BAD_IMAGE, "the image's envelope lacks stand-ins");
        }
        made = new Object[Math.max(envelope.length - 1, 0)];
        List<Runnable> later = new ArrayList<>();
        StandIns.follow(envelope, stores, this::holder);
        StandIns.Begun begun = new StandIns.Begun(envelope);
        stores.forEach((place, list) -> {
            for (long[] s : list) {
                if (begun.isValues(holder(s))) {
                    storeMade(s, begun.refer(envelope[place]));
                }
            }
        });
        for (int place : StandIns.order(envelope, stores, this::holder)) {
            Object o = StandIns.resolve(envelope[place], scope.loader(), begun, later, fresh);
            made[place - 1] = o;
            if (received != null && o != null) {
                engine.types.type(o.getClass()); // later images may name it, and its class must be known then
            }
            for (long[] s : stores.getOrDefault(place, List.of())) {
                storeMade(s, o);
            }
        }
        begun.close();
        later.forEach(Runnable::run);
        return envelope[0];
    }

    private void storeMade(long[] s, Object value) {
        Class<?> declared = engine.types.declaredClass((int) s[3]);
        if (value != null && !declared.isInstance(value)) {
            throw new SkywayException(
                    SkywayException.Kind.BAD_IMAGE,
                    "an object of " + value.getClass().getName() + " was made on arrival for a field of type "
                            + declared.getName());
        }
        Object holder = holder(s);
        rootIsNone |= value == null && holder == envelope && s[1] == 0;
        if (s[2] < 0) {
            ((Object[]) holder)[(int) s[1]] = value;
        } else {
            Internals.putReference(holder, s[2], value);
        }
    }

    /** The object that a made object is stored into. */
    private Object holder(long[] s) {
        Object in = spine[(int) s[0]];
        return s[2] < 0 ? in : ((Object[]) in)[(int) s[1]];
    }

    /** Hash tables that go by this process's hashes are rebuilt; then the application's hooks run. */
    private void arrived(long[] places) {
        fresh.forEach(this::putInOrder);
        // The image goes from the root down: what is inside of a table comes after it, and must be right before it.
        for (int i = places.length - 1; i >= 0; i--) {
            putInOrder(arrival(places[i]));
        }
        if (engine.types.rules.hasHooks()) {
            for (int i = places.length - 1; i >= 0; i--) {
                engine.types.rules.arrived(arrival(places[i]));
            }
            fresh.forEach(engine.types.rules::arrived);
        }
    }

    private void putInOrder(Object o) {
        Class<?> c = o.getClass();
        // A boxed value has the same hash everywhere, but not the same identity.
        if (HashRepair.handles(c)) {
            if (ownHashes || HashRepair.isSalted(c) || nameCount > 0 && o instanceof IdentityHashMap) {
                HashRepair.repair(o);
            }
        } else if ((ownHashes || nameCount > 0)
                && ForeignTables.handles(c)
                && (ownHashes || ForeignTables.byIdentity(c))
                && !engine.types.rules.isHooked(c)) {
            ForeignTables.repair(o);
        }
    }

    private Object arrival(long place) {
        return ((Object[]) spine[(int) (place >>> 32)])[(int) place];
    }

    public LandReport report() {
        return new LandReport(
                Native.readerObjects(reader),
                imageBytes,
                segments,
                Native.readerLateTotal(reader),
                chunksRetried,
                timing.windows,
                timing.nanos,
                timing.longest,
                nanos);
    }

    /** Lets go of everything; the graph lives on if {@link #finish} handed it out. */
    @Override
    public void close() {
        if (reader != 0) {
            engine.windows.total(timing);
            Native.readerFree(reader);
            reader = 0;
            if (options.allowed() != null && received == null) {
                scope.free();
            }
            memory.release();
        }
    }
}

package io.skyway.core;

import java.lang.instrument.Instrumentation;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** The raw engine of this process: asks the VM how it lays objects out, and copies graphs out of and into its heap. */
public final class Engine {
    private static final int MOST_SEGMENT_BYTES = 640 << 10;
    /** What every heap can carve. */
    static final int LEAST_SEGMENT_BYTES = 64 << 10;

    private static String collectorName = "unknown";

    final Windows windows;
    final TypeTable types;
    private final Layout layout;
    private final long layoutBits;
    private final Map<ClassLoader, TypeScope> scopes = new WeakHashMap<>();
    // Held for reading while an image is written whose ids must all mean the same.
    private final ReadWriteLock idsStand = new ReentrantReadWriteLock();

    private Engine(Instrumentation instrumentation, Path library) {
        long[] facts = Native.facts();
        this.windows = Windows.forThisVm(collectorName, library);
        this.types = new TypeTable(facts[5], instrumentation::getAllLoadedClasses);
        long objectArrayKey = Native.klass(Internals.getLong(Object[].class, facts[5]))[2];
        Native.bases(Internals.arrayBase(long[].class), Internals.arrayBase(Object[].class), objectArrayKey);
        this.layout = layout(facts);
        this.layoutBits =
                ByteBuffer.wrap(HexFormat.of().parseHex(layout.fingerprint())).getLong();
        types.useIds(new LocalTypeIds());
    }

    /**
     * Loads the native library, learns the VM's layout and runs the preflight: a small graph is copied, carved into
     * this heap and read back.
     *
     * @throws SkywayException of kind ENGINE_REFUSED, with the reason and what to do
     */
    @SuppressWarnings("restricted") // loading a library, as javac calls it since 24
    public static synchronized Engine start(Instrumentation instrumentation, Path library) {
        Internals.Door.open(instrumentation);
        try {
            System.load(library.toAbsolutePath().toString());
        } catch (UnsatisfiedLinkError e) {
            throw new SkywayException(
                    SkywayException.Kind.ENGINE_REFUSED, "the native library cannot be loaded: " + e.getMessage(), e);
        }
        String refusal = Native.learn();
        collectorName = Native.collector();
        if (refusal != null) {
            throw new SkywayException(SkywayException.Kind.ENGINE_REFUSED, collectorName + ": " + refusal);
        }
        Engine e = new Engine(instrumentation, library);
        Preflight.run(e);
        return e;
    }

    /** Name of this VM's collector, as far as it was asked: known also after a refusal. */
    public static synchronized String collectorName() {
        return collectorName;
    }

    public String collector() {
        return collectorName();
    }

    public Layout layout() {
        return layout;
    }

    long layoutBits() {
        return layoutBits;
    }

    private static Layout layout(long[] facts) {
        String[] klassModes = {"compressed", "full", "in the mark word"};
        Map<String, String> e = new LinkedHashMap<>();
        e.put("Java feature release", String.valueOf(Runtime.version().feature()));
        e.put("architecture", System.getProperty("os.arch"));
        e.put("compressed oops (UseCompressedOops)", String.valueOf(facts[0] != 0));
        e.put("class pointers (UseCompressedClassPointers, UseCompactObjectHeaders)", klassModes[(int) facts[1]]);
        e.put("identity hash at bit", String.valueOf(facts[2]));
        e.put("object alignment (ObjectAlignmentInBytes)", String.valueOf(facts[3]));
        e.put("array length at byte", String.valueOf(facts[4]));
        for (Class<?> c : List.of(byte[].class, int[].class, long[].class, Object[].class)) {
            e.put(c.getSimpleName() + " elements at byte", String.valueOf(Internals.arrayBase(c)));
        }
        String print = HexFormat.of().formatHex(TypeTable.sha256(e.toString())).substring(0, 16);
        long heap = Runtime.getRuntime().maxMemory();
        long most = Math.min(MOST_SEGMENT_BYTES, heap / 48);
        if (facts[7] != 0) {
            // An array of more than half a region is humongous, and that is not young.
            most = Math.min(most, facts[7] / 2 - 64);
        }
        return new Layout(print, Map.copyOf(e), (int) Math.max(most & ~7, LEAST_SEGMENT_BYTES));
    }

    /** What the application says about its classes. */
    public FidelityRules rules() {
        return types.rules;
    }

    /** Where global type ids come from; not while transfers run. */
    public void useTypes(TypeIds ids) {
        idsStand.writeLock().lock();
        try {
            synchronized (scopes) {
                scopes.clear();
            }
            types.useIds(ids);
            types.registerAll();
        } finally {
            idsStand.writeLock().unlock();
        }
    }

    /** While it is held, the ids of types stay as they are. */
    Lock idsStand() {
        return idsStand.readLock();
    }

    /** A writer whose blocks go to the pool. */
    public ImageWriter newWriter(SlotPool pool, WriterOptions options) {
        int most = Math.min(options.maxSegmentBytes(), layout.maxSegmentBytes());
        if (SlotPool.slotBytesFor(most) > pool.slotBytes()) {
            throw new SkywayException(SkywayException.Kind.USAGE, "the pool's slots are too small for the segments");
        }
        return new ImageWriter(
                this, pool, new WriterOptions(most, options.maxPauseNanos(), options.consistent(), options.imageId()));
    }

    public ImageReader newReader(ReaderOptions options) {
        return new ImageReader(this, options);
    }

    /** The loader of the options, or the thread's, or the system's. */
    static ClassLoader loader(ReaderOptions options) {
        ClassLoader l = options.loader() != null
                ? options.loader()
                : Thread.currentThread().getContextClassLoader();
        return l != null ? l : ClassLoader.getSystemClassLoader();
    }

    TypeScope scope(ReaderOptions options) {
        ClassLoader use = loader(options);
        if (options.allowed() != null) {
            // What another reader was allowed to land says nothing about this one.
            return new TypeScope(types, use);
        }
        synchronized (scopes) {
            return scopes.computeIfAbsent(use, k -> new TypeScope(types, k));
        }
    }

    public EngineStatistics statistics() {
        return new EngineStatistics(
                NativeMeter.now(),
                NativeMeter.peak(),
                windows.windows(),
                windows.nanos(),
                windows.longest(),
                ImageReader.chunksRetriedOfAll(),
                types.count());
    }

    /**
     * A copy of a graph in this heap, by way of an image: what two linked VMs do, in one.
     *
     * @throws SkywayException as {@link ImageWriter#write} and {@link ImageReader#accept}
     */
    public Object copy(Object root) {
        try (SlotPool pool = SlotPool.anonymous(this, SlotPool.slotBytesFor(layout.maxSegmentBytes()), 1 << 20);
                ImageWriter writer = newWriter(pool, new WriterOptions(layout.maxSegmentBytes(), 0, 1));
                ImageReader reader = newReader(new ReaderOptions(null, null, 1))) {
            writer.write(root);
            List<Block> blocks = new ArrayList<>();
            for (Block b = writer.take(0); b != null; b = writer.take(0)) {
                blocks.add(b);
            }
            for (Block b : blocks) {
                reader.accept(b.address(), b.length());
                pool.release(b.slot());
            }
            return reader.finish();
        }
    }
}

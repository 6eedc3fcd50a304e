package io.skyway.core;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * Writes the image of one graph after another.
 *
 * <p>{@link #write} runs on the walking thread, {@link #take} on the shipping thread, at the same time. Whoever owns
 * the pool releases a block's slot when the receiver is done with it: that is the back-pressure.
 */
public final class ImageWriter implements AutoCloseable {
    /** Walks begun again after a collection, before the last one is finished in a single window. */
    private static final int MOST_RESTARTS = 2;

    /** Walks of one image of a stream that a collection followed before its objects were noted. */
    private static final int MOST_MOVED = 100;

    /** Objects that Java must look at in one visit, 4 to the power of some times 64; each is a root for collections. */
    private static final int MOST_HOLDERS = 1 << 18;

    // Results of a step, in the order of writer.h.
    static final int DONE = 0;
    private static final int YIELD = 1;
    private static final int NEED_SLOT = 2;
    static final int MOVED = 3;
    private static final int STOPPED = 4;
    private static final int CANCELLED = 5;
    private static final int NO_MEMORY = 6;
    private static final int WIDER = 7;
    private static final int TOO_LARGE = 8;

    // How to step: Writer::Manner.
    private static final int LAST = 1;
    private static final int BLOCKWISE = 2;
    private static final int SHIPPED = 4;

    private final Engine engine;
    private final SlotPool pool;
    private final long maxPauseNanos;
    private final boolean consistent;
    private final long[] pin = new long[1];
    private final long[] taken = new long[3];
    private long imageId;
    private long writer;
    private final NativeMeter memory = new NativeMeter();
    private int holders = 64;
    private boolean hadStandIns;
    private SentObjects sent;
    private Object unshared;

    ImageWriter(Engine engine, SlotPool pool, WriterOptions options) {
        this.engine = engine;
        this.pool = pool;
        this.imageId = options.imageId();
        this.maxPauseNanos = options.maxPauseNanos() == 0 ? WriterOptions.DEFAULT_PAUSE_NANOS : options.maxPauseNanos();
        this.consistent = options.consistent();
        this.writer = Native.writerNew(pool.retain(), options.maxSegmentBytes(), engine.layoutBits(), pin);
    }

    /** The next image's id; an image that follows with the same id would be refused as a replay. */
    public void imageId(long id) {
        imageId = id;
    }

    /**
     * Walks the graph and writes its image; returns when the last block is finished. Waits, outside of windows, while
     * all slots are in use.
     *
     * @throws GraphRefusedException when objects are bound to this process
     * @throws SkywayException of kind CANCELLED after {@link #cancel}, HEAP_FULL when native memory is short
     */
    public SendReport write(Object root) {
        return write(root, null);
    }

    /**
     * As {@link #write(Object)}, with a visit to the shipper after each window.
     *
     * @param shipper the time that it takes is not part of the report's. Null: nobody takes blocks before the end
     */
    public SendReport write(Object root, Shipper shipper) {
        if (root == null) {
            throw new SkywayException(SkywayException.Kind.USAGE, "the graph's root is null");
        }
        int moved = 0;
        int sources = 0;
        Windows.Timing timing = new Windows.Timing();
        long start = System.nanoTime();
        long waited = 0;
        int restarts = 0;
        StandIns standIns = new StandIns(root);
        Set<Object> traced = Collections.newSetFromMap(new IdentityHashMap<>());
        if (hadStandIns) {
            Native.writerStandIns(writer, root, null);
            hadStandIns = false;
        }
        Native.writerBegin(writer, imageId, root);
        // In a stream a singleton is one wherever it stands, as with Java's own.
        Native.writerCopied(writer, sent != null || Policy.isPlatform(root.getClass()) ? null : root);
        prepare();
        try {
            for (; ; ) {
                boolean last = restarts >= MOST_RESTARTS;
                int manner = last ? LAST : shipper != null ? BLOCKWISE : 0;
                if (last && shipper != null && !consistent) {
                    shipper.beforeLongWindow();
                    manner |= SHIPPED;
                }
                boolean noting = moved > 0 && SentObjects.fewEnough(sources);
                Object[][] parts = noting ? sent.parts(writer, sources + sources / 8) : null;
                int r = noting
                        ? engine.windows.run(Native.WALK_AND_NOTE, writer, 0, 0, pin, timing)
                        : consistent
                                ? atSafepoint(timing)
                                : engine.windows.run(
                                        Native.STEP, writer, last ? 0 : maxPauseNanos, manner, pin, timing);
                if (shipper != null) {
                    long from = System.nanoTime();
                    shipper.betweenWindows();
                    waited += System.nanoTime() - from;
                }
                measure();
                switch (r) {
                    case DONE:
                        if (sent != null && !sent.collect(writer, parts, standIns, unshared, engine.windows, timing)) {
                            moved = moved(moved);
                            sources = Math.max(sources, Native.writerSources(writer));
                            restart();
                            break;
                        }
                        return report(restarts, timing, System.nanoTime() - start - waited);
                    case YIELD:
                        break;
                    case NEED_SLOT: {
                        long from = System.nanoTime();
                        pool.awaitRelease(2);
                        waited += System.nanoTime() - from;
                        break;
                    }
                    case MOVED:
                        restarts++;
                        if (noting) {
                            moved = moved(moved);
                            sources = Math.max(sources, Native.writerSources(writer));
                        }
                        restart();
                        break;
                    case WIDER:
                        restart();
                        break;
                    case STOPPED: {
                        Object[] found = Native.writerFound(writer);
                        List<Object> refused = engine.types.learn(found, standIns, traced);
                        if (!refused.isEmpty()) {
                            throw refused(root, refused);
                        }
                        if (!standIns.isEmpty()) {
                            hadStandIns = true;
                            Native.writerStandIns(writer, standIns.envelope(), standIns.originals());
                        }
                        if (found.length == holders && holders < MOST_HOLDERS) {
                            // Each visit is a walk from the beginning: their number must not grow with the graph.
                            holders *= 4;
                            Native.writerHolders(writer, holders, pin);
                        }
                        restart();
                        break;
                    }
                    case CANCELLED:
                        throw new SkywayException(SkywayException.Kind.CANCELLED, "the transfer was cancelled");
                    case NO_MEMORY:
                        throw new SkywayException(
                                SkywayException.Kind.HEAP_FULL,
                                "memory for the image's blocks is short after " + Native.writerObjects(writer)
                                        + " objects: shared memory is full or limited, or the process is short of"
                                        + " memory outside of its heap. TCP needs no shared memory");
                    case TOO_LARGE: {
                        Object[] large = Native.writerFound(writer);
                        throw new SkywayException(
                                SkywayException.Kind.GRAPH_REFUSED,
                                "an object of "
                                        + (large.length == 0
                                                ? "a class"
                                                : large[0].getClass().getName()) + " is larger than a segment");
                    }
                    default:
                        throw new SkywayException(SkywayException.Kind.INTERNAL, "the engine answered " + r);
                }
            }
        } finally {
            if (sent != null) {
                Native.writerParts(writer, null);
            }
            engine.windows.total(timing);
            measure();
        }
    }

    private void measure() {
        long now = Native.writerNativeBytes(writer);
        memory.hold(now, now);
    }

    private int atSafepoint(Windows.Timing timing) {
        long from = System.nanoTime();
        int r = Native.stepAtSafepoint(writer);
        timing.add(System.nanoTime() - from);
        if (r < 0) {
            throw new SkywayException(
                    SkywayException.Kind.ENGINE_REFUSED,
                    "this VM does not let the engine copy at a safepoint (JVMTI's can_tag_objects); transfer without"
                            + " consistent");
        }
        return r;
    }

    private static int moved(int times) {
        if (times + 1 == MOST_MOVED) {
            throw new SkywayException(
                    SkywayException.Kind.HEAP_FULL,
                    "collections follow each other so closely that what was sent cannot be noted; give the process more"
                            + " heap, or write smaller graphs");
        }
        return times + 1;
    }

    private void restart() {
        Native.writerRestart(writer);
        prepare();
    }

    private void prepare() {
        Native.writerNamed(writer);
        if (sent != null) {
            sent.prepare(writer, unshared);
        }
    }

    /**
     * For an image of a stream: references to objects of the stream's earlier images name them, and the objects of this
     * one are added to them when it is written.
     *
     * @param newObject one that is sent anew, although it may have been sent before, and is not noted; or null
     */
    void continues(SentObjects earlier, Object newObject) {
        sent = earlier;
        unshared = newObject;
    }

    private GraphRefusedException refused(Object root, List<Object> refused) {
        List<Refusal> refusals = new GraphPaths(engine.types).refusals(root);
        if (refusals.isEmpty()) {
            // The application changed the graph in between, or it is too large to search.
            refusals = refused.stream()
                    .map(o -> new Refusal("root...", o.getClass().getName(), why(o)))
                    .toList();
        }
        return new GraphRefusedException(refusals);
    }

    private String why(Object o) {
        String r = engine.types.type(o.getClass()).refusal;
        return r == null ? "it exists only in its process" : r;
    }

    private SendReport report(int restarts, Windows.Timing timing, long nanos) {
        long[] c = new long[6];
        Native.writerCounts(writer, c);
        return new SendReport(
                c[0], c[1], c[2], c[3], c[4], restarts, timing.windows, timing.nanos, timing.longest, nanos);
    }

    /**
     * The next finished block, in order; null when none is finished in time, after the last one, and after {@link
     * #cancel}.
     */
    public Block take(long timeoutMillis) {
        if (Native.writerTake(writer, timeoutMillis, taken) != 1) {
            return null;
        }
        int slot = (int) taken[0];
        int length = (int) taken[1];
        return new Block(slot, pool.address(slot, length), length, taken[2] != 0);
    }

    /** Objects copied so far in this attempt; any thread may ask. */
    public long objectsSoFar() {
        return Native.writerObjects(writer);
    }

    /** Ends {@link #write} with CANCELLED, a running one and each that is yet to begin. Any thread may call it. */
    public void cancel() {
        Native.writerCancel(writer);
    }

    /** Gives native memory back; blocks that nobody took go back to the pool. Not while {@link #write} runs. */
    @Override
    public void close() {
        if (writer != 0) {
            Native.writerFree(writer);
            writer = 0;
            memory.release();
            pool.drop();
        }
    }
}

package io.skyway.core;

/** The native engine's functions; natives.cpp says what each does. Everything that may run in a window is an {@link #STEP op}. */
final class Native {
    static final int STEP = 1;
    static final int LAND = 2;
    static final int LATE = 3;
    static final int TARGETS = 4;
    static final int STAMP = 5;
    static final int NOTE = 6;
    static final int WALK_AND_NOTE = 7;

    private Native() {}

    static native int critical(int op, long self, long a, long b, long[] array);

    static native String learn();

    static native String collector();

    static native long[] facts();

    static native void bases(int longArray, int refArray, long objectArrayKey);

    static native long[] klass(long klass);

    static native int[] oopMap(long klass);

    static native int collections();

    static native int addPlan(
            long key,
            int kind,
            int elementShift,
            int bytes,
            int arrayBase,
            int[] offsets,
            int[] declared,
            int[] cleared,
            int[] limits,
            int traits);

    static native void setTypeId(int plan, int typeId);

    static native void setMayBeNamed(int plan, int boxWidth, int boxOffset, long lo, long hi);

    static native void setTrace(int plan, int backtraceAt, int stackTraceAt);

    static native void setArrival(int plan, boolean arrival);

    static native int addDeclared();

    static native boolean setAssignable(int declared, int plan, boolean yes);

    static native long newScope();

    static native void freeScope(long scope);

    static native boolean bindType(long scope, int typeId, int plan);

    static native void addNamed(Object[] array, byte[][] names);

    static native long poolCreate(long slotBytes, int slots, boolean shared);

    static native long poolOpen(long pid, int fd, long slotBytes);

    static native void poolClose(long pool);

    static native long poolAcquire(long pool);

    static native void poolRelease(long pool, int slot);

    static native long poolAddress(long pool, int slot, long length);

    static native int poolFd(long pool);

    static native int poolInUse(long pool);

    static native long slotBytesFor(long maxSegmentBytes);

    static native int stepAtSafepoint(long writer);

    static native long writerNew(long pool, int maxSegmentBytes, long layout, Object filler);

    static native void writerFree(long writer);

    static native void writerBegin(long writer, long imageId, Object root);

    static native void writerStandIns(long writer, Object root, Object[] originals);

    static native void writerSent(long writer, Object[] sent, int count, Object unshared);

    static native int writerSources(long writer);

    static native void writerParts(long writer, Object[][] parts);

    static native void writerCopied(long writer, Object object);

    static native void writerRestart(long writer);

    static native void writerNamed(long writer);

    static native Object[] writerFound(long writer);

    static native void writerHolders(long writer, int count, Object filler);

    static native void writerCounts(long writer, long[] out);

    static native long writerObjects(long writer);

    static native void writerCancel(long writer);

    static native int writerTake(long writer, long timeoutMillis, long[] out);

    static native long writerNativeBytes(long writer);

    static native long readerNew(long scope, long imageId, long layout, Object filler);

    static native void readerFree(long reader);

    static native void readerCheck(long reader, long block, long length, long[] out);

    static native int[] readerMissing(long reader);

    static native byte[] readerNames(long reader, long block, int bytes);

    static native void readerHandles(long reader, Object[] spine, Object[] names);

    static native Object readerHolder(long reader);

    static native void readerTemporary(long reader, Object[] temporary);

    static native int readerKeepPiece(long reader, long block);

    static native long readerLarge(long reader, long segment);

    static native void readerLandedLarge(long reader, long segment);

    static native long[] readerPairs(long reader);

    static native long[] readerStores(long reader);

    static native long[] readerStandIns(long reader);

    static native long[] readerArrivals(long reader);

    static native boolean readerEnvelope(long reader);

    static native boolean readerRoot(long reader, long[] out);

    static native String readerError(long reader);

    static native long readerObjects(long reader);

    static native long readerLateTotal(long reader);

    static native long readerNativeBytes(long reader);

    static native long readerMostBytes(long reader);

    static native long hold(Object o);

    static native void unhold(long reference);
}

package io.skyway.core;

import java.util.concurrent.atomic.AtomicLong;

/** Native memory of all open writers and readers, in bytes, without the slots of links. */
final class NativeMeter {
    private static final AtomicLong NOW = new AtomicLong();
    private static final AtomicLong PEAK = new AtomicLong();

    private long reported;

    static long now() {
        return NOW.get();
    }

    /** The most at any time since this process started. */
    static long peak() {
        return PEAK.get();
    }

    /** @param most what this one held at most since it last said so, at least {@code bytes} */
    void hold(long bytes, long most) {
        long all = NOW.addAndGet(bytes - reported);
        reported = bytes;
        long peak = all + most - bytes;
        if (peak > PEAK.get()) {
            PEAK.accumulateAndGet(peak, Math::max);
        }
    }

    void release() {
        hold(0, 0);
    }
}

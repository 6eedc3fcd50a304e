package io.skyway.core;

/**
 * How to write an image.
 *
 * @param maxSegmentBytes the smaller one of both VMs' {@link Layout#maxSegmentBytes()}
 * @param maxPauseNanos longest sending window; 0 for the default of 5 ms
 * @param consistent the whole graph is copied at one safepoint, as it is at one moment; the pause is as long as the walk
 * @param imageId names the image; a receiver takes each only once
 */
public record WriterOptions(int maxSegmentBytes, long maxPauseNanos, boolean consistent, long imageId) {
    /** Not at a safepoint. */
    public WriterOptions(int maxSegmentBytes, long maxPauseNanos, long imageId) {
        this(maxSegmentBytes, maxPauseNanos, false, imageId);
    }

    static final long DEFAULT_PAUSE_NANOS = 5_000_000;
}

package io.skyway.core;

/**
 * How to write an image.
 *
 * @param maxSegmentBytes the smaller one of both VMs' {@link Layout#maxSegmentBytes()}
 * @param maxPauseNanos longest sending window; 0 for the default of 5 ms
 * @param imageId names the image; a receiver takes each only once
 */
public record WriterOptions(int maxSegmentBytes, long maxPauseNanos, long imageId) {
    static final long DEFAULT_PAUSE_NANOS = 5_000_000;
}

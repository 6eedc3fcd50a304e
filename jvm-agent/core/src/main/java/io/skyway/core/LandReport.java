package io.skyway.core;

/**
 * What landing an image did. Times in nanoseconds.
 *
 * @param chunksRetried chunks allocated again because a collection had moved them out of the young generation
 * @param landNanos busy time inside {@link ImageReader#accept} and {@link ImageReader#finish}
 */
public record LandReport(
        long objects,
        long imageBytes,
        long segments,
        long lateReferences,
        long chunksRetried,
        long windows,
        long windowNanos,
        long longestWindowNanos,
        long landNanos) {}

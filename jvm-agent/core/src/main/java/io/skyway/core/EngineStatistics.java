package io.skyway.core;

/**
 * What the engine has done since it started. Times in nanoseconds.
 *
 * @param nativeBytes native memory that open writers and readers hold, without the slots of links
 * @param nativePeakBytes the most that it ever was
 */
public record EngineStatistics(
        long nativeBytes,
        long nativePeakBytes,
        long windows,
        long windowNanos,
        long longestWindowNanos,
        long chunksRetried,
        long classesKnown) {}

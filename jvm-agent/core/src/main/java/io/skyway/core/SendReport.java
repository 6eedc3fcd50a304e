package io.skyway.core;

/**
 * What a walk did. Times in nanoseconds.
 *
 * @param restarts walks begun again because a collection moved objects between two windows
 * @param sendNanos busy time, from the first window to the last block, waiting for free slots excluded
 */
public record SendReport(
        long objects,
        long classes,
        long imageBytes,
        long segments,
        long lateReferences,
        long restarts,
        long windows,
        long windowNanos,
        long longestWindowNanos,
        long sendNanos) {}

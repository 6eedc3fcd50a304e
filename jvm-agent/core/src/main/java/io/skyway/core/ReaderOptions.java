package io.skyway.core;

import java.util.function.Predicate;

/**
 * How to land an image.
 *
 * @param loader finds classes; null for the thread's context loader, then the system loader
 * @param allowed says of a class name whether its objects may be landed; null allows all
 * @param imageId the image that is expected; blocks of any other are refused
 */
public record ReaderOptions(ClassLoader loader, Predicate<String> allowed, long imageId) {}

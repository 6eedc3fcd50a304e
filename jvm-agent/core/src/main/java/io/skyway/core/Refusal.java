package io.skyway.core;

/**
 * One object that cannot be moved.
 *
 * @param path from the root, e.g. {@code root.cache.table[17].value}
 * @param className the object's class, as {@link Class#getName()}
 * @param reason why it stays, in one sentence
 */
public record Refusal(String path, String className, String reason) {
    @Override
    public String toString() {
        return path + " → " + className + ": " + reason;
    }
}

package io.skyway.agent.link;

import io.skyway.api.Serializer;
import io.skyway.core.SkywayException;
import io.skyway.core.SkywayException.Kind;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;

/** The baseline serializers of one side of one link, so that their buffers are reused. Confined to its transfers. */
final class Serializers {
    private final Map<String, Serializer> byName = new HashMap<>();

    /** Whether this name asks for the engine. */
    static boolean isEngine(String name) {
        return name.isEmpty() || name.equals("skyway");
    }

    /**
     * The serializer of that name: {@code java}, or one that the application's class path has.
     *
     * @throws Failure of kind USAGE when there is none: lists those that there are
     */
    synchronized Serializer get(String name, Failure.Side side) {
        return byName.computeIfAbsent(name, n -> find(n, side));
    }

    /** After a failure its state is unknown: the next transfer gets a new one. */
    synchronized void drop(String name) {
        byName.remove(name);
    }

    private static Serializer find(String name, Failure.Side side) {
        if (name.equals(JavaSerializer.NAME)) {
            return new JavaSerializer();
        }
        Providers<Serializer> found = Providers.load(Serializer.class);
        TreeSet<String> known = new TreeSet<>();
        known.add(JavaSerializer.NAME);
        for (Serializer s : found.usable()) {
            if (s.name().equals(name)) {
                return s;
            }
            known.add(s.name());
        }
        throw Failure.of(
                Kind.USAGE,
                side,
                "the " + side + " has no serializer \"" + name + "\", only " + String.join(", ", known)
                        + ": others must be on its application's class path" + found.problems());
    }

    /** What a serializer threw, as its own error. Failures of the link itself stay what they are. */
    static Failure failure(String name, Throwable t, Failure.Side side) {
        for (Throwable c = t; c != null; c = c.getCause()) {
            if (c instanceof SkywayException s) {
                return Failure.of(s, side);
            }
        }
        String what = t instanceof StackOverflowError
                ? "java.lang.StackOverflowError, although its thread has a stack of 1 GB"
                : t.toString();
        return Failure.of(Kind.SERIALIZER_FAILED, side, "serializer \"" + name + "\" failed: " + what, shorten(t));
    }

    /** The trace of an overflow is a thousand lines of the same. */
    private static Throwable shorten(Throwable t) {
        StackTraceElement[] trace = t.getStackTrace();
        if (t instanceof StackOverflowError && trace.length > 40) {
            t.setStackTrace(java.util.Arrays.copyOf(trace, 40));
        }
        return t;
    }
}

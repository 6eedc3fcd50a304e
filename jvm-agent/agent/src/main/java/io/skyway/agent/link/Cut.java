package io.skyway.agent.link;

import io.skyway.core.FidelityRules;
import io.skyway.core.SkywayException;

/** What a transfer's caller wants to leave behind: {@code CLASS.FIELD} or {@code CLASS}. */
final class Cut {
    private Cut() {}

    /** @throws SkywayException of kind USAGE when the sender knows no such class or field */
    static void apply(String text, FidelityRules rules) {
        Class<?> whole = find(text);
        if (whole != null) {
            rules.cut(whole);
            return;
        }
        int dot = text.lastIndexOf('.');
        Class<?> declaring = dot < 0 ? null : find(text.substring(0, dot));
        if (declaring == null) {
            throw new SkywayException(
                    SkywayException.Kind.USAGE,
                    "nothing to cut: the sender has neither a class " + text + " nor one with such a field; write"
                            + " CLASS or CLASS.FIELD, nested classes as in com.acme.Outer$Inner");
        }
        rules.cut(declaring, text.substring(dot + 1));
    }

    private static Class<?> find(String name) {
        try {
            return Class.forName(name, false, ClassLoader.getSystemClassLoader());
        } catch (ClassNotFoundException | LinkageError e) {
            return null;
        }
    }
}

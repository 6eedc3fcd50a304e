package io.skyway.api.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** What the application has said about its classes, kept for the engine that comes later. Thread-safe. */
public final class Rules {
    private static final List<Consumer<Listener>> SAID = new ArrayList<>();
    private static Listener listener;

    private Rules() {}

    /** Who acts on the rules. */
    public interface Listener {
        /** References in this field are sent as null, primitive values as zero. */
        void cut(Class<?> declaring, String field);

        /** References to objects of this class are sent as null. */
        void cut(Class<?> type);

        /** To be called for every object of this class that arrives. */
        void onArrival(Class<?> type, Consumer<Object> update);
    }

    /** Tells the listener all rules, those of earlier calls too. */
    public static synchronized void listen(Listener l) {
        listener = l;
        SAID.forEach(rule -> rule.accept(l));
    }

    /** Adds a rule. */
    public static synchronized void say(Consumer<Listener> rule) {
        SAID.add(rule);
        if (listener != null) {
            rule.accept(listener);
        }
    }
}

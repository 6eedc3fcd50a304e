package io.skyway.agent.start;

import java.util.ArrayList;
import java.util.List;

/** What the agent's start took, by phase. Thread-safe: phases on two threads may overlap. */
public final class Phases {
    /** One phase of the start. */
    public record Phase(String name, long nanos) {}

    private final List<Phase> done = new ArrayList<>();

    /** Runs one phase and records its time, also when it throws. */
    public <T, E extends Exception> T measure(String name, Step<T, E> step) throws E {
        long start = System.nanoTime();
        try {
            return step.run();
        } finally {
            add(name, System.nanoTime() - start);
        }
    }

    /** Adds a phase that was measured elsewhere. */
    public synchronized void add(String name, long nanos) {
        done.add(new Phase(name, nanos));
    }

    /** In the order in which they ended. */
    public synchronized List<Phase> list() {
        return List.copyOf(done);
    }

    /** The body of a phase. */
    public interface Step<T, E extends Exception> {
        T run() throws E;
    }
}

package io.skyway.core;

import java.util.List;
import java.util.stream.Collectors;

/** The graph holds objects that are bound to this process. Nothing was made visible on the receiver. */
public final class GraphRefusedException extends SkywayException {
    private static final long serialVersionUID = 1L;

    private final transient List<Refusal> refusals;

    public GraphRefusedException(List<Refusal> refusals) {
        super(
                Kind.GRAPH_REFUSED,
                refusals.stream()
                        .map(Refusal::toString)
                        .collect(Collectors.joining(
                                "\n  ",
                                "the graph holds objects that cannot leave this process:\n  ",
                                "\nRemove these references, or publish a graph that does not reach them.")));
        this.refusals = List.copyOf(refusals);
    }

    /** All refusals that one walk found, shortest path first. */
    public List<Refusal> refusals() {
        return refusals;
    }
}

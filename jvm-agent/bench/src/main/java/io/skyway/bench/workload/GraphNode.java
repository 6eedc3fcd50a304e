package io.skyway.bench.workload;

import java.io.Serializable;

/** A node of the random graph. */
public final class GraphNode implements Serializable {
    private static final long serialVersionUID = 1L;

    public int id;
    public double weight;
    public GraphNode first;
    public GraphNode second;
    public GraphNode third;
}

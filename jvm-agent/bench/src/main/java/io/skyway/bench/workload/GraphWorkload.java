package io.skyway.bench.workload;

import io.skyway.api.Workload;
import java.util.Random;

/** Nodes with three random edges each, in an array: cycles of all lengths, no locality. */
public final class GraphWorkload implements Workload {
    @Override
    public String name() {
        return "graph";
    }

    /** Nodes. */
    @Override
    public long defaultSize() {
        return 1_000_000;
    }

    /** @throws IllegalArgumentException when the size is not that of an array */
    @Override
    public Object build(long size, long seed) {
        int count = Workloads.count(name(), size);
        Random random = new Random(seed);
        GraphNode[] nodes = new GraphNode[count];
        for (int i = 0; i < count; i++) {
            nodes[i] = new GraphNode();
            nodes[i].id = i;
            nodes[i].weight = random.nextDouble();
        }
        for (GraphNode node : nodes) {
            node.first = nodes[random.nextInt(count)];
            node.second = nodes[random.nextInt(count)];
            node.third = nodes[random.nextInt(count)];
        }
        return nodes;
    }
}

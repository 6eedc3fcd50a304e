package io.skyway.bench.workload;

import io.skyway.api.Workload;
import java.util.LinkedList;
import java.util.Random;

/** A linked list of boxed integers: deep for what recurses, two small objects an element. */
public final class BoxesWorkload implements Workload {
    @Override
    public String name() {
        return "boxes";
    }

    /** Elements. */
    @Override
    public long defaultSize() {
        return 1_000_000;
    }

    /** @throws IllegalArgumentException when the size is not that of a list */
    @Override
    public Object build(long size, long seed) {
        int count = Workloads.count(name(), size);
        Random random = new Random(seed);
        LinkedList<Integer> list = new LinkedList<>();
        for (int i = 0; i < count; i++) {
            list.add(random.nextInt());
        }
        return list;
    }
}

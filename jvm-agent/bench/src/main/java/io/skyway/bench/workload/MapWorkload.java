package io.skyway.bench.workload;

import io.skyway.api.Workload;
import java.util.HashMap;
import java.util.Random;

/** A hash map from strings to boxed integers. */
public final class MapWorkload implements Workload {
    @Override
    public String name() {
        return "map";
    }

    /** Entries. */
    @Override
    public long defaultSize() {
        return 1_000_000;
    }

    /** @throws IllegalArgumentException when the size is not that of a map */
    @Override
    public Object build(long size, long seed) {
        int count = Workloads.count(name(), size);
        Random random = new Random(seed);
        HashMap<String, Integer> map = new HashMap<>();
        for (int i = 0; i < count; i++) {
            map.put("key-" + i, random.nextInt());
        }
        return map;
    }
}

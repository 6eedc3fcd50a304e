package io.skyway.bench.workload;

import io.skyway.api.Workload;
import java.util.Random;

/** Byte arrays of 4 MiB each. */
public final class BytesWorkload implements Workload {
    private static final int ARRAY_BYTES = 4 << 20;

    @Override
    public String name() {
        return "bytes";
    }

    /** Arrays. */
    @Override
    public long defaultSize() {
        return 64;
    }

    /** @throws IllegalArgumentException when the size is not that of an array */
    @Override
    public Object build(long size, long seed) {
        byte[][] arrays = new byte[Workloads.count(name(), size)][];
        Random random = new Random(seed);
        for (int i = 0; i < arrays.length; i++) {
            arrays[i] = new byte[ARRAY_BYTES];
            random.nextBytes(arrays[i]);
        }
        return arrays;
    }
}

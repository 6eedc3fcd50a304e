package io.skyway.core;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/** The last question to the VM before the engine is used: does a carved graph live? */
final class Preflight {
    /** A full collection of a heap in use is a pause that an attached application must not feel. */
    private static final long SMALL_HEAP_BYTES = 64 << 20;

    private static final class Node {
        int number;
        long wide;
        byte small;
        String text;
        Object other;
        TimeUnit unit;
        int[] numbers;
        Object[] objects;
    }

    private Preflight() {}

    static void run(Engine engine) {
        Node sample = sample();
        int hash = System.identityHashCode(sample);
        Object copied;
        try {
            copied = engine.copy(sample);
        } catch (SkywayException e) {
            throw new SkywayException(
                    SkywayException.Kind.ENGINE_REFUSED, "the preflight's graph was not copied: " + e.getMessage(), e);
        }
        check(copied, sample, hash);
        Runtime r = Runtime.getRuntime();
        if (r.totalMemory() - r.freeMemory() < SMALL_HEAP_BYTES) {
            System.gc();
            check(copied, sample, hash);
        }
    }

    private static Node sample() {
        Node n = new Node();
        n.number = 0x01020304;
        n.wide = 0x0102030405060708L;
        n.small = -7;
        n.text = new String("preflight \u20ac".toCharArray());
        n.unit = TimeUnit.DAYS;
        n.numbers = new int[] {1, 2, 3};
        n.objects = new Object[] {n, n.text, 5, 100_000, String.class, new long[3], new Object[0]};
        n.other = n;
        return n;
    }

    private static void check(Object copied, Node sample, int hash) {
        boolean good = copied instanceof Node n
                && n != sample
                && n.number == sample.number
                && n.wide == sample.wide
                && n.small == sample.small
                && n.text.equals(sample.text)
                && n.text != sample.text
                && n.other == n
                && n.unit == TimeUnit.DAYS
                && Arrays.equals(n.numbers, sample.numbers)
                && n.objects.length == sample.objects.length
                && n.objects[0] == n
                && n.objects[1] == n.text
                && n.objects[3].equals(100_000)
                && n.objects[4] == String.class
                && System.identityHashCode(n) == hash;
        if (!good) {
            throw new SkywayException(
                    SkywayException.Kind.ENGINE_REFUSED,
                    "the preflight's graph was changed by the copy: this VM lays objects out in a way the engine does"
                            + " not know");
        }
    }
}

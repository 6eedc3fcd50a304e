package io.skyway.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A background load: threads that allocate small linked objects at a rate, and keep one in eight batches until a later
 * one takes its place, so that collections find objects to move and to promote.
 */
final class Churn {
    private static final int THREADS = 2;
    private static final int ROUND_MILLIS = 5;
    private static final int NODE_BYTES = 64;
    private static final int KEPT_BATCHES = 64;
    private static final int KEEP_ONE_IN = 8;

    /** Two objects of together about {@link #NODE_BYTES}. */
    private record Node(Node next, byte[] payload) {}

    private Churn() {}

    /** Starts daemon threads that together allocate so many megabytes (10^6 bytes) a second; none for 0. */
    static void start(int megabytes) {
        if (megabytes == 0) {
            return;
        }
        long bytesPerRound = megabytes * 1_000_000L / THREADS * ROUND_MILLIS / 1000;
        for (int i = 0; i < THREADS; i++) {
            Thread thread = new Thread(() -> run(bytesPerRound), "skyway-churn-" + i);
            thread.setDaemon(true);
            thread.start();
        }
    }

    private static void run(long bytesPerRound) {
        List<Node> kept = new ArrayList<>();
        ThreadLocalRandom random = ThreadLocalRandom.current();
        long due = System.nanoTime();
        while (true) {
            Node batch = allocate(bytesPerRound / NODE_BYTES);
            if (random.nextInt(KEEP_ONE_IN) == 0) {
                if (kept.size() < KEPT_BATCHES) {
                    kept.add(batch);
                } else {
                    kept.set(random.nextInt(KEPT_BATCHES), batch);
                }
            }
            long now = System.nanoTime();
            // A load that fell behind does not catch up: that would be a burst.
            due = Math.max(due + TimeUnit.MILLISECONDS.toNanos(ROUND_MILLIS), now);
            LockSupport.parkNanos(due - now);
        }
    }

    private static Node allocate(long nodes) {
        Node last = null;
        for (long i = 0; i < nodes; i++) {
            last = new Node(last, new byte[24]);
        }
        return last;
    }
}

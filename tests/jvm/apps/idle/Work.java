package idle;

import java.util.HashMap;
import java.util.Map;

/**
 * An application that transfers nothing. Prints {@code main MILLIS} as it begins, in milliseconds since 1970, and
 * {@code round NANOS} for each round of its work: strings, boxes, a hash table and what they leave to the collector.
 */
public final class Work {
    private static final int STEPS = 200_000;

    private Work() {}

    public static void main(String[] args) {
        System.out.println("main " + System.currentTimeMillis());
        int rounds = Integer.parseInt(args[0]);
        int kept = 0;
        for (int i = 0; i < rounds; i++) {
            long start = System.nanoTime();
            kept += round(i);
            System.out.println("round " + (System.nanoTime() - start));
        }
        System.out.println("kept " + kept);
    }

    private static int round(int seed) {
        Map<String, Integer> table = new HashMap<>();
        for (int i = 0; i < STEPS; i++) {
            table.merge("key-" + (i * 31 + seed) % 50_000, i, Integer::sum);
        }
        return table.size();
    }
}

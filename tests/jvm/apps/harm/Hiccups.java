package harm;

import io.skyway.bench.Main;
import java.util.concurrent.TimeUnit;

/**
 * The idle application of the bench module, with a thread that wants to run every millisecond and prints how much later
 * it did. What holds it up would hold up any thread of the application: a collection, a window, a busy machine.
 */
public final class Hiccups {
    private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final int BATCH = 100;

    private Hiccups() {}

    public static void main(String[] args) {
        Thread meter = new Thread(Hiccups::measure, "hiccups");
        meter.setDaemon(true);
        meter.start();
        Main.main(args);
    }

    /** A line for each batch: its beginning in milliseconds since 1970, then each delay in microseconds. */
    private static void measure() {
        StringBuilder line = new StringBuilder(BATCH * 8);
        try {
            while (true) {
                line.setLength(0);
                line.append("hiccups ").append(System.currentTimeMillis());
                for (int i = 0; i < BATCH; i++) {
                    // Printing is between two measurements, not in one.
                    long start = System.nanoTime();
                    Thread.sleep(1);
                    long late = System.nanoTime() - start - PERIOD_NANOS;
                    line.append(' ').append(TimeUnit.NANOSECONDS.toMicros(Math.max(0, late)));
                }
                System.out.println(line);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

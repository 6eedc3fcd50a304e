package io.skyway.bench;

import io.skyway.api.Skyway;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * An application that does nothing but hold workloads: publishes each under its name, prints {@code ready} and waits
 * until the virtual machine is shut down.
 */
public final class Main {
    private static final int RUNTIME_ERROR = 1;
    private static final int USAGE_ERROR = 2;

    private Main() {}

    /** Exits with 2 when the arguments are wrong and with 1 when a workload cannot be built. */
    public static void main(String[] args) {
        Options options;
        try {
            options = Options.parse(List.of(args));
        } catch (IllegalArgumentException e) {
            fail(USAGE_ERROR, e.getMessage());
            return;
        }
        if (options.help()) {
            System.out.print(Options.USAGE);
            return;
        }
        try {
            for (Options.Request request : options.workloads()) {
                Skyway.publish(request.name(), request.build());
            }
        } catch (Exception | OutOfMemoryError e) {
            fail(RUNTIME_ERROR, "cannot build a workload: " + e);
            return;
        }
        Churn.start(options.churnMegabytes());
        System.out.println("ready");
        awaitShutdown();
    }

    private static void awaitShutdown() {
        CountDownLatch never = new CountDownLatch(1);
        boolean interrupted = false;
        while (!interrupted) {
            try {
                never.await();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
    }

    private static void fail(int status, String message) {
        System.err.println("skyway-bench: " + message);
        System.exit(status);
    }
}

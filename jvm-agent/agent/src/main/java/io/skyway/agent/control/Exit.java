package io.skyway.agent.control;

/** Ends this JVM. */
final class Exit {
    private static final long PATIENCE_MILLIS = 10_000;

    private Exit() {}

    /** Lets the application's shutdown hooks run, but not for ever. */
    static void exit(int code) {
        Thread impatience = new Thread(
                () -> {
                    try {
                        Thread.sleep(PATIENCE_MILLIS);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    Runtime.getRuntime().halt(code);
                },
                "skyway-exit");
        impatience.setDaemon(true);
        impatience.start();
        System.exit(code);
    }
}

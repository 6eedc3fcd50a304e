package io.skyway.agent.control;

import java.util.List;
import java.util.logging.Filter;
import java.util.logging.Logger;

/**
 * Keeps what gRPC has to say of strangers at the control port out of the application's log: anyone on this machine could
 * fill it. The loggers are the whole JVM's, and an application may use gRPC itself: only records of our threads are
 * dropped.
 */
final class QuietLog {
    private static final String TRANSPORT = "io.grpc.netty.shaded.io.grpc.netty.NettyServerTransport";

    /** Held, as otherwise the log manager would drop them, and their filters. */
    private static final List<Logger> LOGGERS = List.of(
            Logger.getLogger(TRANSPORT),
            Logger.getLogger(TRANSPORT + ".connections"),
            Logger.getLogger("io.grpc.netty.shaded.io.grpc.netty.NettyServerHandler"));

    static {
        for (Logger logger : LOGGERS) {
            Filter before = logger.getFilter();
            logger.setFilter(record -> !Thread.currentThread().getName().startsWith(DaemonThreads.PREFIX)
                    && (before == null || before.isLoggable(record)));
        }
    }

    private QuietLog() {}

    /** From now on; later calls do nothing. */
    static void start() {
        // The class's initializer does it, once.
    }
}

package io.skyway.agent.control;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The agent's threads: daemons with a name, in the agent's own class loader. */
final class DaemonThreads {
    /** How the names of all of them begin. */
    static final String PREFIX = "skyway-";

    private DaemonThreads() {}

    static ThreadFactory factory(String name) {
        AtomicInteger numbers = new AtomicInteger();
        return r -> {
            Thread t = new Thread(r, name + "-" + numbers.incrementAndGet());
            t.setDaemon(true);
            t.setContextClassLoader(DaemonThreads.class.getClassLoader());
            return t;
        };
    }

    /** As many threads as are needed; idle ones end after ten seconds. */
    static ExecutorService unbounded(String name) {
        return new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), factory(name));
    }

    /** So many threads at most; the rest waits. Idle ones end after ten seconds. */
    static ExecutorService bounded(String name, int most) {
        ThreadPoolExecutor threads =
                new ThreadPoolExecutor(most, most, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), factory(name));
        threads.allowCoreThreadTimeOut(true);
        return threads;
    }

    /** For short periodic tasks. Its thread ends while there are none. */
    static ScheduledExecutorService ticker(String name) {
        ScheduledThreadPoolExecutor ticker = new ScheduledThreadPoolExecutor(1, factory(name));
        ticker.setRemoveOnCancelPolicy(true);
        ticker.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        ticker.setKeepAliveTime(10, TimeUnit.SECONDS);
        ticker.allowCoreThreadTimeOut(true);
        return ticker;
    }
}

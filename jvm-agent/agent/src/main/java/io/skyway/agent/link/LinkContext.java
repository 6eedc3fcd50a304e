package io.skyway.agent.link;

import io.skyway.agent.roots.Roots;
import io.skyway.core.Engine;
import java.net.InetAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Predicate;

/**
 * What every link of this JVM uses.
 *
 * @param threads for shipping, landing and reading; unbounded
 * @param ticker progress and silence, every 100 ms during a transfer; its tasks must not block
 * @param silenceMillis how long a peer may be silent during a transfer
 * @param listenOn where links listen; a loopback address unless there is TLS
 * @param tls null: links are not encrypted; else every one is
 * @param allowed classes whose objects may be landed, by name; null: all
 */
public record LinkContext(
        Engine engine,
        Roots roots,
        Counters counters,
        ExecutorService threads,
        ScheduledExecutorService ticker,
        long silenceMillis,
        InetAddress listenOn,
        Tls tls,
        Predicate<String> allowed) {}

package io.skyway.agent.link;

import java.util.concurrent.atomic.AtomicLong;

/** Transfers of this JVM since the agent started. */
public final class Counters {
    public final AtomicLong sent = new AtomicLong();
    public final AtomicLong received = new AtomicLong();
    public final AtomicLong failed = new AtomicLong();
    public final AtomicLong bytesSent = new AtomicLong();
    public final AtomicLong bytesReceived = new AtomicLong();
}

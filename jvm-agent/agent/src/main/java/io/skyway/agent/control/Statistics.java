package io.skyway.agent.control;

import io.skyway.agent.link.Counters;
import io.skyway.agent.link.GcMeter;
import io.skyway.core.EngineStatistics;
import io.skyway.proto.GcActivity;
import io.skyway.proto.StatisticsResponse;
import java.lang.management.ManagementFactory;

/** Counts since the start: of the VM, of the agent, of the engine. */
final class Statistics {
    private Statistics() {}

    static StatisticsResponse collect(EngineState engine, Counters counters) {
        Runtime runtime = Runtime.getRuntime();
        GcActivity gc = GcMeter.total();
        StatisticsResponse.Builder out = StatisticsResponse.newBuilder()
                .setHeapUsedBytes(runtime.totalMemory() - runtime.freeMemory())
                .setHeapMaxBytes(runtime.maxMemory())
                .setGcCollections(gc.getCollections())
                .setGcMillis(gc.getMillis())
                .setTransfersSent(counters.sent.get())
                .setTransfersReceived(counters.received.get())
                .setTransfersFailed(counters.failed.get())
                .setBytesSent(counters.bytesSent.get())
                .setBytesReceived(counters.bytesReceived.get())
                .setUptimeMillis(ManagementFactory.getRuntimeMXBean().getUptime());
        if (engine.started()) {
            EngineStatistics e = engine.engine().statistics();
            out.setNativeBytes(e.nativeBytes())
                    .setNativePeakBytes(e.nativePeakBytes())
                    .setWindows(e.windows())
                    .setWindowNanos(e.windowNanos())
                    .setLongestWindowNanos(e.longestWindowNanos())
                    .setChunksRetried(e.chunksRetried())
                    .setClassesKnown(e.classesKnown());
        }
        return out.build();
    }
}

package io.skyway.agent.link;

import io.skyway.core.Block;
import io.skyway.core.ImageWriter;
import io.skyway.core.SendReport;
import io.skyway.core.Shipper;
import io.skyway.proto.TransferReport;

/** The engine's image of a graph. */
final class EngineSource implements BlockSource {
    private final ImageWriter writer;
    private final Object root;
    private SendReport sent;
    private long most;
    private boolean closed;

    EngineSource(ImageWriter writer, Object root) {
        this.writer = writer;
        this.root = root;
    }

    @Override
    public void produce(Shipper shipper) {
        sent = writer.write(root, shipper);
    }

    @Override
    public Block take(long timeoutMillis) {
        return writer.take(timeoutMillis);
    }

    // The writer's native memory must not go away under other threads' questions.
    @Override
    public synchronized long objects() {
        if (!closed) {
            // A walk that begins again begins to count again; nobody wants to see less than before.
            most = Math.max(most, writer.objectsSoFar());
        }
        return most;
    }

    @Override
    public synchronized void cancel() {
        if (!closed) {
            writer.cancel();
        }
    }

    @Override
    public void report(TransferReport.Builder report) {
        report.setObjects(sent.objects())
                .setClasses(sent.classes())
                .setImageBytes(sent.imageBytes())
                .setSendNanos(sent.sendNanos())
                .setSegments(sent.segments())
                .setRestarts(sent.restarts())
                .setLongestWindowNanos(sent.longestWindowNanos())
                .setSendWindowNanos(sent.windowNanos());
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            objects();
            writer.close();
        }
    }
}

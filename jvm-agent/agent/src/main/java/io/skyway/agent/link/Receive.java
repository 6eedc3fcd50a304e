package io.skyway.agent.link;

import io.skyway.agent.roots.Roots;
import io.skyway.api.Serializer;
import io.skyway.core.ImageReader;
import io.skyway.core.LandReport;
import io.skyway.core.ReaderOptions;
import io.skyway.core.SlotPool;
import io.skyway.proto.TransferReport;
import io.skyway.proto.TransferRequest;
import java.io.IOException;
import java.util.concurrent.Callable;

/** One transfer on the receiving side. The landing thread's work; the reading thread fills its inbox. */
final class Receive {
    final TransferRequest request;
    final long number;
    final Inbox inbox;
    final long begun = System.nanoTime();
    /** Time that reading blocks from the socket took; the reading thread's until END. */
    volatile long readNanos;

    private final ReceiverLink link;
    private final long imageId;
    private final SlotPool pool;
    private final GcMeter gc = new GcMeter();
    private final TransferReport.Builder report = TransferReport.newBuilder();
    /** Blocks whose end the sender has not been told of. It wakes a thread there: not for each one. */
    private final int[] held = new int[FrameChannel.MOST_AT_ONCE];

    private int heldCount;
    private long landed;

    Receive(ReceiverLink link, TransferRequest request, long number, long imageId, SlotPool pool, Inbox inbox) {
        this.link = link;
        this.request = request;
        this.number = number;
        this.imageId = imageId;
        this.pool = pool;
        this.inbox = inbox;
    }

    /** Lands the graph and makes it visible. @return what this side knows of the transfer */
    TransferReport run() throws Exception {
        Roots.Destination destination =
                request.getDiscard() ? root -> {} : link.context().roots().destination(request.getDestination());
        // The baselines keep to the class path: a serializer is kept for the link, whatever the destination.
        Object root = Serializers.isEngine(request.getSerializer())
                ? within(destination.loader(), () -> land(destination.loader()))
                : deserialize();
        if (root == null) {
            throw new IOException("the serializer returned null");
        }
        // What was asked for until now counts; from here on the graph is becoming visible.
        if (inbox.isAborted()) {
            inbox.take();
        }
        within(destination.loader(), () -> {
            destination.deliver(root);
            return root;
        });
        return report.setTransportNanos(readNanos)
                .setRootClass(root.getClass().getName())
                .setReceiverGc(gc.activity())
                .build();
    }

    /** With the destination's loader as this thread's own: the application's code runs here. */
    private static Object within(ClassLoader loader, Callable<Object> body) throws Exception {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(loader);
        try {
            return body.call();
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    private Object land(ClassLoader loader) throws Exception {
        try (ImageReader reader = link.context()
                .engine()
                .newReader(new ReaderOptions(loader, link.context().allowed(), imageId))) {
            for (Slice s = inbox.take(); s != Slice.END; s = inbox.take()) {
                try {
                    reader.accept(pool.address(s.slot(), s.length()), s.length());
                } finally {
                    done(s);
                }
            }
            Object root = reader.finish();
            LandReport landed = reader.report();
            report.setObjects(landed.objects())
                    .setImageBytes(landed.imageBytes())
                    .setLandNanos(landed.landNanos())
                    .setLandWindowNanos(landed.windowNanos())
                    .setLongestWindowNanos(landed.longestWindowNanos())
                    .setChunksRetried(landed.chunksRetried())
                    .setLateReferences(landed.lateReferences());
            return root;
        }
    }

    private Object deserialize() throws Exception {
        String name = request.getSerializer();
        Serializer serializer = link.serializers().get(name, Failure.Side.RECEIVER);
        StreamInput in = new StreamInput(inbox, pool, this::done);
        Object[] root = new Object[1];
        link.stack().run(() -> {
            long start = System.nanoTime();
            try {
                root[0] = serializer.read(in);
                in.drain();
            } catch (Throwable t) {
                in.abandon();
                link.serializers().drop(name);
                throw Serializers.failure(name, t, Failure.Side.RECEIVER);
            }
            report.setLandNanos(System.nanoTime() - start - inbox.waitedNanos()).setImageBytes(in.bytes());
        });
        return root[0];
    }

    private void done(Slice s) throws IOException {
        landed++;
        held[heldCount++] = s.slot();
        link.release(s);
        if (heldCount == held.length) {
            link.acknowledge(this, held, heldCount, landed);
            heldCount = 0;
        }
    }
}

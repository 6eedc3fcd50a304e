package io.skyway.agent.link;

import io.skyway.core.SkywayException.Kind;
import io.skyway.proto.TransferProgress;
import io.skyway.proto.TransferReport;
import java.io.IOException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** One transfer on the sending side, from the request to the report. Runs on the calling thread, which walks. */
final class Exchange {
    private static final long TICK_MILLIS = 100;
    private static final long ALIVE_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** How long a receiver may take to stop after a failure before the link is given up. */
    private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final LinkContext context;
    private final SenderLink link;
    private final Send send;
    private final Consumer<TransferProgress> progress;
    private long aliveAt = System.nanoTime();
    private boolean told;

    Exchange(LinkContext context, SenderLink link, Send send, Consumer<TransferProgress> progress) {
        this.context = context;
        this.link = link;
        this.send = send;
        this.progress = progress;
    }

    /**
     * Transfers the graph; returns once it is visible on the receiver.
     *
     * @throws Failure as it happened on either side; nothing is visible then
     */
    TransferReport run() {
        Object root = find();
        link.enter(send);
        try {
            Future<?> tick = context.ticker()
                    .scheduleWithFixedDelay(this::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
            long limit = send.request.getTimeoutMillis();
            // A limit below a tick's length is one too.
            Future<?> late = limit > 0 ? context.ticker().schedule(this::tick, limit, TimeUnit.MILLISECONDS) : tick;
            try {
                return transfer(root);
            } finally {
                late.cancel(false);
                tick.cancel(false);
            }
        } finally {
            link.leave();
        }
    }

    private Object find() {
        try {
            return context.roots().find(send.request.getRoot());
        } catch (RuntimeException e) {
            throw Failure.of(e, Failure.Side.SENDER);
        }
    }

    private TransferReport transfer(Object root) {
        GcMeter gc = new GcMeter();
        long imageId = link.newImageId();
        try (BlockSource source = open(root, imageId)) {
            send.source(source);
            begin(imageId);
            Shipping shipping = link.ship(send, source);
            try {
                source.produce(shipping);
                shipping.betweenWindows();
            } catch (Throwable t) {
                send.fail(Failure.of(t, Failure.Side.SENDER));
            }
            shipping.awaitEnd();
            TransferReport landed = conclude();
            return report(root, source, landed, gc);
        } finally {
            link.reclaim(send);
            if (send.failure() != null) {
                link.dropSerializer(send.request.getSerializer());
            }
        }
    }

    private BlockSource open(Object root, long imageId) {
        try {
            return link.open(send, root, imageId);
        } catch (RuntimeException e) {
            throw Failure.of(e, Failure.Side.SENDER);
        }
    }

    private void begin(long imageId) {
        try {
            link.writeBegin(send, imageId);
        } catch (IOException e) {
            throw Failure.of(
                    Kind.PEER_FAILED,
                    Failure.Side.RECEIVER,
                    "the connection to " + link.peer() + " broke (" + e.getMessage()
                            + "): that JVM has ended or closed the link",
                    e);
        }
    }

    /** Waits for the receiver's last word, after which none of its threads uses a slot. */
    private TransferReport conclude() {
        Failure failure = send.failure();
        if (failure != null && !send.ended) {
            link.writeFailure(send, failure);
        }
        TransferReport landed = null;
        Failure answer = null;
        try {
            landed = link.await(send);
        } catch (Failure f) {
            answer = f;
        }
        if (landed != null) {
            // Asked to stop too late: the graph is visible, and saying otherwise would be wrong.
            return landed;
        }
        failure = send.failure();
        throw failure != null ? failure : answer;
    }

    private TransferReport report(Object root, BlockSource source, TransferReport landed, GcMeter gc) {
        long total = System.nanoTime() - send.begun;
        String serializer = send.request.getSerializer();
        TransferReport.Builder report = TransferReport.newBuilder();
        source.report(report);
        report.setSerializer(Serializers.isEngine(serializer) ? "skyway" : serializer)
                // A blocking write on TCP also waits for a receiver that is behind; its reads do not.
                .setTransportNanos(landed.getTransportNanos() > 0 ? landed.getTransportNanos() : send.shippingNanos)
                .setLandNanos(landed.getLandNanos())
                .setTotalNanos(total)
                .setLongestWindowNanos(Math.max(report.getLongestWindowNanos(), landed.getLongestWindowNanos()))
                .setLandWindowNanos(landed.getLandWindowNanos())
                .setChunksRetried(landed.getChunksRetried())
                .setSenderGc(gc.activity())
                .setReceiverGc(landed.getReceiverGc())
                .setTransport(link.transport())
                .setRootClass(landed.getRootClass())
                .setLateReferences(landed.getLateReferences());
        if (report.getSegments() == 0) {
            report.setSegments(send.blocksSent);
        }
        return report.build();
    }

    // ---- every 100 ms, on the ticker's thread

    private void tick() {
        try {
            tellProgress();
            watch();
        } catch (Throwable t) {
            // A task that throws is not run again, nobody is told, and nothing else looks at the time.
            link.breakOff(t);
        }
    }

    private void tellProgress() {
        try {
            progress.accept(TransferProgress.newBuilder()
                    .setObjects(send.objects())
                    .setBytes(send.bytes)
                    .setSegmentsSent(send.blocksSent)
                    .setSegmentsLanded(send.blocksLanded)
                    .build());
        } catch (IllegalStateException e) {
            // The call has ended in this moment.
        }
    }

    private void watch() {
        long now = System.nanoTime();
        if (now - aliveAt > ALIVE_NANOS) {
            aliveAt = now;
            link.writeAlive(send);
        }
        checkTime(now);
        checkSilence();
        tellAfterEnd();
    }

    private void checkTime(long now) {
        long limit = send.request.getTimeoutMillis();
        if (limit > 0 && now - send.begun >= TimeUnit.MILLISECONDS.toNanos(limit) && send.failure() == null) {
            send.fail(Failure.of(
                    Kind.TIMEOUT,
                    Failure.Side.SENDER,
                    "the transfer took longer than " + limit / 1000.0 + " s, its limit"));
        }
        if (send.failure() != null && now - send.failedAt > GRACE_NANOS && !send.answer.isDone()) {
            link.close(link.peer() + " did not stop a failed transfer within "
                    + TimeUnit.NANOSECONDS.toSeconds(GRACE_NANOS) + " s");
        }
    }

    private void checkSilence() {
        if (link.silentNanos(send) > TimeUnit.MILLISECONDS.toNanos(context.silenceMillis())) {
            link.close(
                    link.peer() + " has been silent for " + context.silenceMillis() / 1000
                            + " s during a transfer: it is stopped or hangs",
                    Kind.PEER_FAILED,
                    Failure.Side.RECEIVER);
        }
    }

    /** Once all blocks are sent, nobody but the ticker is left to pass a failure on to the receiver. */
    private void tellAfterEnd() {
        Failure failure = send.failure();
        if (failure != null && send.ended && !told && !send.answer.isDone()) {
            told = true;
            context.threads().execute(() -> link.writeFailure(send, failure));
        }
    }
}

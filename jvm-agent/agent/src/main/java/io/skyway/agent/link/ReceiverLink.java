package io.skyway.agent.link;

import io.skyway.agent.link.FrameHeader.OutOfStepException;
import io.skyway.core.SkywayException.Kind;
import io.skyway.core.SlotPool;
import io.skyway.proto.ErrorDetail;
import io.skyway.proto.TransferReport;
import io.skyway.proto.TransferRequest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * The accepting end of a link. Its reading thread takes frames from the socket, its landing thread makes objects of
 * them; on TCP both overlap.
 */
final class ReceiverLink implements Link {
    private static final long ACQUIRE_MILLIS = 50;
    /** Over TCP slots are this side's own: the sender is only told how far it is. */
    private static final int[] NO_SLOT = {-1};

    private static final long ALIVE_MILLIS = 1000;

    private final LinkContext context;
    private final String id;
    private final String peer;
    private final FrameChannel channel;
    private final SlotPool pool;
    private final boolean sharedMemory;
    private final Runnable whenClosed;
    private final Serializers serializers = new Serializers();
    private final BigStack stack;
    private final ExecutorService landing;
    private volatile String closedBecause;
    private volatile Receive current;
    private Receive reading;

    ReceiverLink(
            LinkContext context,
            String id,
            String peer,
            FrameChannel channel,
            SlotPool pool,
            boolean sharedMemory,
            Runnable whenClosed) {
        this.context = context;
        this.id = id;
        this.peer = peer;
        this.channel = channel;
        this.pool = pool;
        this.sharedMemory = sharedMemory;
        this.whenClosed = whenClosed;
        this.stack = new BigStack("skyway-read-" + id);
        this.landing = Executors.newSingleThreadExecutor(r -> {
            Thread t = new Thread(r, "skyway-land-" + id);
            t.setDaemon(true);
            // Landed classes and the application's hooks.
            t.setContextClassLoader(ClassLoader.getSystemClassLoader());
            return t;
        });
    }

    LinkContext context() {
        return context;
    }

    Serializers serializers() {
        return serializers;
    }

    BigStack stack() {
        return stack;
    }

    // ---- the reading thread

    /** Reads frames until the link ends. */
    void run() {
        try {
            while (true) {
                read(channel.next());
            }
        } catch (OutOfStepException e) {
            close(peer + " does not keep to the link's protocol: " + e.getMessage());
        } catch (IOException e) {
            close("the connection to " + peer + " broke (" + e.getMessage() + ")");
        } catch (Throwable t) {
            breakOff(t);
        } finally {
            end();
        }
    }

    /** For what nobody foresaw, such as a heap that is full: the peer must see the link's end, not wait in silence. */
    private void breakOff(Throwable t) {
        Failure failure = Failure.of(t, Failure.Side.RECEIVER);
        close(failure.getMessage(), failure);
    }

    private void read(FrameHeader frame) throws IOException {
        if (frame.type() == FrameType.BEGIN) {
            begin(frame);
            return;
        }
        if (frame.type() == FrameType.ALIVE) {
            return;
        }
        Receive r = reading;
        if ((frame.type() == FrameType.CANCEL || frame.type() == FrameType.ERROR)
                && r != null
                && frame.transfer() < r.number) {
            // The sender's clock ended a transfer in the moment in which its last word arrived, and the next has begun.
            channel.payload(frame);
            return;
        }
        if (r == null || r.number != frame.transfer()) {
            throw new OutOfStepException("a " + frame.type() + " frame belongs to no transfer");
        }
        switch (frame.type()) {
            case BLOCK -> block(r, frame);
            case END -> r.inbox.put(Slice.END);
            case CANCEL, ERROR -> r.inbox.abort(Failure.of(ErrorDetail.parseFrom(channel.payload(frame))));
            default -> throw new OutOfStepException("a sender sends no " + frame.type() + " frames");
        }
    }

    private void begin(FrameHeader frame) throws IOException {
        if (current != null) {
            throw new OutOfStepException("a transfer begins while another one is running");
        }
        ByteBuffer payload = ByteBuffer.wrap(channel.payload(frame));
        if (payload.remaining() < Long.BYTES) {
            throw new OutOfStepException("a BEGIN frame is too short");
        }
        long imageId = payload.getLong();
        TransferRequest request = TransferRequest.parseFrom(payload);
        Receive r = new Receive(this, request, frame.transfer(), imageId, pool, new Inbox(sharedMemory ? null : pool));
        reading = r;
        current = r;
        landing.execute(() -> land(r));
    }

    private void block(Receive r, FrameHeader frame) throws IOException {
        if (sharedMemory) {
            ByteBuffer payload = ByteBuffer.wrap(channel.payload(frame));
            if (payload.remaining() != FrameType.ACK.limit) {
                throw new OutOfStepException("a BLOCK frame has the wrong size");
            }
            int slot = payload.getInt();
            long length = payload.getLong();
            if (slot < 0 || length < 0 || length > pool.slotBytes()) {
                throw new OutOfStepException("a block lies outside of its slot");
            }
            r.inbox.put(new Slice(slot, (int) length));
            return;
        }
        int slot = -1;
        while (slot < 0 && !r.inbox.isClosed()) {
            slot = pool.acquire(ACQUIRE_MILLIS);
        }
        if (slot < 0) {
            channel.skip(frame.length());
            return;
        }
        long start = System.nanoTime();
        channel.fill(NativeMemory.view(pool.address(slot, frame.length()), frame.length()));
        r.readNanos += System.nanoTime() - start;
        r.inbox.put(new Slice(slot, frame.length()));
    }

    // ---- the landing thread

    private void land(Receive r) {
        Future<?> tick = null;
        TransferReport report = null;
        Failure failure = null;
        try {
            tick = context.ticker()
                    .scheduleWithFixedDelay(() -> tick(r), ALIVE_MILLIS, ALIVE_MILLIS, TimeUnit.MILLISECONDS);
            report = r.run();
        } catch (Throwable t) {
            failure = Failure.of(t, Failure.Side.RECEIVER);
        } finally {
            // From here on no thread of this side touches a block of this transfer.
            r.inbox.close();
            if (tick != null) {
                tick.cancel(false);
            }
            // Before the last word: the sender may begin the next one at once.
            current = null;
        }
        try {
            count(report);
            if (report != null) {
                channel.write(FrameType.RESULT, r.number, report.toByteArray());
            } else {
                channel.write(FrameType.ERROR, r.number, bytes(failure.detail()));
            }
        } catch (IOException e) {
            close("the connection to " + peer + " broke (" + e.getMessage() + ")");
        } catch (Throwable t) {
            // Without the last word the sender would wait for it.
            breakOff(t);
        }
    }

    private static byte[] bytes(ErrorDetail detail) {
        byte[] bytes = detail.toByteArray();
        return bytes.length <= FrameType.ERROR.limit
                ? bytes
                : detail.toBuilder().clearRefusals().clearStackTrace().build().toByteArray();
    }

    private void count(TransferReport report) {
        if (report == null) {
            context.counters().failed.incrementAndGet();
        } else {
            context.counters().received.incrementAndGet();
            context.counters().bytesReceived.addAndGet(report.getImageBytes());
        }
    }

    /** A block has landed: its slot is free, if it is one of this side's. */
    void release(Slice s) {
        if (!sharedMemory) {
            pool.release(s.slot());
        }
    }

    /** @param landed blocks of the transfer that have landed, these included */
    void acknowledge(Receive r, int[] slots, int count, long landed) throws IOException {
        if (sharedMemory) {
            channel.writeAcks(r.number, slots, count, landed);
        } else {
            channel.writeAcks(r.number, NO_SLOT, 1, landed);
        }
    }

    private void tick(Receive r) {
        try {
            sayAlive(r);
        } catch (Throwable t) {
            // A task that throws is not run again, and nobody is told.
            breakOff(t);
        }
    }

    private void sayAlive(Receive r) {
        try {
            channel.writeAlive(r.number);
        } catch (IOException e) {
            close("the connection to " + peer + " broke (" + e.getMessage() + ")");
        }
        if (channel.silentSince(r.begun) > TimeUnit.MILLISECONDS.toNanos(context.silenceMillis())) {
            close(peer + " has been silent for " + context.silenceMillis() / 1000
                    + " s during a transfer: it is stopped or hangs");
        }
    }

    // ---- end

    @Override
    public boolean cancel(String transferId, String why) {
        Receive r = current;
        if (r == null || !r.request.getTransferId().equals(transferId)) {
            return false;
        }
        r.inbox.abort(Failure.of(Kind.CANCELLED, Failure.Side.RECEIVER, why));
        return true;
    }

    @Override
    public void close(String why) {
        close(why, null);
    }

    @Override
    public String closedBecause() {
        return closedBecause;
    }

    /** @param failure of the transfer that is running; null: that the peer failed, for this reason */
    private void close(String why, Failure failure) {
        try {
            synchronized (this) {
                if (closedBecause == null) {
                    closedBecause = why;
                }
            }
            Receive r = current;
            if (r != null) {
                r.inbox.abort(
                        failure != null ? failure : Failure.of(Kind.PEER_FAILED, Failure.Side.SENDER, closedBecause));
            }
        } finally {
            // Wakes up the reading thread, which does the rest.
            channel.close();
        }
    }

    private void end() {
        landing.shutdown();
        try {
            // A landing thread that still runs uses the slots.
            while (!landing.awaitTermination(1, TimeUnit.SECONDS)) {
                Thread.onSpinWait();
            }
        } catch (InterruptedException e) {
            // The memory stays mapped: better than to pull it away under the landing thread.
            Thread.currentThread().interrupt();
            return;
        } finally {
            stack.close();
            whenClosed.run();
        }
        pool.close();
    }

    @Override
    public String toString() {
        return "link " + id + " from " + peer;
    }
}

package io.skyway.agent.link;

import io.skyway.agent.link.FrameHeader.OutOfStepException;
import io.skyway.core.Block;
import io.skyway.core.SkywayException.Kind;
import io.skyway.core.SlotPool;
import io.skyway.core.WriterOptions;
import io.skyway.proto.ErrorDetail;
import io.skyway.proto.TransferReport;
import io.skyway.proto.Transport;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.CompletionException;

/**
 * The connecting end of a link. Carries one transfer at a time; others wait for their turn.
 *
 * <p>The caller's thread walks, and the link's own reads what the receiver says. {@link Shipping} has who sends blocks.
 */
final class SenderLink implements Link {
    private static final long TURN_MILLIS = 100;

    private final LinkContext context;
    private final String peer;
    private final FrameChannel channel;
    private final SlotPool pool;
    private final int segmentBytes;
    private final Transport transport;
    private final Runnable whenClosed;
    private final Serializers serializers = new Serializers();
    private final BigStack stack;
    private final SecureRandom random = new SecureRandom();
    /** Why the link is closed, or null. */
    private volatile Failure closedBecause;

    private volatile Send current;
    private boolean busy;
    private boolean released;
    private long numbers;

    SenderLink(
            LinkContext context,
            String id,
            String peer,
            FrameChannel channel,
            SlotPool pool,
            int segmentBytes,
            Transport transport,
            Runnable whenClosed) {
        this.context = context;
        this.peer = peer;
        this.channel = channel;
        this.pool = pool;
        this.segmentBytes = segmentBytes;
        this.transport = transport;
        this.whenClosed = whenClosed;
        this.stack = new BigStack("skyway-write-" + id);
    }

    void start() {
        context.threads().execute(this::readAnswers);
    }

    Transport transport() {
        return transport;
    }

    String peer() {
        return peer;
    }

    // ---- turns

    /** Waits until this transfer is the only one. */
    synchronized void enter(Send send) {
        while (busy) {
            send.checkNotFailed();
            checkOpen();
            try {
                wait(TURN_MILLIS);
            } catch (InterruptedException e) {
                throw Failure.of(Kind.CANCELLED, Failure.Side.SENDER, "interrupted while another transfer ran", e);
            }
        }
        send.checkNotFailed();
        checkOpen();
        busy = true;
        send.number = ++numbers;
        current = send;
    }

    synchronized void leave() {
        current = null;
        busy = false;
        releaseIfIdle();
        notifyAll();
    }

    private void checkOpen() {
        String why = closedBecause();
        if (why != null) {
            throw ended(why);
        }
    }

    /** For a transfer that has not begun. @param why as {@link #closedBecause} gave it */
    static Failure ended(String why) {
        return Failure.of(Kind.LINK_CLOSED, Failure.Side.SENDER, why + ". Connect the two JVMs again");
    }

    // ---- writing

    /** A source for the transfer's graph. */
    BlockSource open(Send send, Object root, long imageId) {
        String serializer = send.request.getSerializer();
        if (Serializers.isEngine(serializer)) {
            long pause = send.request.getMaxPauseMicros() * 1000;
            for (String cut : send.request.getCutsList()) {
                Cut.apply(cut, context.engine().rules());
            }
            return new EngineSource(
                    context.engine()
                            .newWriter(
                                    pool,
                                    new WriterOptions(segmentBytes, pause, send.request.getConsistent(), imageId)),
                    root);
        }
        return new StreamSource(serializers.get(serializer, Failure.Side.SENDER), root, pool, stack);
    }

    long newImageId() {
        return random.nextLong();
    }

    void writeBegin(Send send, long imageId) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeLong(imageId);
        send.request.writeTo(out);
        if (bytes.size() > FrameType.BEGIN.limit) {
            throw Failure.of(Kind.USAGE, Failure.Side.SENDER, "the names of this transfer are too long");
        }
        channel.write(FrameType.BEGIN, send.number, bytes.toByteArray());
    }

    Shipping ship(Send send, BlockSource source) {
        return new Shipping(this, context.threads(), send, source, inSharedMemory());
    }

    private boolean inSharedMemory() {
        return transport == Transport.TRANSPORT_SHARED_MEMORY;
    }

    /** Sends blocks, at most {@link FrameChannel#MOST_AT_ONCE}; they are its own from now on. */
    void ship(Send send, List<Block> blocks) throws IOException {
        long start = System.nanoTime();
        if (inSharedMemory()) {
            blocks.forEach(b -> send.shipped(b.slot()));
            channel.writeSlots(send.number, blocks);
        } else {
            for (Block b : blocks) {
                writeBytes(send, b);
            }
        }
        send.shippingNanos += System.nanoTime() - start;
        for (Block b : blocks) {
            send.bytes += b.length();
            send.blocksSent++;
            send.ended |= b.last();
        }
    }

    private void writeBytes(Send send, Block block) throws IOException {
        try {
            ByteBuffer bytes = NativeMemory.view(block.address(), block.length());
            channel.writeBlock(send.number, bytes);
        } finally {
            pool.release(block.slot());
        }
        if (block.last()) {
            channel.write(FrameType.END, send.number, new byte[0]);
        }
    }

    /** A block that is not sent. */
    void drop(Block block) {
        pool.release(block.slot());
    }

    /** Tells the receiver to drop the transfer. */
    void writeFailure(Send send, Failure why) {
        try {
            FrameType type = why.kind() == Kind.CANCELLED ? FrameType.CANCEL : FrameType.ERROR;
            ErrorDetail detail = why.detail();
            byte[] bytes = detail.toByteArray();
            if (bytes.length > type.limit) {
                bytes = detail.toBuilder()
                        .clearRefusals()
                        .clearStackTrace()
                        .build()
                        .toByteArray();
            }
            channel.write(type, send.number, bytes);
        } catch (IOException e) {
            lost(e);
        } catch (Throwable t) {
            // A receiver that was not told goes on waiting for blocks: then it must see the end of the link.
            breakOff(t);
        }
    }

    /** For what nobody foresaw, such as a heap that is full: nobody must go on waiting for this link. */
    void breakOff(Throwable t) {
        close(Failure.of(t, Failure.Side.SENDER));
    }

    void writeAlive(Send send) {
        try {
            channel.writeAlive(send.number);
        } catch (IOException e) {
            lost(e);
        }
    }

    /** Gives back the slots that a failed transfer left with the receiver. After its last word. */
    void reclaim(Send send) {
        for (int slot = send.takeUnacknowledged(); slot >= 0; slot = send.takeUnacknowledged()) {
            pool.release(slot);
        }
    }

    void dropSerializer(String name) {
        serializers.drop(name);
    }

    long silentNanos(Send send) {
        return channel.silentSince(send.begun);
    }

    /** Waits for the receiver's last word. */
    TransferReport await(Send send) {
        try {
            return send.answer.join();
        } catch (CompletionException e) {
            throw Failure.of(e.getCause(), Failure.Side.RECEIVER);
        }
    }

    // ---- reading

    private void readAnswers() {
        try {
            while (true) {
                answer(channel.next());
            }
        } catch (IOException e) {
            lost(e);
        } catch (Throwable t) {
            breakOff(t);
        }
    }

    private void answer(FrameHeader frame) throws IOException {
        Send send = current;
        boolean mine = send != null && send.number == frame.transfer();
        switch (frame.type()) {
            case ACK -> acknowledged(frame, mine ? send : null);
            case RESULT -> {
                TransferReport report = TransferReport.parseFrom(channel.payload(frame));
                if (mine) {
                    send.answer.complete(report);
                }
            }
            case ERROR -> {
                Failure failure = Failure.of(ErrorDetail.parseFrom(channel.payload(frame)));
                if (mine) {
                    send.fail(failure);
                    send.answer.completeExceptionally(failure);
                }
            }
            case ALIVE -> {}
            default -> throw new OutOfStepException("a receiver sends no " + frame.type() + " frames");
        }
    }

    private void acknowledged(FrameHeader frame, Send send) throws IOException {
        ByteBuffer payload = ByteBuffer.wrap(channel.payload(frame));
        if (payload.remaining() != FrameType.ACK.limit || send == null) {
            throw new OutOfStepException("an acknowledgement belongs to no block");
        }
        int slot = payload.getInt();
        send.blocksLanded = payload.getLong();
        if (slot >= 0) {
            if (!send.acknowledge(slot)) {
                throw new OutOfStepException("slot " + slot + " was acknowledged, but not sent");
            }
            pool.release(slot);
        }
    }

    // ---- end

    /** The connection broke, or one side does not keep to the protocol. */
    void lost(IOException e) {
        boolean outOfStep = e instanceof OutOfStepException;
        String what = outOfStep
                ? peer + " does not keep to the link's protocol: " + e.getMessage()
                : "the connection to " + peer + " broke (" + e.getMessage()
                        + "): that JVM has ended or closed the link";
        close(what, outOfStep ? Kind.LINK : Kind.PEER_FAILED, Failure.Side.RECEIVER);
    }

    void close(String why, Kind kind, Failure.Side side) {
        close(Failure.of(kind, side, why));
    }

    private void close(Failure why) {
        Failure failure;
        synchronized (this) {
            if (closedBecause == null) {
                closedBecause = why;
            }
            failure = closedBecause;
        }
        Send send = current;
        try {
            // Before the socket is closed: its threads would report that as the reason.
            if (send != null) {
                send.fail(failure);
            }
        } finally {
            channel.close();
            if (send != null) {
                send.answer.completeExceptionally(failure);
            }
            stack.close();
            synchronized (this) {
                releaseIfIdle();
            }
            whenClosed.run();
        }
    }

    @Override
    public void close(String why) {
        close(why, Kind.LINK, Failure.Side.SENDER);
    }

    @Override
    public String closedBecause() {
        Failure why = closedBecause;
        return why == null ? null : "the link to " + peer + " is closed: " + why.getMessage();
    }

    /** Only when no thread can touch the slots any more. */
    private void releaseIfIdle() {
        if (closedBecause != null && !busy && !released) {
            released = true;
            pool.close();
        }
    }
}

package io.skyway.agent.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.skyway.agent.roots.Roots;
import io.skyway.proto.TransferRequest;
import java.io.EOFException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A receiver that breaks down must not leave its sender waiting: either it answers, or the connection ends. */
@Timeout(60)
class ReceiverLinkTest {
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final ScheduledExecutorService ticker = Executors.newSingleThreadScheduledExecutor();
    private final CountDownLatch closed = new CountDownLatch(1);
    private SocketPair sockets;
    private FrameChannel sender;
    private ReceiverLink link;

    @BeforeEach
    void connect() throws Exception {
        sockets = SocketPair.open();
        sender = new FrameChannel(Wire.plain(sockets.a()), 0);
    }

    @AfterEach
    void end() throws Exception {
        sockets.close();
        threads.shutdownNow();
        ticker.shutdownNow();
    }

    /** A receiver without an engine, so that landing fails, and without memory for blocks, of which none come. */
    private CompletableFuture<Void> receive(Wire wire) {
        LinkContext context = new LinkContext(
                null,
                new Roots(null),
                new Counters(),
                threads,
                ticker,
                30_000,
                InetAddress.getLoopbackAddress(),
                null,
                null);
        FrameChannel channel = new FrameChannel(wire, FrameType.ACK.limit);
        link = new ReceiverLink(context, "id", "the sender", channel, null, true, closed::countDown);
        return CompletableFuture.runAsync(link::run, threads);
    }

    private void begin() throws Exception {
        begin(1);
    }

    private void begin(long number) throws Exception {
        byte[] request = TransferRequest.newBuilder()
                .setDestination("x")
                .setDiscard(true)
                .build()
                .toByteArray();
        sender.write(
                FrameType.BEGIN,
                number,
                ByteBuffer.allocate(Long.BYTES + request.length)
                        .putLong(5)
                        .put(request)
                        .array());
    }

    private Wire breaking(boolean whenRead, boolean whenWritten) {
        Wire plain = Wire.plain(sockets.b());
        return new Wire() {
            @Override
            public int read(ByteBuffer into) throws java.io.IOException {
                int n = plain.read(into);
                if (whenRead) {
                    throw new OutOfMemoryError("Java heap space");
                }
                return n;
            }

            @Override
            public void write(ByteBuffer... from) throws java.io.IOException {
                if (whenWritten) {
                    throw new OutOfMemoryError("Java heap space");
                }
                plain.write(from);
            }

            @Override
            public boolean isOpen() {
                return plain.isOpen();
            }

            @Override
            public void close() {
                plain.close();
            }
        };
    }

    @Test
    void aFailedLandingIsAnswered() throws Exception {
        receive(breaking(false, false));
        begin();
        assertEquals(FrameType.ERROR, sender.next().type());
        assertNull(link.closedBecause());
    }

    @Test
    void anEndThatComesTooLateIsDropped() throws Exception {
        receive(breaking(false, false));
        for (long number = 1; number <= 3; number++) {
            begin(number);
            FrameHeader answer = sender.next();
            assertEquals(FrameType.ERROR, answer.type());
            assertEquals(number, answer.transfer());
            sender.payload(answer);
            for (FrameType type : new FrameType[] {FrameType.ERROR, FrameType.CANCEL}) {
                for (long late = 1; late <= number; late++) {
                    sender.write(type, late, new byte[0]);
                }
            }
        }
        assertNull(link.closedBecause());
    }

    @Test
    void aFrameOfNoTransferEndsTheConnection() throws Exception {
        receive(breaking(false, false));
        sender.write(FrameType.END, 7, new byte[0]);
        assertThrows(EOFException.class, sender::next);
        assertTrue(closed.await(30, TimeUnit.SECONDS));
        assertTrue(link.closedBecause().contains("belongs to no transfer"), link.closedBecause());
    }

    @Test
    void anAnswerThatCannotBeWrittenEndsTheConnection() throws Exception {
        receive(breaking(false, true));
        begin();
        assertThrows(EOFException.class, sender::next);
        assertTrue(closed.await(30, TimeUnit.SECONDS));
        assertTrue(link.closedBecause().contains("Java heap space"), link.closedBecause());
    }

    @Test
    void anErrorOfTheReadingThreadEndsTheConnection() throws Exception {
        receive(breaking(true, false));
        begin();
        assertThrows(EOFException.class, sender::next);
        assertTrue(closed.await(30, TimeUnit.SECONDS));
        assertTrue(link.closedBecause().contains("Java heap space"), link.closedBecause());
    }

    @Test
    void aTickerThatIsGoneEndsTheTransfer() throws Exception {
        ticker.shutdownNow();
        receive(breaking(false, false));
        begin();
        assertEquals(FrameType.ERROR, sender.next().type());
    }
}

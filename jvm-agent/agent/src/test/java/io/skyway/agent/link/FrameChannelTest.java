package io.skyway.agent.link;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.skyway.agent.link.FrameHeader.OutOfStepException;
import java.io.EOFException;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FrameChannelTest {
    private static final int BLOCK_LIMIT = 1 << 20;

    private SocketPair sockets;
    private FrameChannel a;
    private FrameChannel b;

    @BeforeEach
    void connect() throws Exception {
        sockets = SocketPair.open();
        a = new FrameChannel(Wire.plain(sockets.a()), BLOCK_LIMIT);
        b = new FrameChannel(Wire.plain(sockets.b()), BLOCK_LIMIT);
    }

    @AfterEach
    void close() throws Exception {
        sockets.close();
    }

    @Test
    void framesArriveInOrder() throws Exception {
        a.write(FrameType.BEGIN, 1, new byte[] {1, 2, 3});
        a.writeSlot(1, 5, 700);
        a.writeAlive(1);
        a.write(FrameType.END, 1, new byte[0]);

        FrameHeader begin = b.next();
        assertEquals(FrameType.BEGIN, begin.type());
        assertArrayEquals(new byte[] {1, 2, 3}, b.payload(begin));
        ByteBuffer slot = ByteBuffer.wrap(b.payload(b.next()));
        assertEquals(5, slot.getInt());
        assertEquals(700, slot.getLong());
        assertEquals(FrameType.ALIVE, b.next().type());
        assertEquals(new FrameHeader(FrameType.END, 0, 1), b.next());
    }

    @Test
    void aBlockLargerThanAnySocketBufferArrivesWhole() throws Exception {
        byte[] block = new byte[BLOCK_LIMIT];
        new Random(7).nextBytes(block);
        CompletableFuture<Void> writing = CompletableFuture.runAsync(() -> {
            try {
                for (int i = 0; i < 20; i++) {
                    a.writeBlock(9, ByteBuffer.wrap(block));
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        for (int i = 0; i < 20; i++) {
            FrameHeader frame = b.next();
            if (i % 3 == 0) {
                b.skip(frame.length());
            } else {
                ByteBuffer into = ByteBuffer.allocateDirect(frame.length());
                b.fill(into);
                byte[] got = new byte[frame.length()];
                into.flip().get(got);
                assertArrayEquals(block, got);
            }
        }
        writing.get(30, TimeUnit.SECONDS);
    }

    @Test
    void aFrameOverTheLimitIsRefusedBeforeItIsRead() throws Exception {
        FrameChannel small = new FrameChannel(Wire.plain(sockets.b()), 10);
        a.writeBlock(1, ByteBuffer.allocate(11));
        assertThrows(OutOfStepException.class, small::next);
    }

    @Test
    void aClosedPeerIsNoticedAtOnce() {
        a.close();
        assertThrows(EOFException.class, b::next);
    }

    @Test
    void onlyWaitingCountsAsSilence() throws Exception {
        assertEquals(0, b.silentSince(System.nanoTime() - 1_000_000_000), "nobody reads");
        CompletableFuture<FrameHeader> reading = CompletableFuture.supplyAsync(() -> {
            try {
                return b.next();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        long begin = System.nanoTime();
        while (b.silentSince(begin) == 0) {
            Thread.sleep(1);
        }
        a.write(FrameType.END, 1, new byte[0]);
        assertEquals(FrameType.END, reading.get(30, TimeUnit.SECONDS).type());
        assertEquals(0, b.silentSince(begin));
        assertTrue(b.isOpen());
    }
}

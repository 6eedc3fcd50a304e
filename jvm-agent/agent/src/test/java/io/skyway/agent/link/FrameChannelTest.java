package io.skyway.agent.link;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.skyway.agent.link.FrameHeader.OutOfStepException;
import io.skyway.core.Block;
import java.io.EOFException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
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
        a.writeSlots(1, List.of(new Block(5, 0, 700, false)));
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
    void asManySlotsAsFitGoOutInOneWriteWithTheEnd() throws Exception {
        List<Block> blocks = new ArrayList<>();
        for (int i = 1; i <= FrameChannel.MOST_AT_ONCE; i++) {
            blocks.add(new Block(i, 0, 100 * i, i == FrameChannel.MOST_AT_ONCE));
        }
        a.writeSlots(4, blocks);

        for (Block block : blocks) {
            FrameHeader frame = b.next();
            assertEquals(new FrameHeader(FrameType.BLOCK, FrameType.ACK.limit, 4), frame);
            ByteBuffer slot = ByteBuffer.wrap(b.payload(frame));
            assertEquals(block.slot(), slot.getInt());
            assertEquals(block.length(), slot.getLong());
        }
        assertEquals(new FrameHeader(FrameType.END, 0, 4), b.next());
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

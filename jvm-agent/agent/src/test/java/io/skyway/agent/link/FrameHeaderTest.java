package io.skyway.agent.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.skyway.agent.link.FrameHeader.OutOfStepException;
import java.nio.ByteBuffer;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class FrameHeaderTest {
    private static final int BLOCK_LIMIT = 1 << 20;

    private static ByteBuffer header(FrameType type, int length) {
        ByteBuffer b = ByteBuffer.allocate(FrameHeader.BYTES);
        FrameHeader.put(b, type, length, -5);
        return b.flip();
    }

    private static int limit(FrameType type) {
        return type == FrameType.BLOCK ? BLOCK_LIMIT : type.limit;
    }

    @ParameterizedTest
    @EnumSource
    void everyTypeSurvives(FrameType type) throws Exception {
        FrameHeader h = FrameHeader.read(header(type, limit(type)), BLOCK_LIMIT);
        assertEquals(new FrameHeader(type, limit(type), -5), h);
    }

    @ParameterizedTest
    @EnumSource
    void aLengthOverTheLimitIsRefused(FrameType type) {
        assertThrows(OutOfStepException.class, () -> FrameHeader.read(header(type, limit(type) + 1), BLOCK_LIMIT));
        assertThrows(OutOfStepException.class, () -> FrameHeader.read(header(type, -1), BLOCK_LIMIT));
    }

    @Test
    void otherBytesAreRefused() {
        byte[] bytes = new byte[FrameHeader.BYTES];
        assertThrows(OutOfStepException.class, () -> FrameHeader.read(ByteBuffer.wrap(bytes), BLOCK_LIMIT));
        long seed = 42;
        Random random = new Random(seed);
        for (int i = 0; i < 1000; i++) {
            random.nextBytes(bytes);
            assertThrows(
                    OutOfStepException.class,
                    () -> FrameHeader.read(ByteBuffer.wrap(bytes), BLOCK_LIMIT),
                    "seed " + seed);
        }
    }
}

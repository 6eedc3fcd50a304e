package io.skyway.agent.link;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Starts every frame: a type (4 bytes), the length of what follows (4), the number of the transfer on this link (8).
 *
 * @param length bytes after the header
 */
record FrameHeader(FrameType type, int length, long transfer) {
    static final int BYTES = 16;
    /** Upper bytes of the type, so that a stream out of step is noticed at once. */
    private static final int MARK = 0x534B5900;

    static void put(ByteBuffer out, FrameType type, int length, long transfer) {
        out.putInt(MARK | type.code).putInt(length).putLong(transfer);
    }

    /**
     * Reads and checks a header.
     *
     * @param blockLimit most bytes of a block on this link
     * @throws OutOfStepException when this is no header, or its length is over the limit
     */
    static FrameHeader read(ByteBuffer in, int blockLimit) throws OutOfStepException {
        int word = in.getInt();
        int length = in.getInt();
        long transfer = in.getLong();
        FrameType type = (word & 0xffffff00) == MARK ? FrameType.of(word & 0xff) : null;
        if (type == null) {
            throw new OutOfStepException("0x" + Integer.toHexString(word) + " is no frame");
        }
        int limit = type == FrameType.BLOCK ? blockLimit : type.limit;
        if (length < 0 || length > limit) {
            throw new OutOfStepException(
                    "a " + type + " frame of " + length + " bytes is over the limit of " + limit + " bytes");
        }
        return new FrameHeader(type, length, transfer);
    }

    /** The peer sent what it never should at this point. The link cannot go on. */
    static final class OutOfStepException extends IOException {
        private static final long serialVersionUID = 1L;

        OutOfStepException(String message) {
            super(message);
        }
    }
}

package io.skyway.agent.link;

import io.skyway.agent.link.FrameHeader.OutOfStepException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;

/**
 * How a link begins. The sender connects and writes the token, 32 raw bytes, and nothing else is read before they are
 * right. Then a {@link Hello}; the receiver answers with a {@link Reply}; then both write frames.
 */
final class Handshake {
    static final int VERSION = 1;
    static final int TOKEN_BYTES = 32;
    /** Most bytes of a hello or a reply. */
    static final int MOST_BYTES = 8 << 10;

    private Handshake() {}

    static byte[] newToken() {
        byte[] token = new byte[TOKEN_BYTES];
        new SecureRandom().nextBytes(token);
        return token;
    }

    /** In constant time, so that a wrong token says nothing about the right one. */
    static boolean sameToken(byte[] expected, byte[] actual) {
        return MessageDigest.isEqual(expected, actual);
    }

    /**
     * What the sender says first.
     *
     * @param segmentBytes largest segment that both sides can carve
     * @param pid the sender's, to open its shared memory
     * @param fd the shared memory's descriptor in the sender, or -1 to use TCP
     * @param slotBytes size of a slot of that memory, and most bytes of a block on TCP
     */
    record Hello(int version, String linkId, String fingerprint, int segmentBytes, long pid, int fd, int slotBytes) {
        ByteBuffer encode() {
            ByteBuffer out = ByteBuffer.allocate(MOST_BYTES);
            out.putInt(0).putInt(version);
            putText(out, linkId);
            putText(out, fingerprint);
            return lengthFirst(out.putInt(segmentBytes).putLong(pid).putInt(fd).putInt(slotBytes));
        }

        /** @param in what follows the length */
        static Hello decode(ByteBuffer in) throws OutOfStepException {
            try {
                int version = in.getInt();
                if (version != VERSION) {
                    // Nothing after it can be trusted to mean the same.
                    return new Hello(version, "", "", 0, 0, -1, 0);
                }
                return new Hello(version, text(in), text(in), in.getInt(), in.getLong(), in.getInt(), in.getInt());
            } catch (RuntimeException e) {
                throw new OutOfStepException("the hello is malformed");
            }
        }
    }

    /**
     * The receiver's answer.
     *
     * @param refusal why there is no link, or empty
     * @param sharedMemory whether blocks travel through the sender's memory
     * @param note why not, although the sender offered it
     */
    record Reply(int version, String refusal, boolean sharedMemory, String note) {
        ByteBuffer encode() {
            ByteBuffer out = ByteBuffer.allocate(MOST_BYTES);
            out.putInt(0).putInt(version);
            putText(out, refusal);
            out.put((byte) (sharedMemory ? 1 : 0));
            putText(out, note);
            return lengthFirst(out);
        }

        static Reply decode(ByteBuffer in) throws OutOfStepException {
            try {
                return new Reply(in.getInt(), text(in), in.get() != 0, text(in));
            } catch (RuntimeException e) {
                throw new OutOfStepException("the reply is malformed");
            }
        }
    }

    private static ByteBuffer lengthFirst(ByteBuffer out) {
        return out.putInt(0, out.position() - Integer.BYTES).flip();
    }

    private static void putText(ByteBuffer out, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(bytes.length, MOST_BYTES / 4);
        out.putInt(length).put(bytes, 0, length);
    }

    private static String text(ByteBuffer in) {
        int length = in.getInt();
        if (length < 0 || length > in.remaining()) {
            throw new IllegalArgumentException();
        }
        byte[] bytes = new byte[length];
        in.get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}

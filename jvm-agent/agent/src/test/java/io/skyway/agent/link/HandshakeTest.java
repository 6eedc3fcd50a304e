package io.skyway.agent.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.skyway.agent.link.FrameHeader.OutOfStepException;
import io.skyway.agent.link.Handshake.Hello;
import io.skyway.agent.link.Handshake.Reply;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class HandshakeTest {
    private static final Hello HELLO = new Hello(Handshake.VERSION, "link-1", "c0ffee", 1 << 19, 4711, 9, 1 << 20);

    @Test
    void tokensDiffer() {
        byte[] a = Handshake.newToken();
        byte[] b = Handshake.newToken();
        assertEquals(Handshake.TOKEN_BYTES, a.length);
        assertFalse(Handshake.sameToken(a, b));
        assertTrue(Handshake.sameToken(a, a.clone()));
        byte[] almost = a.clone();
        almost[31] ^= 1;
        assertFalse(Handshake.sameToken(a, almost));
        assertFalse(Handshake.sameToken(a, new byte[0]));
    }

    @Test
    void messagesSurvive() throws Exception {
        assertEquals(HELLO, Hello.decode(withoutLength(HELLO.encode())));
        Reply reply = new Reply(Handshake.VERSION, "nein, weil …", true, "");
        assertEquals(reply, Reply.decode(withoutLength(reply.encode())));
    }

    private static ByteBuffer withoutLength(ByteBuffer message) {
        assertEquals(message.remaining() - Integer.BYTES, message.getInt());
        return message;
    }

    @Test
    void aTooLongTextIsCutNotRefused() throws Exception {
        Reply reply = new Reply(Handshake.VERSION, "x".repeat(100_000), false, "y".repeat(100_000));
        ByteBuffer encoded = reply.encode();
        assertTrue(encoded.remaining() <= Handshake.MOST_BYTES);
        assertTrue(Reply.decode(withoutLength(encoded)).refusal().startsWith("xxx"));
    }

    @Test
    void everyTruncationIsRefused() {
        ByteBuffer whole = HELLO.encode();
        for (int n = Integer.BYTES; n < whole.limit(); n++) {
            ByteBuffer cut = whole.duplicate().limit(n).position(Integer.BYTES);
            assertThrows(OutOfStepException.class, () -> Hello.decode(cut));
        }
    }

    @Test
    void ofAnotherVersionOnlyTheVersionIsRead() throws Exception {
        ByteBuffer other = ByteBuffer.allocate(4).putInt(99).flip();
        assertEquals(99, Hello.decode(other).version());
    }

    @Test
    void aMessageOverTheLimitIsRefusedBeforeItIsRead() throws Exception {
        try (SocketPair sockets = SocketPair.open()) {
            Wire.plain(sockets.a())
                    .write(ByteBuffer.allocate(4)
                            .putInt(Handshake.MOST_BYTES + 1)
                            .flip());
            Wire peer = Wire.plain(sockets.b());
            assertThrows(OutOfStepException.class, () -> Sockets.readMessage(peer));
        }
    }
}

package io.skyway.agent.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.skyway.core.SkywayException.Kind;
import io.skyway.proto.TransferRequest;
import org.junit.jupiter.api.Test;

class SendTest {
    private final Send send = new Send(TransferRequest.getDefaultInstance());

    @Test
    void theFirstFailureCounts() {
        send.checkNotFailed();
        send.cancel("why");
        send.fail(Failure.of(Kind.LINK, Failure.Side.RECEIVER, "later"));
        Failure f = assertThrows(Failure.class, send::checkNotFailed);
        assertEquals(Kind.CANCELLED, f.kind());
        assertEquals("sender", f.detail().getSide());
    }

    @Test
    void onlySentSlotsCanBeAcknowledgedAndOnlyOnce() {
        send.shipped(3);
        send.shipped(7);
        assertFalse(send.acknowledge(4));
        assertFalse(send.acknowledge(-1));
        assertTrue(send.acknowledge(3));
        assertFalse(send.acknowledge(3));
        assertEquals(7, send.takeUnacknowledged());
        assertEquals(-1, send.takeUnacknowledged());
    }
}

package io.skyway.agent.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.skyway.proto.ErrorDetail;
import io.skyway.proto.Refusal;
import org.junit.jupiter.api.Test;

class ErrorTrailerTest {
    private static final int MOST = 4096;

    @Test
    void aSmallDetailStaysAsItIs() {
        ErrorDetail d =
                ErrorDetail.newBuilder().setMessage("m").setStackTrace("t").build();
        assertEquals(d, ErrorTrailer.fit(d, MOST));
    }

    @Test
    void theStackTraceGoesFirst() {
        ErrorDetail d = ErrorDetail.newBuilder()
                .setMessage("what")
                .setStackTrace("x".repeat(100_000))
                .build();
        ErrorDetail fitted = ErrorTrailer.fit(d, MOST);
        assertTrue(fitted.getSerializedSize() <= MOST);
        assertEquals("what", fitted.getMessage());
        assertFalse(fitted.getStackTrace().isEmpty());
    }

    @Test
    void oneRefusalStaysWithBothEndsOfItsPath() {
        ErrorDetail.Builder d = ErrorDetail.newBuilder().setMessage("m".repeat(10_000));
        for (int i = 0; i < 100; i++) {
            d.addRefusals(Refusal.newBuilder().setPath("root" + ".next".repeat(2000) + ".thread"));
        }
        ErrorDetail fitted = ErrorTrailer.fit(d.build(), MOST);
        assertTrue(fitted.getSerializedSize() <= MOST);
        String path = fitted.getRefusals(0).getPath();
        assertTrue(path.startsWith("root.next") && path.endsWith(".thread"), path);
    }
}

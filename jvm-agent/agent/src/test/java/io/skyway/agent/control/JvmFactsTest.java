package io.skyway.agent.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.skyway.core.Layout;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JvmFactsTest {
    @Test
    void layoutsSurviveTheWire() {
        Layout layout = new Layout("f00", Map.of("object alignment", "8", "compressed oops", "true"), 1 << 19);
        assertEquals(layout, JvmFacts.fromProto(JvmFacts.toProto(layout)));
    }

    @Test
    void thisProcessHasStarted() {
        assertTrue(JvmFacts.startTimeTicks() > 0);
    }

    @Test
    void theMainClassIsTheFirstWord() {
        assertEquals("com.acme.Main", JvmFacts.mainClass("com.acme.Main a b"));
        assertEquals("app.jar", JvmFacts.mainClass("app.jar"));
        assertEquals("", JvmFacts.mainClass(""));
    }
}

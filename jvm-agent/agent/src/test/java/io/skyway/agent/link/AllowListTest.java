package io.skyway.agent.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AllowListTest {
    @ParameterizedTest
    @CsvSource({
        "com.acme.Order, com.acme.Order, true",
        "com.acme.Order, com.acme.Order$Line, false",
        "com.acme.Order*, com.acme.Order$Line, true",
        "com.acme.*, com.acme.Order, true",
        "com.acme.*, com.acme.internal.Order, false",
        "com.acme.*, com.acmes.Order, false",
        "com.acme.**, com.acme.internal.Order, true",
        "*, com.acme.Order, true",
        "!com.acme.internal.**;com.acme.**, com.acme.internal.Order, false",
        "!com.acme.internal.**;com.acme.**, com.acme.Order, true",
        "com.acme.**;!com.acme.internal.**, com.acme.internal.Order, true",
        "com.acme.A; com.acme.B ;, com.acme.B, true",
        "com.acme.*, java.lang.String, true",
        "!**, java.lang.Integer, true",
        "com.acme.*, java.util.ArrayList, false",
    })
    void matches(String patterns, String className, boolean allowed) {
        assertEquals(allowed, new AllowList(patterns).test(className));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "com acme",
                "com.*.acme",
                "*.Order",
                "com.acme.***",
                "com..acme",
                "maxdepth=3",
                "!",
                "java.base/*"
            })
    void otherPatternsAreNone(String pattern) {
        IllegalArgumentException e =
                assertThrows(IllegalArgumentException.class, () -> new AllowList("com.acme.Order;" + pattern));
        assertTrue(e.getMessage().contains("'" + pattern + "'"), e.getMessage());
    }

    @Test
    void nothingIsAllowedByAnEmptyList() {
        assertEquals(false, new AllowList("").test("com.acme.Order"));
    }
}

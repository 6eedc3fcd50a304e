package io.skyway.agent.control;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class TokenTest {
    @Test
    void onlyTheSameTokenMatches() {
        Token token = new Token("secret");
        assertTrue(token.matches("secret"));
        assertFalse(token.matches("secres"));
        assertFalse(token.matches("secret2"));
        assertFalse(token.matches(""));
        assertFalse(token.matches(null));
    }
}

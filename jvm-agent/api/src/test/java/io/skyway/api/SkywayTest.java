package io.skyway.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.skyway.api.internal.Names;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SkywayTest {

    @AfterEach
    void forget() {
        Names.list().forEach(e -> Names.drop(e.name()));
    }

    @Test
    void aPublishedGraphIsListedUntilItIsWithdrawn() {
        List<String> root = List.of("a");
        Skyway.publish("catalog", root);
        assertSame(root, Names.get("catalog").root());
        assertFalse(Names.get("catalog").received());
        assertNull(Skyway.peek("catalog"), "peek shows received graphs only");
        assertTrue(Skyway.withdraw("catalog"));
        assertFalse(Skyway.withdraw("catalog"));
        assertNull(Names.get("catalog"));
    }

    @Test
    void aReceivedGraphCannotBeWithdrawn() {
        Names.deliver("in", "x");
        assertFalse(Skyway.withdraw("in"));
        assertEquals("x", Skyway.peek("in"));
    }

    @Test
    void publishingAgainReplaces() {
        Skyway.publish("n", "old");
        Skyway.publish("n", "new");
        assertEquals("new", Names.get("n").root());
        assertEquals(1, Names.list().size());
    }

    @Test
    void aNameHasALoaderWhenTheApplicationSaysSo() {
        ClassLoader mine = new ClassLoader(null) {};
        Skyway.classLoader("plug-in", mine);
        assertSame(mine, Names.loaderOf("plug-in"));
        assertNull(Names.loaderOf("other"));
        assertThrows(IllegalArgumentException.class, () -> Skyway.classLoader("a#b", mine));
        assertThrows(NullPointerException.class, () -> Skyway.classLoader("plug-in", null));
    }

    @Test
    void takeRemoves() throws Exception {
        Names.deliver("in", "x");
        assertEquals("x", Skyway.take("in"));
        assertNull(Skyway.peek("in"));
        assertThrows(TimeoutException.class, () -> Skyway.take("in", Duration.ofMillis(1)));
    }

    @Test
    void takeWaitsForTheGraph() throws Exception {
        FutureTask<Object> taker = new FutureTask<>(() -> Skyway.take("late", Duration.ofSeconds(30)));
        Thread thread = new Thread(taker, "taker");
        thread.start();
        Names.deliver("other", "not this one");
        Names.deliver("late", "x");
        assertEquals("x", taker.get(30, TimeUnit.SECONDS));
    }

    @Test
    void takeIgnoresPublishedGraphs() {
        Skyway.publish("mine", "x");
        assertThrows(TimeoutException.class, () -> Skyway.take("mine", Duration.ofMillis(1)));
    }

    @Test
    void theHookSeesTheGraphBeforeAnyoneElse() {
        List<Object> seen = new ArrayList<>();
        Skyway.onReceive("hooked", String.class, s -> {
            assertNull(Skyway.peek("hooked"));
            seen.add(s);
        });
        Names.deliver("hooked", "x");
        assertEquals(List.of("x"), seen);
        assertEquals("x", Skyway.peek("hooked"));
    }

    @Test
    void aLaterHookReplacesTheEarlierOne() {
        List<Object> seen = new ArrayList<>();
        Skyway.onReceive("replaced", String.class, s -> seen.add("old " + s));
        Skyway.onReceive("replaced", String.class, s -> seen.add("new " + s));
        Names.deliver("replaced", "x");
        assertEquals(List.of("new x"), seen);
    }

    @Test
    void aHookThatThrowsKeepsTheGraphInvisible() {
        Skyway.onReceive("bad", String.class, s -> {
            throw new IllegalArgumentException("no");
        });
        assertThrows(IllegalArgumentException.class, () -> Names.deliver("bad", "x"));
        assertNull(Skyway.peek("bad"));
    }

    @Test
    void aRootOfAnotherTypeIsRefusedWithBothTypes() {
        Skyway.onReceive("typed", Integer.class, i -> {});
        ClassCastException e = assertThrows(ClassCastException.class, () -> Names.deliver("typed", "x"));
        assertTrue(e.getMessage().contains("java.lang.String"), e.getMessage());
        assertTrue(e.getMessage().contains("java.lang.Integer"), e.getMessage());
    }

    @Test
    void aPublishedNameIsNoDestination() {
        Skyway.publish("mine", "x");
        assertThrows(IllegalStateException.class, () -> Names.deliver("mine", "y"));
        assertEquals("x", Names.get("mine").root());
    }

    @Test
    void namesAreChecked() {
        for (String bad : List.of("", "  ", "com.acme.A#b", "left:catalog")) {
            assertThrows(IllegalArgumentException.class, () -> Skyway.publish(bad, "x"), bad);
            assertThrows(IllegalArgumentException.class, () -> Skyway.take(bad, Duration.ZERO), bad);
        }
        assertThrows(NullPointerException.class, () -> Skyway.publish("n", null));
    }
}

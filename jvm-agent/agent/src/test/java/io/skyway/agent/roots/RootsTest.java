package io.skyway.agent.roots;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.skyway.api.Skyway;
import io.skyway.api.internal.Names;
import io.skyway.core.SkywayException;
import io.skyway.core.SkywayException.Kind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RootsTest {
    private final Roots roots = new Roots(null);

    @AfterEach
    void forget() {
        Names.list().forEach(e -> Names.drop(e.name()));
    }

    @Test
    void namesAreFound() {
        Skyway.publish("catalog", "x");
        assertEquals("x", roots.find("catalog"));
        SkywayException e = assertThrows(SkywayException.class, () -> roots.find("catalogue"));
        assertEquals(Kind.ROOT_MISSING, e.kind());
        assertTrue(e.getMessage().contains("there are: catalog"), e.getMessage());
    }

    @Test
    void graphsAreDelivered() throws Exception {
        roots.destination("in").deliver("x");
        assertEquals("x", Skyway.take("in"));
    }

    @Test
    void aDestinationHasTheClassPathOrItsOwnLoader() {
        ClassLoader mine = new ClassLoader(null) {};
        Skyway.classLoader("plug-in", mine);
        assertSame(mine, roots.destination("plug-in").loader());
        assertSame(ClassLoader.getSystemClassLoader(), roots.destination("in").loader());
    }

    @Test
    void aPublishedNameIsNoDestination() {
        Skyway.publish("mine", "x");
        SkywayException e = assertThrows(SkywayException.class, () -> roots.destination("mine"));
        assertEquals(Kind.USAGE, e.kind());
    }

    @Test
    void aHooksFailureIsReportedAsItsOwn() {
        Skyway.onReceive("picky", Object.class, x -> {
            throw new IllegalStateException("not today");
        });
        Roots.Destination picky = roots.destination("picky");
        SkywayException e = assertThrows(SkywayException.class, () -> picky.deliver("x"));
        assertTrue(e.getMessage().contains("not today"), e.getMessage());
        assertNull(Skyway.peek("picky"));
    }
}

package io.skyway.agent.roots;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.skyway.core.SkywayException;
import io.skyway.core.SkywayException.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FieldPathTest {

    static class Base {
        private final Map<String, Integer> byName = Map.of("a", 1);
        Object nothing;
        int number = 5;
    }

    static final class Catalog extends Base {
        private static final Catalog INSTANCE = new Catalog();
        private static List<String> list = new ArrayList<>();
        static Object empty;
        static int count;
    }

    private static final String NAME = Catalog.class.getName();

    private final Roots roots = new Roots(null);

    @Test
    void aPathIsFollowed() {
        assertSame(Catalog.INSTANCE, roots.find(NAME + "#INSTANCE"));
        assertSame(((Base) Catalog.INSTANCE).byName, roots.find(NAME + "#INSTANCE.byName"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"#x", "com.acme.A#", "com.acme.A#b..c", "com.acme.A#b.", "a b#c", "A#b#c"})
    void aMalformedPathIsAUsageError(String text) {
        assertEquals(Kind.USAGE, failure(() -> roots.find(text)).kind());
    }

    @ParameterizedTest
    @CsvSource({
        "INSTANCE.nothing, is null at this time",
        "INSTANCE.nothing.more, INSTANCE.nothing is null",
        "INSTANCE.missing, no instance field missing",
        "missing, no static field missing",
        "byName, no static field byName",
        "empty, is null at this time"
    })
    void aPathThatLeadsNowhereSaysWhere(String fields, String message) {
        SkywayException e = failure(() -> roots.find(NAME + "#" + fields));
        assertEquals(Kind.ROOT_MISSING, e.kind());
        assertTrue(e.getMessage().contains(message), e.getMessage());
    }

    @Test
    void aDestinationIsWritten() {
        List<String> graph = new ArrayList<>(List.of("x"));
        roots.destination(NAME + "#list").deliver(graph);
        assertSame(graph, Catalog.list);
        roots.destination(NAME + "#INSTANCE.nothing").deliver("y");
        assertEquals("y", Catalog.INSTANCE.nothing);
        Catalog.INSTANCE.nothing = null;
    }

    @ParameterizedTest
    @CsvSource({"INSTANCE, final", "INSTANCE.byName, final", "count, int", "INSTANCE.number, int"})
    void whatCannotHoldAGraphIsNoDestination(String fields, String message) {
        SkywayException e = failure(() -> roots.destination(NAME + "#" + fields));
        assertEquals(Kind.USAGE, e.kind());
        assertTrue(e.getMessage().contains(message), e.getMessage());
    }

    @Test
    void aRootOfAnotherTypeIsRefusedWithBothTypes() {
        SkywayException e = failure(() -> roots.destination(NAME + "#list").deliver("text"));
        assertEquals(Kind.USAGE, e.kind());
        assertTrue(e.getMessage().contains("java.util.List"), e.getMessage());
        assertTrue(e.getMessage().contains("java.lang.String"), e.getMessage());
    }

    private static SkywayException failure(Runnable body) {
        return assertThrows(SkywayException.class, body::run);
    }
}

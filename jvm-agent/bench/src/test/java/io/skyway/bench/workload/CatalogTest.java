package io.skyway.bench.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class CatalogTest {
    private static Catalog all;

    @BeforeAll
    static void build() throws IOException {
        all = (Catalog) new CatalogWorkload().build(0, 0);
    }

    private static ClassNode node(Class<?> type) {
        ClassNode node = all.classes.get(type.getName().replace('.', '/'));
        assertEquals(type.getName().replace('.', '/'), node.name);
        return node;
    }

    @Test
    void holdsWhatReflectionSees() {
        for (Class<?> type : List.of(String.class, ArrayList.class, Thread.State.class, Runnable.class)) {
            ClassNode node = node(type);
            Set<String> methods = Arrays.stream(node.methods)
                    .filter(method -> !method.name.startsWith("<"))
                    .map(method -> method.name)
                    .collect(Collectors.toCollection(TreeSet::new));
            Set<String> reflected = Arrays.stream(type.getDeclaredMethods())
                    .map(java.lang.reflect.Method::getName)
                    .collect(Collectors.toCollection(TreeSet::new));
            assertEquals(reflected, methods);
            assertEquals(type.getDeclaredFields().length, node.fields.length);
            assertEquals(type.getModule().getName(), node.parent.module.name);
            assertEquals(type.getPackageName().replace('.', '/'), node.parent.name);
            assertEquals(
                    Arrays.stream(type.getInterfaces()).map(CatalogTest::node).toList(),
                    Arrays.asList(node.interfaces));
        }
    }

    @Test
    void classesAreLinked() {
        assertSame(node(Object.class), node(String.class).superclass);
        assertSame(node(Number.class), node(Integer.class).superclass);
        assertNull(node(Object.class).superclass);
        ClassNode string = node(String.class);
        assertTrue(Arrays.stream(string.methods).allMatch(method -> method.owner == string));
        assertTrue(string.parent.classes.contains(string));
        assertTrue(string.parent.module.packages.contains(string.parent));
        assertTrue(all.modules.contains(string.parent.module));
    }

    @Test
    void constantsHaveTheirValues() {
        FieldNode max = Arrays.stream(node(Long.class).fields)
                .filter(field -> field.name.equals("MAX_VALUE"))
                .findFirst()
                .orElseThrow();
        assertEquals(Long.MAX_VALUE, max.constantValue);
        assertEquals("J", max.descriptor);
        List<?> constants = Arrays.asList(node(Long.class).constants);
        assertTrue(constants.contains(Long.MAX_VALUE));
        assertTrue(constants.stream().anyMatch(SymbolNode.class::isInstance));
    }

    @Test
    void equalStringsAreShared() {
        assertSame(node(String.class).superclassName, node(Object.class).name);
        assertSame(node(String.class).superclassName, node(Number.class).superclassName);
    }

    @Test
    void isLargeAndOrdered() {
        assertTrue(all.classes.size() > 5000, () -> all.classes.size() + " classes");
        assertEquals(all.classes.size(), inOrder(all).size());
        List<String> modules = all.modules.stream().map(module -> module.name).toList();
        assertEquals(modules.stream().sorted().toList(), modules);
        for (ModuleNode module : all.modules) {
            List<String> packages =
                    module.packages.stream().map(node -> node.name).toList();
            assertEquals(packages.stream().sorted().distinct().toList(), packages);
        }
    }

    @Test
    void aSizeTakesTheFirstClasses() throws IOException {
        Catalog some = (Catalog) new CatalogWorkload().build(700, 0);
        assertEquals(700, some.classes.size());
        assertEquals(inOrder(all).subList(0, 700), inOrder(some));
        assertTrue(some.classes.values().stream()
                .allMatch(node -> node.superclass == some.classes.get(node.superclassName)));
    }

    private static List<String> inOrder(Catalog catalog) {
        return catalog.modules.stream()
                .flatMap(module -> module.packages.stream())
                .flatMap(node -> node.classes.stream())
                .map(node -> node.name)
                .toList();
    }
}

package io.skyway.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.skyway.api.Serializer;
import io.skyway.api.Workload;
import io.skyway.bench.serializer.CannotMoveException;
import io.skyway.bench.serializer.ForySerializer;
import io.skyway.bench.serializer.KryoSerializer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What serializers make of the workloads. */
class RoundTripTest {
    private static final long SEED = 7;
    /** Java's and Kryo's recursion goes as deep as the graph. */
    private static final long STACK_BYTES = 512L << 20;

    /** Java serialization as an adapter, to test it like the others. */
    private static final class Java implements Serializer {
        @Override
        public String name() {
            return "java";
        }

        @Override
        public void write(Object graph, OutputStream out) throws Exception {
            ObjectOutputStream objects = new ObjectOutputStream(out);
            objects.writeObject(graph);
            objects.flush();
        }

        @Override
        public Object read(InputStream in) throws Exception {
            return new ObjectInputStream(in).readObject();
        }
    }

    private static Serializer serializer(String name) {
        return switch (name) {
            case "java" -> new Java();
            case "kryo" -> new KryoSerializer.WithReferences();
            case "kryo-tree" -> new KryoSerializer.Tree();
            default -> throw new IllegalArgumentException(name);
        };
    }

    static Map<String, Workload> workloads() {
        Map<String, Workload> workloads = new TreeMap<>();
        ServiceLoader.load(Workload.class).forEach(workload -> workloads.put(workload.name(), workload));
        return workloads;
    }

    private static Object build(String workload, long size) throws Exception {
        return workloads().get(workload).build(size, SEED);
    }

    private static <T> T deep(Callable<T> body) throws Exception {
        FutureTask<T> task = new FutureTask<>(body);
        new Thread(null, task, "deep", STACK_BYTES).start();
        try {
            return task.get();
        } catch (java.util.concurrent.ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    private static Object copy(Serializer serializer, Object graph) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        serializer.write(graph, bytes);
        return serializer.read(new ByteArrayInputStream(bytes.toByteArray()));
    }

    @ParameterizedTest
    @CsvSource({
        "catalog, 1500, java, true",
        "catalog, 1500, kryo, true",
        "media, 500, java, true",
        "media, 500, kryo, true",
        "media, 500, kryo-tree, false",
        "graph, 20000, java, true",
        "graph, 20000, kryo, true",
        "boxes, 20000, java, true",
        "boxes, 20000, kryo, true",
        "boxes, 20000, kryo-tree, false",
        "map, 20000, java, true",
        "map, 20000, kryo, true",
        "map, 20000, kryo-tree, false",
        "bytes, 2, java, true",
        "bytes, 2, kryo, true",
        "bytes, 2, kryo-tree, false",
    })
    void survives(String workload, long size, String name, boolean sharing) throws Exception {
        Object graph = build(workload, size);
        Serializer serializer = serializer(name);
        Object copy = deep(() -> copy(serializer, graph));
        assertTrue(Isomorphism.check(graph, copy, sharing) > 0);
        // The adapters are used again and again.
        assertTrue(Isomorphism.check(graph, deep(() -> copy(serializer, copy)), sharing) > 0);
    }

    @ParameterizedTest
    @CsvSource({"catalog, 1500", "graph, 1000"})
    void kryoWithoutReferencesRefusesCycles(String workload, long size) throws Exception {
        Object graph = build(workload, size);
        Serializer tree = new KryoSerializer.Tree();
        OutputStream out = OutputStream.nullOutputStream();
        CannotMoveException e = assertThrows(
                CannotMoveException.class,
                () -> deep(() -> {
                    tree.write(graph, out);
                    return null;
                }));
        assertTrue(e.getMessage().startsWith("kryo-tree: the graph has a cycle"), e.getMessage());

        Object list = build("boxes", 10);
        assertEquals(list, copy(tree, list), "usable after a failure");
    }

    @Test
    void kryoSaysThatAStackIsTooSmall() throws Exception {
        Object graph = build("graph", 300_000);
        Serializer kryo = new KryoSerializer.WithReferences();
        CannotMoveException e =
                assertThrows(CannotMoveException.class, () -> kryo.write(graph, OutputStream.nullOutputStream()));
        assertTrue(e.getMessage().contains("too deeply"), e.getMessage());
    }

    @Test
    void kryoNamesAClassThatIsNotRegistered() {
        Serializer kryo = new KryoSerializer.WithReferences();
        CannotMoveException e = assertThrows(
                CannotMoveException.class, () -> kryo.write(new RoundTripTest(), OutputStream.nullOutputStream()));
        assertEquals("kryo: Class is not registered: " + RoundTripTest.class.getName(), e.getMessage());
    }

    @Test
    void kryoRefusesBytesThatEndEarly() throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        Serializer kryo = new KryoSerializer.WithReferences();
        kryo.write(build("boxes", 1000), bytes);
        InputStream half = new ByteArrayInputStream(bytes.toByteArray(), 0, bytes.size() / 2);
        assertThrows(CannotMoveException.class, () -> kryo.read(half));
    }

    @Test
    void foryIsOfferedOnlyWithItsJars() {
        assertThrows(ServiceConfigurationError.class, ForySerializer.WithReferences::new);
        assertThrows(ServiceConfigurationError.class, ForySerializer.Tree::new);
    }
}

package io.skyway.bench.workload;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.skyway.api.Workload;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class WorkloadsTest {
    private static final long SEED = 3;

    static List<Workload> all() {
        List<Workload> workloads = new ArrayList<>();
        ServiceLoader.load(Workload.class).forEach(workloads::add);
        return workloads;
    }

    @Test
    void allAreFoundByName() {
        Set<String> names = all().stream().map(Workload::name).collect(Collectors.toCollection(TreeSet::new));
        assertEquals(Set.of("catalog", "media", "graph", "boxes", "map", "bytes"), names);
    }

    @ParameterizedTest
    @MethodSource("all")
    void aSizeThatCannotBeIsRefused(Workload workload) {
        for (long size : new long[] {-1, Long.MIN_VALUE, Integer.MAX_VALUE, Long.MAX_VALUE}) {
            IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> workload.build(size, SEED));
            assertTrue(e.getMessage().startsWith("workload " + workload.name() + ": size " + size), e.getMessage());
        }
    }

    @Test
    void mediaRecordsShareNothing() {
        List<?> records = (List<?>) new MediaWorkload().build(100, SEED);
        assertEquals(100, records.size());
        Set<String> titles = new TreeSet<>();
        for (Object record : records) {
            MediaContent content = (MediaContent) record;
            titles.add(content.media.title);
            assertEquals(2, content.media.persons.size());
            assertEquals(2, content.images.size());
            assertEquals(content.media.title, content.images.get(0).title);
            assertNotSame(content.media.title, content.images.get(0).title);
            assertNotNull(content.media.player);
            assertNotEquals(content.images.get(0).size, content.images.get(1).size);
        }
        assertTrue(titles.stream().anyMatch(title -> title.chars().anyMatch(c -> c > 0xff)), "not all are Latin-1");
        assertTrue(titles.stream().anyMatch(title -> title.chars().allMatch(c -> c < 0x80)), "some are ASCII");
    }

    @Test
    void graphHasItsEdgesInside() {
        GraphNode[] nodes = (GraphNode[]) new GraphWorkload().build(1000, SEED);
        for (int i = 0; i < nodes.length; i++) {
            assertEquals(i, nodes[i].id);
            for (GraphNode target : new GraphNode[] {nodes[i].first, nodes[i].second, nodes[i].third}) {
                assertEquals(target, nodes[target.id]);
            }
        }
        assertArrayEquals(new GraphNode[0], (GraphNode[]) new GraphWorkload().build(0, SEED));
    }

    @Test
    void sameSeedSameContent() {
        assertEquals(new BoxesWorkload().build(100, 1), new BoxesWorkload().build(100, 1));
        assertNotEquals(new BoxesWorkload().build(100, 1), new BoxesWorkload().build(100, 2));
        assertEquals(new MapWorkload().build(100, 1), new MapWorkload().build(100, 1));
        assertNotEquals(new MapWorkload().build(100, 1), new MapWorkload().build(100, 2));
        assertArrayEquals((byte[][]) new BytesWorkload().build(1, 1), (byte[][]) new BytesWorkload().build(1, 1));
    }

    @Test
    void sizesAreThoseThatWereAskedFor() {
        assertEquals(10, ((LinkedList<?>) new BoxesWorkload().build(10, SEED)).size());
        assertEquals(10, ((HashMap<?, ?>) new MapWorkload().build(10, SEED)).size());
        byte[][] arrays = (byte[][]) new BytesWorkload().build(2, SEED);
        assertEquals(2, arrays.length);
        assertEquals(4 << 20, arrays[1].length);
    }
}

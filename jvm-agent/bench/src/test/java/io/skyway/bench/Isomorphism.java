package io.skyway.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** Compares two graphs of workloads side by side; collections by what they hold. Without recursion. */
final class Isomorphism {
    private final boolean sharing;
    private final Map<Object, Object> left = new IdentityHashMap<>();
    private final Map<Object, Object> right = new IdentityHashMap<>();
    private final Deque<Object[]> pending = new ArrayDeque<>();
    private long objects;

    private Isomorphism(boolean sharing) {
        this.sharing = sharing;
    }

    /**
     * Fails where the graphs differ.
     *
     * @param sharing also compare which references are to the same object
     * @return the number of objects
     */
    static long check(Object one, Object other, boolean sharing) throws IllegalAccessException {
        Isomorphism check = new Isomorphism(sharing);
        check.pair(one, other);
        while (!check.pending.isEmpty()) {
            Object[] pair = check.pending.pop();
            check.visit(pair[0], pair[1]);
        }
        return check.objects;
    }

    private void pair(Object one, Object other) {
        if (one == null || other == null) {
            assertSame(one, other);
            return;
        }
        assertSame(one.getClass(), other.getClass());
        if (one instanceof Enum<?>) {
            assertSame(one, other);
        } else if (one instanceof Number) {
            assertEquals(one, other);
        } else if (!sharing) {
            pending.push(new Object[] {one, other});
        } else if (left.putIfAbsent(one, other) == null) {
            assertSame(null, right.putIfAbsent(other, one), "one object stands for two");
            pending.push(new Object[] {one, other});
        } else {
            assertSame(other, left.get(one), "two objects stand for one");
        }
    }

    private void visit(Object one, Object other) throws IllegalAccessException {
        objects++;
        Class<?> type = one.getClass();
        if (one instanceof String) {
            assertEquals(one, other);
        } else if (one instanceof byte[] bytes) {
            org.junit.jupiter.api.Assertions.assertArrayEquals(bytes, (byte[]) other);
        } else if (type.isArray()) {
            assertEquals(Array.getLength(one), Array.getLength(other));
            for (int i = 0; i < Array.getLength(one); i++) {
                pair(Array.get(one, i), Array.get(other, i));
            }
        } else if (one instanceof List<?> list) {
            elements(list, (List<?>) other);
        } else if (one instanceof Map<?, ?> map) {
            Map<?, ?> otherMap = (Map<?, ?>) other;
            elements(new ArrayList<>(map.keySet()), new ArrayList<>(otherMap.keySet()));
            elements(new ArrayList<>(map.values()), new ArrayList<>(otherMap.values()));
        } else {
            for (Field field : type.getFields()) {
                if (Modifier.isStatic(field.getModifiers())) {
                    continue;
                }
                if (field.getType().isPrimitive()) {
                    assertEquals(field.get(one), field.get(other), field.toString());
                } else {
                    pair(field.get(one), field.get(other));
                }
            }
        }
    }

    private void elements(List<?> one, List<?> other) {
        assertEquals(one.size(), other.size());
        var others = other.iterator();
        for (Object element : one) {
            pair(element, others.next());
        }
    }
}

package io.skyway.agent.verify;

import io.skyway.core.ForeignTables;
import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Hashtable;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import jdk.internal.misc.Unsafe;

/**
 * Hash tables whose inner order is each process's own. They go into the digest by their entries, in an order that both
 * processes find: that of a text made from each key, its class, values and parts.
 */
final class HashTables {
    private static final int DEPTH = 4;
    private static final String GUAVA = "com.google.common.collect.";
    private static final Set<Class<?>> STABLE = Set.of(
            String.class,
            Boolean.class,
            Byte.class,
            Short.class,
            Character.class,
            Integer.class,
            Long.class,
            Float.class,
            Double.class,
            BigInteger.class,
            BigDecimal.class);

    private HashTables() {}

    /** Whether objects of this class may be such tables. */
    static boolean mayBe(Class<?> type) {
        return HashMap.class.isAssignableFrom(type)
                || ConcurrentHashMap.class.isAssignableFrom(type)
                || Hashtable.class.isAssignableFrom(type)
                || IdentityHashMap.class.isAssignableFrom(type)
                || alwaysIs(type)
                || ForeignTables.handles(type);
    }

    /** What the library makes anew on arrival, with its entries in their order and without the views that it keeps. */
    private static boolean isMadeAnew(Class<?> type) {
        for (Class<?> c = type; c != null; c = c.getSuperclass()) {
            if (c.getName().startsWith(GUAVA + "ImmutableSorted")) {
                return false;
            }
            if (c.getName().equals(GUAVA + "ImmutableMap") || c.getName().equals(GUAVA + "ImmutableSet")) {
                return true;
            }
        }
        return false;
    }

    /** Whether a table's fields of this class are the library's, and so no part of what it holds. */
    static boolean isInner(Class<?> declaring) {
        return declaring.getName().startsWith("java.") || ForeignTables.isLibrary(declaring.getName());
    }

    /** Not entrySet: a map of the JDK would keep that view of itself, and be another graph afterwards. */
    private static List<Object[]> entries(Object table) {
        if (ForeignTables.handles(table.getClass())) {
            return ForeignTables.entries(table);
        }
        List<Object[]> entries = new ArrayList<>();
        if (table instanceof Map<?, ?> map) {
            map.forEach((k, v) -> entries.add(new Object[] {k, v}));
        } else {
            ((Set<?>) table).forEach(e -> entries.add(new Object[] {e, null}));
        }
        return entries;
    }

    private static boolean isOrdered(Class<?> type) {
        return LinkedHashMap.class.isAssignableFrom(type)
                || isMadeAnew(type)
                || ForeignTables.handles(type) && ForeignTables.isOrdered(type);
    }

    private static boolean alwaysIs(Class<?> type) {
        return isMadeAnew(type)
                || type == WeakHashMap.class
                || type.getName().equals("java.util.ImmutableCollections$SetN")
                || type.getName().equals("java.util.ImmutableCollections$MapN");
    }

    /**
     * Keys and values in turn, sorted; of a set, its elements and nulls. Null when the table's order is the same in every
     * process, so that it can go in as it lies.
     */
    static List<Object> sorted(Object table) {
        List<Object[]> entries = entries(table);
        // Equal boxed values have the same hash everywhere, but not the same identity.
        boolean own = alwaysIs(table.getClass()) || table instanceof IdentityHashMap;
        if (ForeignTables.handles(table.getClass())) {
            own |= ForeignTables.hasOwnHashes(table.getClass(), entries);
        } else if (table instanceof Map) {
            for (Object[] e : entries) {
                own |= e[0] != null && !STABLE.contains(e[0].getClass());
            }
        }
        if (!own) {
            return null;
        }
        if (!isOrdered(table.getClass())) {
            Map<Object, String> texts = new IdentityHashMap<>();
            entries.forEach(e -> texts.computeIfAbsent(e[0], k -> text(k, DEPTH)));
            entries.sort(Comparator.comparing(e -> texts.get(e[0])));
        }
        List<Object> out = new ArrayList<>(entries.size() * 2);
        entries.forEach(e -> Collections.addAll(out, e));
        return out;
    }

    private static String text(Object o, int depth) {
        if (o == null) {
            return "null";
        }
        Class<?> type = o.getClass();
        String name = ClassPlan.stableName(type);
        if (STABLE.contains(type)) {
            return name + " " + o;
        }
        if (o instanceof Enum<?> e) {
            return name + " " + e.name();
        }
        if (o instanceof Class<?> c) {
            return name + " " + ClassPlan.stableName(c);
        }
        if (depth == 0) {
            return name;
        }
        List<String> parts = new ArrayList<>();
        if (type.isArray()) {
            for (int i = 0; i < Array.getLength(o); i++) {
                parts.add(text(Array.get(o, i), depth - 1));
            }
        } else if (mayBe(type)) {
            entries(o).forEach(e -> parts.add(text(e[0], depth - 1) + "=" + text(e[1], depth - 1)));
            Collections.sort(parts);
        } else {
            Unsafe memory = Unsafe.getUnsafe();
            ClassPlan plan = ClassPlan.of(type, 0, false, f -> false);
            for (int i = 0; i < plan.primitives.length; i++) {
                long at = plan.primitives[i];
                parts.add(String.valueOf(
                        switch (plan.sizes[i]) {
                            case 1 -> memory.getByte(o, at);
                            case 2 -> memory.getShort(o, at);
                            case 4 -> memory.getInt(o, at);
                            default -> memory.getLong(o, at);
                        }));
            }
            for (long at : plan.references) {
                parts.add(text(memory.getReference(o, at), depth - 1));
            }
        }
        return name + parts;
    }
}

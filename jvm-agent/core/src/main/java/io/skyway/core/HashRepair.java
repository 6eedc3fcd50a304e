package io.skyway.core;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Hashtable;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Puts the entries of landed hash tables back where this process looks for them.
 *
 * <p>Most tables need nothing: the hash of a string is the same everywhere, and identity hashes travel with their objects.
 * It is different where a hash comes from something that each process has for itself: enum constants, {@code Class}
 * objects and other named objects, what Java has made of a stand-in, and the salt of {@code Set.of} and {@code Map.of}. A
 * table is looked at when it may hold such keys and rebuilt when one of them has another hash here.
 *
 * <p>Stands on private parts of the platform's own tables; a part that this JDK lacks means that tables of that class are
 * checked by their public methods only, and refused when they no longer find their keys.
 */
final class HashRepair {
    /** Classes whose hash depends on nothing but their value. */
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
            BigDecimal.class,
            UUID.class);

    private static final String SET_N = "java.util.ImmutableCollections$SetN";
    private static final String MAP_N = "java.util.ImmutableCollections$MapN";

    private static final Parts PARTS = Parts.find();

    private HashRepair() {}

    /** What must be known of the platform's tables. */
    private record Parts(
            Field table,
            Field size,
            Field threshold,
            Field head,
            Field tail,
            Field nodeHash,
            Field nodeKey,
            Field nodeNext,
            Method putVal,
            Method spread,
            Field oldTable,
            Field oldCount,
            Field oldHash,
            Field oldNext,
            Method oldAdd,
            Field elements,
            Method setProbe,
            Field pairs,
            Method mapProbe,
            Field bins,
            Class<?> treeBin,
            Field treeFirst,
            Field binHash,
            Field binNext,
            Method binSpread,
            Method putBin,
            Field baseCount,
            Field counterCells,
            Field cells,
            Method identityHash) {

        static Parts find() {
            try {
                Class<?> node = Class.forName("java.util.HashMap$Node");
                Class<?> oldEntry = Class.forName("java.util.Hashtable$Entry");
                Class<?> setN = Class.forName(SET_N);
                Class<?> mapN = Class.forName(MAP_N);
                Class<?> bin = Class.forName("java.util.concurrent.ConcurrentHashMap$Node");
                Class<?> treeBin = Class.forName("java.util.concurrent.ConcurrentHashMap$TreeBin");
                return new Parts(
                        field(HashMap.class, "table"),
                        field(HashMap.class, "size"),
                        field(HashMap.class, "threshold"),
                        field(LinkedHashMap.class, "head"),
                        field(LinkedHashMap.class, "tail"),
                        field(node, "hash"),
                        field(node, "key"),
                        field(node, "next"),
                        method(
                                HashMap.class,
                                "putVal",
                                int.class,
                                Object.class,
                                Object.class,
                                boolean.class,
                                boolean.class),
                        method(HashMap.class, "hash", Object.class),
                        field(Hashtable.class, "table"),
                        field(Hashtable.class, "count"),
                        field(oldEntry, "hash"),
                        field(oldEntry, "next"),
                        method(Hashtable.class, "addEntry", int.class, Object.class, Object.class, int.class),
                        field(setN, "elements"),
                        method(setN, "probe", Object.class),
                        field(mapN, "table"),
                        method(mapN, "probe", Object.class),
                        field(ConcurrentHashMap.class, "table"),
                        treeBin,
                        field(treeBin, "first"),
                        field(bin, "hash"),
                        field(bin, "next"),
                        method(ConcurrentHashMap.class, "spread", int.class),
                        method(ConcurrentHashMap.class, "putVal", Object.class, Object.class, boolean.class),
                        field(ConcurrentHashMap.class, "baseCount"),
                        field(ConcurrentHashMap.class, "counterCells"),
                        field(IdentityHashMap.class, "table"),
                        method(IdentityHashMap.class, "hash", Object.class, int.class));
            } catch (ReflectiveOperationException | InaccessibleObjectException e) {
                return null;
            }
        }

        private static Field field(Class<?> c, String name) throws ReflectiveOperationException {
            Field f = c.getDeclaredField(name);
            f.setAccessible(true);
            return f;
        }

        private static Method method(Class<?> c, String name, Class<?>... args) throws ReflectiveOperationException {
            Method m = c.getDeclaredMethod(name, args);
            m.setAccessible(true);
            return m;
        }
    }

    /** Whether objects of this class are hash tables that may have to be rebuilt. */
    static boolean handles(Class<?> c) {
        return HashMap.class.isAssignableFrom(c)
                || ConcurrentHashMap.class.isAssignableFrom(c)
                || Hashtable.class.isAssignableFrom(c)
                || IdentityHashMap.class.isAssignableFrom(c)
                || isSalted(c);
    }

    /** Tables whose order has a salt of the process, whatever the keys. */
    static boolean isSalted(Class<?> c) {
        return c.getName().equals(SET_N) || c.getName().equals(MAP_N);
    }

    /**
     * Whether this named object's hash may be this process's own. A {@code hashCode} of its class says nothing: those of
     * text attributes and Unicode blocks ask the one of Object, those of collections ask their elements.
     */
    static boolean isOwn(Object o) {
        // Arrays are named only when empty, and keys of nothing.
        return !o.getClass().isArray() && !STABLE.contains(o.getClass());
    }

    /**
     * Rebuilds a table if need be.
     *
     * @throws SkywayException of kind BAD_IMAGE when a key's own code fails, or the table cannot be rebuilt on this JDK
     */
    static void repair(Object table) {
        try {
            if (PARTS == null) {
                throw new NoSuchFieldException("the JDK's hash tables have other parts than were asked for");
            }
            if (isSalted(table.getClass())) {
                salted(table);
            } else if (table instanceof HashMap<?, ?> m) {
                hashMap(m);
            } else if (table instanceof ConcurrentHashMap<?, ?> m) {
                concurrent(m);
            } else if (table instanceof Hashtable<?, ?> m) {
                hashtable(m);
            } else if (table instanceof IdentityHashMap<?, ?> m) {
                identity(m);
            }
        } catch (ReflectiveOperationException | RuntimeException | StackOverflowError e) {
            Throwable cause = e instanceof java.lang.reflect.InvocationTargetException i ? i.getCause() : e;
            throw new SkywayException(
                    SkywayException.Kind.BAD_IMAGE,
                    "a landed " + table.getClass().getName() + " could not be put in this process's order: " + cause,
                    cause);
        }
    }

    /** Whether the key has the same hash in every process. */
    static boolean stable(Object key) {
        return key == null || STABLE.contains(key.getClass());
    }

    private static void hashMap(HashMap<?, ?> map) throws ReflectiveOperationException {
        Object[] table = (Object[]) PARTS.table.get(map);
        if (table == null || !differs(table)) {
            return;
        }
        List<Object> entries = new ArrayList<>();
        if (map instanceof LinkedHashMap) {
            Field after = LinkedAfter.FIELD;
            for (Object e = PARTS.head.get(map); e != null; e = after.get(e)) {
                entries.add(e);
            }
            PARTS.head.set(map, null);
            PARTS.tail.set(map, null);
        } else {
            for (Object first : table) {
                for (Object e = first; e != null; e = PARTS.nodeNext.get(e)) {
                    entries.add(e);
                }
            }
        }
        PARTS.table.set(map, null);
        PARTS.size.setInt(map, 0);
        // Without a table, the threshold is the size of the next one.
        PARTS.threshold.setInt(map, table.length);
        for (Object e : entries) {
            Map.Entry<?, ?> pair = (Map.Entry<?, ?>) e;
            // Not put: a subclass may have its own.
            PARTS.putVal.invoke(
                    map, PARTS.spread.invoke(null, pair.getKey()), pair.getKey(), pair.getValue(), false, false);
        }
    }

    private static boolean differs(Object[] table) throws ReflectiveOperationException {
        for (Object first : table) {
            for (Object e = first; e != null; e = PARTS.nodeNext.get(e)) {
                Object key = PARTS.nodeKey.get(e);
                if (!stable(key) && PARTS.nodeHash.getInt(e) != (int) PARTS.spread.invoke(null, key)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static final class LinkedAfter {
        static final Field FIELD = find();

        private static Field find() {
            try {
                return Parts.field(Class.forName("java.util.LinkedHashMap$Entry"), "after");
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static <K, V> void concurrent(ConcurrentHashMap<K, V> map) throws ReflectiveOperationException {
        List<Map.Entry<K, V>> entries = new ArrayList<>();
        boolean lost = false;
        // Not entrySet, get and put: a subclass may have its own.
        Object[] table = (Object[]) PARTS.bins.get(map);
        if (table == null) {
            return;
        }
        for (Object first : table) {
            Object e = first;
            if (e != null && e.getClass() == PARTS.treeBin) {
                e = PARTS.treeFirst.get(e);
            }
            for (; e != null; e = PARTS.binNext.get(e)) {
                @SuppressWarnings("unchecked")
                Map.Entry<K, V> pair = (Map.Entry<K, V>) e;
                K key = pair.getKey();
                if (key == null) {
                    // It was growing while it was sent: its public methods know where the rest is.
                    refill(map);
                    return;
                }
                entries.add(Map.entry(key, pair.getValue()));
                lost |= !stable(key) && PARTS.binHash.getInt(e) != (int) PARTS.binSpread.invoke(null, key.hashCode());
            }
        }
        if (lost) {
            Arrays.fill(table, null);
            PARTS.baseCount.setLong(map, 0);
            PARTS.counterCells.set(map, null);
            for (Map.Entry<K, V> e : entries) {
                PARTS.putBin.invoke(map, e.getKey(), e.getValue(), false);
            }
        }
    }

    private static <K, V> void refill(ConcurrentHashMap<K, V> map) {
        List<Map.Entry<K, V>> entries = new ArrayList<>();
        for (Map.Entry<K, V> e : map.entrySet()) {
            entries.add(Map.entry(e.getKey(), e.getValue()));
        }
        map.clear();
        for (Map.Entry<K, V> e : entries) {
            map.put(e.getKey(), e.getValue());
        }
    }

    private static void hashtable(Hashtable<?, ?> map) throws ReflectiveOperationException {
        Object[] table = (Object[]) PARTS.oldTable.get(map);
        if (table == null) {
            return; // Properties keep theirs elsewhere
        }
        List<Map.Entry<?, ?>> entries = new ArrayList<>();
        boolean lost = false;
        for (Object first : table) {
            for (Object e = first; e != null; e = PARTS.oldNext.get(e)) {
                Map.Entry<?, ?> pair = (Map.Entry<?, ?>) e;
                entries.add(pair);
                lost |= !stable(pair.getKey())
                        && PARTS.oldHash.getInt(e) != pair.getKey().hashCode();
            }
        }
        if (lost) {
            Object fresh = Array.newInstance(table.getClass().getComponentType(), table.length);
            PARTS.oldTable.set(map, fresh);
            PARTS.oldCount.setInt(map, 0);
            for (Map.Entry<?, ?> e : entries) {
                int hash = e.getKey().hashCode();
                int at = (hash & 0x7fffffff) % table.length;
                for (Object o = ((Object[]) fresh)[at]; o != null; o = PARTS.oldNext.get(o)) {
                    if (PARTS.oldHash.getInt(o) == hash
                            && ((Map.Entry<?, ?>) o).getKey().equals(e.getKey())) {
                        throw new IllegalStateException("two equal keys");
                    }
                }
                PARTS.oldAdd.invoke(map, hash, e.getKey(), e.getValue(), at);
            }
        }
    }

    private static void identity(IdentityHashMap<?, ?> map) throws ReflectiveOperationException {
        Object[] cells = (Object[]) PARTS.cells.get(map);
        if (cells == null) {
            return;
        }
        // Whatever lies somewhere else than where a probe for it ends is lost, so all are put in again. The mark that
        // stands
        // for a null key is one object of the class, and travels by its name.
        Object[] old = cells.clone();
        Arrays.fill(cells, null);
        for (int i = 0; i < old.length; i += 2) {
            if (old[i] != null) {
                int at = (int) PARTS.identityHash.invoke(null, old[i], old.length);
                while (cells[at] != null) {
                    if (cells[at] == old[i]) {
                        throw new IllegalStateException("two identical keys");
                    }
                    at = at + 2 < old.length ? at + 2 : 0;
                }
                cells[at] = old[i];
                cells[at + 1] = old[i + 1];
            }
        }
    }

    private static void salted(Object table) throws ReflectiveOperationException {
        boolean isSet = table.getClass().getName().equals(SET_N);
        Object[] cells = (Object[]) (isSet ? PARTS.elements : PARTS.pairs).get(table);
        Method probe = isSet ? PARTS.setProbe : PARTS.mapProbe;
        int step = isSet ? 1 : 2;
        Object[] old = cells.clone();
        Arrays.fill(cells, null);
        for (int i = 0; i < old.length; i += step) {
            if (old[i] != null) {
                int at = -(int) probe.invoke(table, old[i]) - 1;
                if (at < 0) {
                    throw new IllegalStateException("two equal elements");
                }
                cells[at] = old[i];
                if (!isSet) {
                    cells[at + 1] = old[i + 1];
                }
            }
        }
    }
}

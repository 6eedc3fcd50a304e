package foreign;

import com.google.common.collect.BiMap;
import com.google.common.collect.HashBasedTable;
import com.google.common.collect.HashBiMap;
import com.google.common.collect.HashMultimap;
import com.google.common.collect.HashMultiset;
import com.google.common.collect.ImmutableBiMap;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.ImmutableSetMultimap;
import com.google.common.collect.LinkedHashMultimap;
import com.google.common.collect.Multimap;
import io.skyway.api.Skyway;
import it.unimi.dsi.fastutil.Hash;
import it.unimi.dsi.fastutil.objects.Object2IntOpenHashMap;
import it.unimi.dsi.fastutil.objects.Object2ObjectLinkedOpenHashMap;
import it.unimi.dsi.fastutil.objects.Object2ObjectOpenCustomHashMap;
import it.unimi.dsi.fastutil.objects.Object2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.objects.ObjectLinkedOpenHashSet;
import it.unimi.dsi.fastutil.objects.ObjectOpenCustomHashSet;
import it.unimi.dsi.fastutil.objects.ObjectOpenHashSet;
import it.unimi.dsi.fastutil.objects.Reference2IntOpenHashMap;
import it.unimi.dsi.fastutil.objects.Reference2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.objects.ReferenceOpenHashSet;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import java.util.function.Supplier;
import org.eclipse.collections.api.block.HashingStrategy;
import org.eclipse.collections.impl.bag.mutable.HashBag;
import org.eclipse.collections.impl.map.mutable.ConcurrentHashMap;
import org.eclipse.collections.impl.map.mutable.ConcurrentHashMapUnsafe;
import org.eclipse.collections.impl.map.mutable.UnifiedMap;
import org.eclipse.collections.impl.map.strategy.mutable.UnifiedMapWithHashingStrategy;
import org.eclipse.collections.impl.multimap.set.UnifiedSetMultimap;
import org.eclipse.collections.impl.set.mutable.UnifiedSet;
import org.eclipse.collections.impl.set.strategy.mutable.UnifiedSetWithHashingStrategy;
import scala.Tuple2;

/**
 * Containers of other libraries with keys whose hash is each process's own. Each is published as "shape NAME", and the hook
 * of "got NAME" asks the one that arrived to work. {@code tests/jvm/test_foreign.py} and docs/fidelity.md read this file as
 * they read {@code fixture/Shapes.java}.
 */
public final class Foreign {
    private Foreign() {}

    /** What a container must do in the process that it comes to: with an object that is one of its keys. */
    @FunctionalInterface
    interface Check<T> {
        void check(T container, Object plain) throws Exception;
    }

    enum Colour {
        RED,
        GREEN,
        BLUE
    }

    record Key(Colour colour, Class<?> type, String text) {}

    /** A graph: the container, and one of its keys whose hash is its identity and travels with it. */
    record Graph(Object container, Object plain) {}

    @SuppressWarnings("unchecked")
    private static <T> void works(String name, String what, Function<Object, T> make, Check<T> check) {
        Object plain = new Object();
        Skyway.publish("shape " + name, new Graph(make.apply(plain), plain));
        Skyway.onReceive("got " + name, Graph.class, g -> {
            try {
                check.check((T) g.container, g.plain);
            } catch (Exception e) {
                throw new IllegalStateException(e.toString(), e);
            }
        });
    }

    private static void refused(String name, String what, Supplier<?> make) {
        Skyway.publish("shape " + name, new Object[] {"data", make.get()});
    }

    private static void that(boolean holds, String what) {
        if (!holds) {
            throw new IllegalStateException(what);
        }
    }

    private static void same(Object a, Object b) {
        that(Objects.equals(a, b), a + " is not " + b);
    }

    /** Keys that two processes hash differently, and some that they do not; the same ones each time. */
    private static List<Object> keys(Object plain) {
        List<Object> keys = new ArrayList<>(List.of(Colour.values()));
        keys.add(String.class);
        keys.add(int[].class);
        keys.add("text");
        keys.add(4711);
        keys.add(List.of(Colour.RED, "x"));
        keys.add(new HashSet<>(List.of(Colour.BLUE, Map.class)));
        keys.add(new ObjectOpenHashSet<>(List.of(Colour.BLUE, Set.class)));
        for (int i = 0; i < 100; i++) {
            keys.add(new Key(Colour.values()[i % 3], i % 2 == 0 ? int.class : List.class, "k" + i));
        }
        keys.add(plain);
        return keys;
    }

    private static <M extends Map<Object, Object>> M filled(M map, Object plain) {
        int i = 0;
        for (Object k : keys(plain)) {
            map.put(k, i++);
        }
        return map;
    }

    private static <S extends Collection<Object>> S filledSet(S set, Object plain) {
        set.addAll(keys(plain));
        return set;
    }

    private static <M extends Map<Object, Object>> void map(String name, String what, Supplier<M> empty) {
        works(name, what, plain -> filled(empty.get(), plain), (m, plain) -> {
            finds(m, filled(empty.get(), plain), plain);
            same(m.put(Colour.RED, -1), 0);
            same(m.put(Integer.class, -2), null);
            same(m.remove(Colour.BLUE), 2);
            same(m.get(Integer.class), -2);
            same(m.get(Colour.BLUE), null);
            same(m.size(), keys(plain).size());
            m.clear();
            finds(filled(m, plain), filled(empty.get(), plain), plain);
        });
    }

    private static void finds(Map<?, ?> m, Map<?, ?> fresh, Object plain) {
        List<Object> keys = keys(plain);
        same(m.size(), keys.size());
        for (int i = 0; i < keys.size(); i++) {
            that(m.containsKey(keys.get(i)), "no " + keys.get(i));
            same(m.get(keys.get(i)), i);
        }
        int seen = 0;
        for (Map.Entry<?, ?> e : m.entrySet()) {
            same(keys.get((Integer) e.getValue()), e.getKey());
            seen++;
        }
        same(seen, keys.size());
        that(!m.containsKey("nothing"), "something else");
        that(m.equals(fresh) && fresh.equals(m), "equal");
        same(m.hashCode(), fresh.hashCode());
    }

    private static <S extends Set<Object>> void set(String name, String what, Supplier<S> empty) {
        works(name, what, plain -> filledSet(empty.get(), plain), (s, plain) -> {
            has(s, filledSet(empty.get(), plain), plain);
            that(!s.add(Colour.RED), "twice");
            that(s.add(Integer.class) && s.contains(Integer.class), "added");
            that(s.remove(Colour.BLUE) && !s.contains(Colour.BLUE), "removed");
            same(s.size(), keys(plain).size());
            s.clear();
            has(filledSet(s, plain), filledSet(empty.get(), plain), plain);
        });
    }

    private static void has(Collection<?> s, Collection<?> fresh, Object plain) {
        List<Object> keys = keys(plain);
        same(s.size(), keys.size());
        for (Object k : keys) {
            that(s.contains(k), "no " + k);
        }
        int seen = 0;
        for (Object k : s) {
            that(keys.contains(k), "unknown " + k);
            seen++;
        }
        same(seen, keys.size());
        that(!s.contains("nothing"), "something else");
        that(s.equals(fresh) && fresh.equals(s), "equal");
        same(s.hashCode(), fresh.hashCode());
    }

    private static void guava() {
        works(
                "Guava ImmutableMap",
                "its replacement travels",
                plain -> ImmutableMap.copyOf(filled(new java.util.LinkedHashMap<>(), plain)),
                (m, plain) -> finds(m, filled(new java.util.HashMap<>(), plain), plain));
        works(
                "Guava ImmutableSet",
                "its replacement travels",
                plain -> ImmutableSet.copyOf(keys(plain)),
                (s, plain) -> has(s, new HashSet<>(keys(plain)), plain));
        works(
                "Guava ImmutableBiMap and its inverse",
                "its replacement travels",
                plain -> {
                    ImmutableBiMap<Object, Object> m =
                            ImmutableBiMap.copyOf(filled(new java.util.LinkedHashMap<>(), plain));
                    return List.of(m, m.inverse());
                },
                (l, plain) -> {
                    ImmutableBiMap<Object, Object> m = l.get(0);
                    finds(m, filled(new java.util.HashMap<>(), plain), plain);
                    for (Object k : keys(plain)) {
                        same(l.get(1).get(m.get(k)), k);
                    }
                });
        works(
                "Guava ImmutableSetMultimap",
                "copied; the sets in it by their replacements",
                plain -> {
                    ImmutableSetMultimap.Builder<Object, Object> b = ImmutableSetMultimap.builder();
                    keys(plain).forEach(k -> b.put(k, k).put("all", k));
                    return b.build();
                },
                (m, plain) -> multimap(m, plain));
        map("Guava HashBiMap", "refilled", HashBiMap::create);
        works(
                "Guava the inverse of a HashBiMap",
                "refilled",
                plain -> {
                    BiMap<Object, Object> m = HashBiMap.create();
                    filled(m, plain);
                    return m.inverse();
                },
                (m, plain) -> {
                    int i = 0;
                    for (Object k : keys(plain)) {
                        same(m.inverse().get(k), i);
                        same(m.get(i++), k);
                    }
                    same(m.remove(0), Colour.RED);
                    that(m.inverse().put(Colour.RED, -1) == null && m.get(-1) == Colour.RED, "put");
                });
        works(
                "Guava HashMultimap",
                "the JDK's tables in it are rebuilt",
                plain -> Foreign.<Multimap<Object, Object>>filledMultimap(HashMultimap.create(), plain),
                (m, plain) -> {
                    multimap(m, plain);
                    same(m, filledMultimap(HashMultimap.create(), plain));
                    that(!m.put("all", Colour.RED) && m.put("all", Integer.class), "put");
                    that(m.remove(Colour.RED, Colour.RED) && !m.containsKey(Colour.RED), "removed");
                });
        works(
                "Guava LinkedHashMultimap",
                "refilled, in its order",
                plain -> Foreign.<Multimap<Object, Object>>filledMultimap(LinkedHashMultimap.create(), plain),
                (m, plain) -> {
                    multimap(m, plain);
                    same(
                            new ArrayList<>(m.entries()),
                            new ArrayList<>(filledMultimap(LinkedHashMultimap.create(), plain)
                                    .entries()));
                    that(!m.put("all", Colour.RED) && m.put("all", Integer.class), "put");
                    that(m.remove(Colour.RED, Colour.RED) && !m.containsKey(Colour.RED), "removed");
                });
        works(
                "Guava HashMultiset",
                "the JDK's table in it is rebuilt",
                plain -> {
                    HashMultiset<Object> s = filledSet(HashMultiset.create(), plain);
                    s.add(Colour.RED, 1_000_000_000);
                    return s;
                },
                (s, plain) -> {
                    same(s.count(Colour.RED), 1_000_000_001);
                    s.setCount(Colour.RED, 1);
                    has(s, filledSet(HashMultiset.create(), plain), plain);
                });
        works(
                "Guava Cache with strings as keys",
                "copied with its entries",
                plain -> {
                    com.google.common.cache.Cache<Object, Object> c = com.google.common.cache.CacheBuilder.newBuilder()
                            .maximumSize(1000)
                            .build();
                    for (int i = 0; i < 100; i++) {
                        c.put("k" + i, i);
                    }
                    return c;
                },
                (c, plain) -> {
                    for (int i = 0; i < 100; i++) {
                        same(c.getIfPresent("k" + i), i);
                    }
                    c.put(Colour.RED, 1);
                    same(c.getIfPresent(Colour.RED), 1);
                });
        works(
                "Guava HashBasedTable",
                "the JDK's tables in it are rebuilt",
                plain -> {
                    HashBasedTable<Object, Object, Object> t = HashBasedTable.create();
                    keys(plain).forEach(k -> {
                        t.put(k, Colour.RED, 1);
                        t.put("row", k, k);
                    });
                    return t;
                },
                (t, plain) -> {
                    for (Object k : keys(plain)) {
                        same(t.get(k, Colour.RED), 1);
                        same(t.get("row", k), k);
                    }
                    same(t.remove(Colour.RED, Colour.RED), 1);
                    same(t.put(Colour.RED, Integer.class, 2), null);
                    same(t.row(Colour.RED), Map.of(Integer.class, 2));
                });
    }

    private static <M extends Multimap<Object, Object>> M filledMultimap(M m, Object plain) {
        for (Object k : keys(plain)) {
            m.put(k, k);
            m.put("all", k);
        }
        return m;
    }

    private static void multimap(Multimap<Object, Object> m, Object plain) {
        for (Object k : keys(plain)) {
            that(m.containsEntry(k, k) && m.containsEntry("all", k), "no " + k);
        }
        same(m.size(), 2 * keys(plain).size());
        has(m.get("all"), new HashSet<>(keys(plain)), plain);
    }

    /** A hash of the application's own; keys with one text are one key. */
    static final class ByText implements Hash.Strategy<Object>, HashingStrategy<Object>, Serializable {
        private static final long serialVersionUID = 1;

        @Override
        public int hashCode(Object o) {
            return Objects.hashCode(o);
        }

        @Override
        public boolean equals(Object a, Object b) {
            return Objects.equals(a, b);
        }

        @Override
        public int computeHashCode(Object o) {
            return hashCode(o);
        }
    }

    /** Asks whether it lies as the sender had it; then it helps itself. */
    static final class Hooked extends ObjectOpenHashSet<Object> {
        private static final long serialVersionUID = 1;
        private List<Object> order;
        private boolean landedAsItWas;

        void arrived() {
            List<Object> now = new ArrayList<>(this);
            landedAsItWas = now.equals(order);
            clear();
            addAll(now);
        }
    }

    static final class Counting extends Object2ObjectOpenHashMap<Object, Object> {
        private static final long serialVersionUID = 1;
        private int puts;

        @Override
        public Object put(Object k, Object v) {
            puts++;
            return super.put(k, v);
        }

        @Override
        public void clear() {
            puts = -1;
            super.clear();
        }
    }

    private static void fastutil() {
        works(
                "fastutil a subclass of Object2ObjectOpenHashMap",
                "refilled without its own put",
                plain -> filled(new Counting(), plain),
                (m, plain) -> {
                    same(m.puts, keys(plain).size());
                    finds(m, filled(new Counting(), plain), plain);
                });
        works(
                "fastutil a table with an arrival hook",
                "the hook has it as it was sent",
                plain -> {
                    Hooked s = filledSet(new Hooked(), plain);
                    s.order = new ArrayList<>(s);
                    return s;
                },
                (s, plain) -> {
                    that(s.landedAsItWas, "not put in order before the hook ran");
                    has(s, filledSet(new Hooked(), plain), plain);
                });
        map("fastutil Object2ObjectOpenHashMap", "refilled", Object2ObjectOpenHashMap::new);
        map("fastutil Object2ObjectLinkedOpenHashMap", "refilled, in its order", Object2ObjectLinkedOpenHashMap::new);
        map(
                "fastutil Object2ObjectOpenCustomHashMap",
                "refilled",
                () -> new Object2ObjectOpenCustomHashMap<>(new ByText()));
        set("fastutil ObjectOpenHashSet", "refilled", ObjectOpenHashSet::new);
        set("fastutil ObjectLinkedOpenHashSet", "refilled, in its order", ObjectLinkedOpenHashSet::new);
        set("fastutil ObjectOpenCustomHashSet", "refilled", () -> new ObjectOpenCustomHashSet<>(new ByText()));
        works(
                "fastutil Object2IntOpenHashMap",
                "refilled",
                plain -> {
                    Object2IntOpenHashMap<Object> m = new Object2IntOpenHashMap<>();
                    m.defaultReturnValue(-7);
                    int i = 0;
                    for (Object k : keys(plain)) {
                        m.put(k, i++);
                    }
                    return m;
                },
                (m, plain) -> {
                    finds(m, filled(new java.util.HashMap<>(), plain), plain);
                    same(m.getInt(Integer.class), -7);
                    same(m.removeInt(Colour.RED), 0);
                    same(m.addTo(Colour.RED, 5), -7);
                });
        works(
                "fastutil Reference2ObjectOpenHashMap",
                "refilled",
                plain -> references(new Reference2ObjectOpenHashMap<>(), plain),
                (m, plain) -> {
                    same(m.size(), 6);
                    same(m, references(new Reference2ObjectOpenHashMap<>(), plain));
                    same(m.remove(Colour.RED), "RED");
                    same(m.put(Colour.RED, "new"), null);
                    same(m.get(Colour.RED), "new");
                    same(m.get(plain), "plain");
                    same(m.get(5), "five");
                });
        works(
                "fastutil reference tables with nothing but small boxed keys",
                "refilled: which boxed values are one object is this process's",
                plain -> {
                    Reference2IntOpenHashMap<Object> m = new Reference2IntOpenHashMap<>();
                    ReferenceOpenHashSet<Object> s = new ReferenceOpenHashSet<>();
                    for (int i = 0; i < 100; i++) {
                        m.put((Integer) i, i);
                        s.add((Integer) i);
                    }
                    return List.of(m, s);
                },
                (l, plain) -> {
                    Reference2IntOpenHashMap<?> m = (Reference2IntOpenHashMap<?>) (Object) l.get(0);
                    ReferenceOpenHashSet<?> s = (ReferenceOpenHashSet<?>) (Object) l.get(1);
                    for (int i = 0; i < 100; i++) {
                        that(s.contains((Integer) i), "no " + i);
                        same(m.getInt((Integer) i), i);
                    }
                    same(m.size() + s.size(), 200);
                });
    }

    private static Map<Object, Object> references(Map<Object, Object> m, Object plain) {
        for (Colour c : Colour.values()) {
            m.put(c, c.name());
        }
        m.put(String.class, "class");
        m.put(plain, "plain");
        m.put(5, "five");
        return m;
    }

    private static void eclipse() {
        map("Eclipse Collections UnifiedMap", "refilled", UnifiedMap::new);
        map(
                "Eclipse Collections UnifiedMapWithHashingStrategy",
                "refilled",
                () -> new UnifiedMapWithHashingStrategy<>(new ByText()));
        map("Eclipse Collections ConcurrentHashMap", "refilled", () -> ConcurrentHashMap.newMap());
        map("Eclipse Collections ConcurrentHashMapUnsafe", "refilled", () -> ConcurrentHashMapUnsafe.newMap());
        set("Eclipse Collections UnifiedSet", "refilled", UnifiedSet::new);
        set(
                "Eclipse Collections UnifiedSetWithHashingStrategy",
                "refilled",
                () -> new UnifiedSetWithHashingStrategy<>(new ByText()));
        map("Eclipse Collections HashBiMap", "refilled", org.eclipse.collections.impl.bimap.mutable.HashBiMap::newMap);
        works(
                "Eclipse Collections HashBag",
                "refilled",
                plain -> {
                    HashBag<Object> b = filledSet(new HashBag<>(), plain);
                    b.addOccurrences(Colour.RED, 1_000_000_000);
                    return b;
                },
                (b, plain) -> {
                    same(b.occurrencesOf(Colour.RED), 1_000_000_001);
                    b.removeOccurrences(Colour.RED, 1_000_000_000);
                    has(b, filledSet(new HashBag<>(), plain), plain);
                });
        works(
                "Eclipse Collections UnifiedSetMultimap",
                "refilled",
                plain -> {
                    UnifiedSetMultimap<Object, Object> m = new UnifiedSetMultimap<>();
                    keys(plain).forEach(k -> {
                        m.put(k, k);
                        m.put("all", k);
                    });
                    return m;
                },
                (m, plain) -> {
                    for (Object k : keys(plain)) {
                        that(m.containsKeyAndValue(k, k), "no " + k);
                    }
                    has(m.get("all"), new HashSet<>(keys(plain)), plain);
                    that(m.remove(Colour.RED, Colour.RED) && !m.containsKey(Colour.RED), "removed");
                });
        works(
                "Eclipse Collections immutable maps, sets and bags",
                "copied or by their replacements; what they hold is refilled",
                plain -> new Object[] {
                    filled(new UnifiedMap<>(), plain).toImmutable(),
                    filledSet(new UnifiedSet<>(), plain).toImmutable(),
                    filledSet(new HashBag<>(), plain).toImmutable()
                },
                (a, plain) -> {
                    var m = (org.eclipse.collections.api.map.ImmutableMap<?, ?>) a[0];
                    finds(m.castToMap(), filled(new java.util.HashMap<>(), plain), plain);
                    var s = (org.eclipse.collections.api.set.ImmutableSet<?>) a[1];
                    has(s.castToSet(), new HashSet<>(keys(plain)), plain);
                    var b = (org.eclipse.collections.api.bag.ImmutableBag<?>) a[2];
                    has(b.castToCollection(), filledSet(new HashBag<>(), plain), plain);
                });
        works(
                "Eclipse Collections UnifiedMap and UnifiedSet with strings that collide, and null",
                "copied; the marks in their tables are named",
                plain -> List.of(colliding(new UnifiedMap<>()), colliding(new UnifiedSet<>())),
                (l, plain) -> {
                    UnifiedMap<Object, Object> m = (UnifiedMap<Object, Object>) l.get(0);
                    UnifiedSet<Object> s = (UnifiedSet<Object>) l.get(1);
                    for (int i = 0; i < 1 << COLLIDING; i++) {
                        same(m.remove(colliding(i)), i);
                        that(s.remove(colliding(i)), "no " + i);
                    }
                    same(m.remove(null), -1);
                    that(s.remove(null) && m.isEmpty() && s.isEmpty(), "null");
                });
    }

    private static final int COLLIDING = 5;

    /** "Aa" and "BB" have one hash. */
    private static String colliding(int i) {
        StringBuilder s = new StringBuilder();
        for (int bit = 0; bit < COLLIDING; bit++) {
            s.append((i >> bit & 1) == 0 ? "Aa" : "BB");
        }
        return s.toString();
    }

    private static Object colliding(Object container) {
        for (int i = -1; i < 1 << COLLIDING; i++) {
            String k = i < 0 ? null : colliding(i);
            if (container instanceof UnifiedMap) {
                ((UnifiedMap<Object, Object>) container).put(k, i);
            } else {
                ((UnifiedSet<Object>) container).add(k);
            }
        }
        return container;
    }

    private static void vavr() {
        works(
                "vavr HashMap",
                "made anew by the library",
                plain -> vavrMap(io.vavr.collection.HashMap.empty(), plain),
                (m, plain) -> {
                    vavrFinds(m, plain);
                    same(m, vavrMap(io.vavr.collection.HashMap.empty(), plain));
                });
        works(
                "vavr LinkedHashMap",
                "the HashMap in it is made anew",
                plain -> vavrMap(io.vavr.collection.LinkedHashMap.empty(), plain),
                (m, plain) -> {
                    vavrFinds(m, plain);
                    same(m.keySet().toJavaList(), keys(plain));
                });
        works(
                "vavr HashSet, LinkedHashSet",
                "made anew by the library",
                plain -> List.of(
                        io.vavr.collection.HashSet.ofAll(keys(plain)),
                        io.vavr.collection.LinkedHashSet.ofAll(keys(plain))),
                (l, plain) -> {
                    for (io.vavr.collection.Set<Object> s : l) {
                        same(s.size(), keys(plain).size());
                        for (Object k : keys(plain)) {
                            that(s.contains(k), "no " + k);
                            that(!s.remove(k).contains(k), "removed " + k);
                        }
                        same(s.add(Colour.RED).size(), s.size());
                        same(s.add(Integer.class).size(), s.size() + 1);
                        same(s.toJavaSet(), new HashSet<>(keys(plain)));
                    }
                });
        works(
                "vavr lists, vectors, queues, trees and options",
                "copied",
                plain -> List.of(
                        io.vavr.collection.List.ofAll(keys(plain)),
                        io.vavr.collection.Vector.ofAll(keys(plain)),
                        io.vavr.collection.Queue.ofAll(keys(plain)),
                        io.vavr.control.Option.none(),
                        io.vavr.control.Option.some(Colour.RED),
                        io.vavr.collection.TreeSet.of(3, 1, 2),
                        io.vavr.collection.List.range(0, 5000)),
                (l, plain) -> {
                    for (Object seq : l.subList(0, 3)) {
                        same(((io.vavr.collection.Seq<?>) seq).toJavaList(), keys(plain));
                    }
                    that(l.get(3) == io.vavr.control.Option.none(), "none");
                    same(l.get(4), io.vavr.control.Option.some(Colour.RED));
                    same(((io.vavr.collection.TreeSet<?>) (Object) l.get(5)).toJavaList(), List.of(1, 2, 3));
                    same(l.get(6), io.vavr.collection.List.range(0, 5000));
                });
    }

    private static io.vavr.collection.Map<Object, Object> vavrMap(
            io.vavr.collection.Map<Object, Object> m, Object plain) {
        int i = 0;
        for (Object k : keys(plain)) {
            m = m.put(k, i++);
        }
        return m;
    }

    private static void vavrFinds(io.vavr.collection.Map<Object, Object> m, Object plain) {
        List<Object> keys = keys(plain);
        same(m.size(), keys.size());
        for (int i = 0; i < keys.size(); i++) {
            same(m.get(keys.get(i)).getOrNull(), i);
            that(!m.remove(keys.get(i)).containsKey(keys.get(i)), "removed");
        }
        same(m.put(Colour.RED, -1).size(), m.size());
        same(m.put(Integer.class, -1).size(), m.size() + 1);
        same(m.toJavaMap(), filled(new java.util.HashMap<>(), plain));
    }

    private static void scala() {
        works("Scala immutable.HashMap", "made anew by the library", plain -> scalaMap(plain), (m, plain) -> {
            List<Object> keys = keys(plain);
            same(m.size(), keys.size());
            for (int i = 0; i < keys.size(); i++) {
                same(m.get(keys.get(i)).get(), i);
                that(!m.removed(keys.get(i)).contains(keys.get(i)), "removed");
            }
            same(m.updated(Colour.RED, -1).size(), m.size());
            same(m.updated(Integer.class, -1).size(), m.size() + 1);
            that(m.equals(scalaMap(plain)) && scalaMap(plain).equals(m), "equal");
            same(m.hashCode(), scalaMap(plain).hashCode());
            same(m.keySet(), scalaMap(plain).keySet());
        });
        works("Scala immutable.HashSet", "made anew by the library", plain -> scalaSet(plain), (s, plain) -> {
            for (Object k : keys(plain)) {
                that(s.contains(k), "no " + k);
                that(!s.excl(k).contains(k), "removed");
            }
            same(s.incl(Colour.RED).size(), s.size());
            same(s.incl(Integer.class).size(), s.size() + 1);
            that(s.equals(scalaSet(plain)) && scalaSet(plain).equals(s), "equal");
            same(s.hashCode(), scalaSet(plain).hashCode());
        });
        works(
                "Scala immutable.HashMap of sets of enum constants as keys",
                "made anew from inside",
                plain -> scalaNested(),
                (m, plain) -> {
                    for (Colour c : Colour.values()) {
                        same(m.get(scalaSet(c.name()).excl(c)).get(), c);
                    }
                    same(m, scalaNested());
                });
        works(
                "Scala mutable.HashMap, LinkedHashMap",
                "refilled",
                plain -> List.of(
                        scalaFilled(new scala.collection.mutable.HashMap<>(), plain),
                        scalaFilled(new scala.collection.mutable.LinkedHashMap<>(), plain)),
                (l, plain) -> {
                    for (scala.collection.mutable.Map<Object, Object> m : l) {
                        List<Object> keys = keys(plain);
                        same(m.size(), keys.size());
                        for (int i = 0; i < keys.size(); i++) {
                            same(m.get(keys.get(i)).get(), i);
                        }
                        that(m.equals(scalaMap(plain)) && scalaMap(plain).equals(m), "equal");
                        same(m.put(Colour.RED, -1).get(), 0);
                        same(m.remove(Colour.BLUE).get(), 2);
                        that(m.put(Integer.class, 1).isEmpty(), "new");
                        same(m.size(), keys.size());
                    }
                    scala.collection.Iterator<Tuple2<Object, Object>> i =
                            l.get(1).iterator();
                    same(i.next()._1(), Colour.RED);
                    same(i.next()._1(), Colour.GREEN);
                });
        works(
                "Scala mutable.HashSet, LinkedHashSet",
                "refilled",
                plain -> {
                    List<scala.collection.mutable.Set<Object>> l = List.of(
                            new scala.collection.mutable.HashSet<>(), new scala.collection.mutable.LinkedHashSet<>());
                    l.forEach(s -> keys(plain).forEach(s::add));
                    return l;
                },
                (l, plain) -> {
                    for (scala.collection.mutable.Set<Object> s : l) {
                        same(s.size(), keys(plain).size());
                        for (Object k : keys(plain)) {
                            that(s.contains(k), "no " + k);
                        }
                        that(s.equals(scalaSet(plain)) && scalaSet(plain).equals(s), "equal");
                        that(!s.add(Colour.RED) && s.remove(Colour.RED) && s.add(Integer.class), "changed");
                        same(s.size(), keys(plain).size());
                    }
                });
        refused(
                "Scala concurrent.TrieMap",
                "refused: it holds the offset of a field",
                () -> new scala.collection.concurrent.TrieMap<>());
        works(
                "Scala lists, vectors, options, small maps and ranges",
                "copied; the library's singletons are named",
                plain -> {
                    scala.collection.immutable.List<Object> l = scala.collection.immutable.List$.MODULE$.empty();
                    for (int i = 0; i < 5000; i++) {
                        l = l.$colon$colon(i);
                    }
                    return List.of(
                            l,
                            l.toVector(),
                            scala.Option.apply(Colour.RED),
                            scala.None$.MODULE$,
                            scala.collection.immutable.Nil$.MODULE$,
                            scala.collection.immutable.Map$.MODULE$.empty().updated(Colour.RED, 1),
                            scala.collection.immutable.Range$.MODULE$.apply(0, 9));
                },
                (l, plain) -> {
                    scala.collection.immutable.List<?> list = (scala.collection.immutable.List<?>) (Object) l.get(0);
                    same(list.size(), 5000);
                    same(list.head(), 4999);
                    that(list.sameElements((scala.collection.IterableOnce) (Object) l.get(1)), "vector");
                    same(l.get(2), scala.Option.apply(Colour.RED));
                    that((Object) l.get(3) == scala.None$.MODULE$, "none");
                    that((Object) l.get(4) == scala.collection.immutable.Nil$.MODULE$, "nil");
                    same(
                            ((scala.collection.immutable.Map<Object, Object>) (Object) l.get(5))
                                    .get(Colour.RED)
                                    .get(),
                            1);
                    same(l.get(6).toString(), "Range 0 until 9");
                });
    }

    private static scala.collection.immutable.HashMap<Object, Object> scalaMap(Object plain) {
        scala.collection.immutable.HashMap<Object, Object> m = scala.collection.immutable.HashMap$.MODULE$.empty();
        int i = 0;
        for (Object k : keys(plain)) {
            m = m.updated(k, i++);
        }
        return m;
    }

    private static scala.collection.immutable.HashSet<Object> scalaSet(Object plain) {
        scala.collection.immutable.HashSet<Object> s = scala.collection.immutable.HashSet$.MODULE$.empty();
        for (Object k : keys(plain)) {
            s = s.incl(k);
        }
        return s;
    }

    private static scala.collection.immutable.HashMap<Object, Object> scalaNested() {
        scala.collection.immutable.HashMap<Object, Object> m = scala.collection.immutable.HashMap$.MODULE$.empty();
        for (Colour c : Colour.values()) {
            m = m.updated(scalaSet(c.name()).excl(c), c);
        }
        return m;
    }

    private static scala.collection.mutable.Map<Object, Object> scalaFilled(
            scala.collection.mutable.Map<Object, Object> m, Object plain) {
        int i = 0;
        for (Object k : keys(plain)) {
            m.put(k, i++);
        }
        return m;
    }

    public static void main(String[] args) throws Exception {
        Skyway.onArrival(Hooked.class, Hooked::arrived);
        guava();
        fastutil();
        eclipse();
        vavr();
        scala();
        System.out.println("ready");
        new CountDownLatch(1).await();
    }
}

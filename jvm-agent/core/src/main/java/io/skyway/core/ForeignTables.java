package io.skyway.core;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Hash tables of other libraries: which there are is data, how they are put in this process's order is the same for all.
 *
 * <p>Going through such a table needs no hash, so its entries are read with the library's own iterator, as it has landed.
 * Then it is emptied and filled again with the library's own methods; one that cannot change is made anew by the library,
 * and the fields of the new one are put into the landed object. Methods of an application's subclass are not called.
 *
 * <p>Not done for a class for which the application has an arrival hook: that knows better.
 */
public final class ForeignTables {
    /**
     * One kind of table.
     *
     * @param names full names of the library's classes
     * @param entries a method that gives the entries or an iterator over them; null for the table itself
     * @param clear a method that empties it; null when it cannot change
     * @param put a method that takes a key, or a key and a value; when it cannot change, one of a list of entries that
     *     makes another
     * @param pairs whether an entry has a key and a value, where others are the key
     * @param identity whether it may ask for the identity of its keys, where others ask their hashCode
     * @param values whether values are hashed too
     */
    private record Rule(
            Pattern names, String entries, String clear, String put, boolean pairs, boolean identity, boolean values) {

        static Rule map(String names, String entries, String clear, String put) {
            return new Rule(Pattern.compile(names), entries, clear, put, true, false, false);
        }

        static Rule set(String names, String entries, String clear, String put) {
            return new Rule(Pattern.compile(names), entries, clear, put, false, false, false);
        }

        Rule byIdentity() {
            return new Rule(names, entries, clear, put, pairs, true, values);
        }

        Rule andValues() {
            return new Rule(names, entries, clear, put, pairs, identity, true);
        }
    }

    private static final String GUAVA = "com.google.common.collect.";
    private static final String VAVR = "io.vavr.collection.";
    private static final String FASTUTIL = "it.unimi.dsi.fastutil.objects.";
    private static final String ECLIPSE = "org.eclipse.collections.impl.";
    private static final String SCALA = "scala.collection.";
    private static final List<String> LIBRARIES = List.of(GUAVA, VAVR, FASTUTIL, ECLIPSE, SCALA);

    /** What a Scala companion makes collections with. */
    private static final String BUILDER = "newBuilder";

    /** A class of its own, so that a process without these libraries does not make it. */
    private static final class Rules {
        static final List<Rule> ALL = List.of(
                Rule.map(GUAVA + "HashBiMap", "entrySet", "clear", "put").andValues(),
                Rule.map(GUAVA + "LinkedHashMultimap", "entries", "clear", "put")
                        .andValues(),
                Rule.map(FASTUTIL + "Object2\\w+OpenHashMap", "entrySet", "clear", "put"),
                Rule.map(FASTUTIL + "(Object2\\w+OpenCustom|Reference2\\w+Open)HashMap", "entrySet", "clear", "put")
                        .byIdentity(),
                Rule.set(FASTUTIL + "Object(Linked)?OpenHashSet", null, "clear", "add"),
                Rule.set(FASTUTIL + "(Object(Linked)?OpenCustom|Reference(Linked)?Open)HashSet", null, "clear", "add")
                        .byIdentity(),
                Rule.map(ECLIPSE + "map.mutable.(Unified|ConcurrentHash)Map(Unsafe)?", "entrySet", "clear", "put"),
                Rule.map(ECLIPSE + "map.strategy.mutable.UnifiedMapWithHashingStrategy", "entrySet", "clear", "put")
                        .byIdentity(),
                Rule.set(ECLIPSE + "set.mutable.UnifiedSet", null, "clear", "add"),
                Rule.set(ECLIPSE + "set.strategy.mutable.UnifiedSetWithHashingStrategy", null, "clear", "add")
                        .byIdentity(),
                Rule.map(ECLIPSE + "bag.mutable.HashBag", "toMapOfItemToCount", "clear", "addOccurrences"),
                Rule.map(VAVR + "HashMap", null, null, "ofEntries"),
                Rule.set(VAVR + "HashSet", null, null, "ofAll"),
                Rule.map(SCALA + "immutable.HashMap", "iterator", null, BUILDER),
                Rule.set(SCALA + "immutable.HashSet", "iterator", null, BUILDER),
                Rule.map(SCALA + "mutable.(Linked)?HashMap", "iterator", "clear", "update"),
                Rule.set(SCALA + "mutable.(Linked)?HashSet", "iterator", "clear", "add"));
    }

    /** A rule, and the library's class that it was found for. */
    private record Found(Rule rule, Class<?> owner) {}

    private static final ClassValue<Found> FOUND = new ClassValue<>() {
        @Override
        protected Found computeValue(Class<?> c) {
            for (Class<?> k = c; k != null && k != Object.class; k = k.getSuperclass()) {
                String name = k.getName();
                if (isLibrary(name)) {
                    for (Rule r : Rules.ALL) {
                        if (r.names.matcher(name).matches()) {
                            return new Found(r, k);
                        }
                    }
                }
            }
            return null;
        }
    };

    private ForeignTables() {}

    /** Whether objects of this class are such tables. */
    public static boolean handles(Class<?> c) {
        return !c.isArray() && !Policy.isPlatform(c) && FOUND.get(c) != null;
    }

    /** Whether tables of this class may go by the identity of their keys, which cached boxed values have in each process. */
    static boolean byIdentity(Class<?> c) {
        return FOUND.get(c).rule.identity;
    }

    /**
     * Fills a table anew when one of its keys may have another hash here.
     *
     * @throws SkywayException of kind BAD_IMAGE when code of the library or of a key fails, or this version of the library
     *     lacks a method
     */
    static void repair(Object table) {
        Found f = FOUND.get(table.getClass());
        try {
            repair(table, f.rule, f.owner);
        } catch (OutOfMemoryError e) {
            throw e;
        } catch (Throwable t) {
            throw new SkywayException(
                    SkywayException.Kind.BAD_IMAGE,
                    "a landed " + table.getClass().getName() + " could not be put in this process's order: " + t,
                    t);
        }
    }

    /**
     * The entries of a table, in its own order: arrays of a key and a value, or null in place of the value when it has none.
     *
     * @throws IllegalStateException when code of the library fails, or this version of it lacks a method
     */
    public static List<Object[]> entries(Object table) {
        Found f = FOUND.get(table.getClass());
        List<Object[]> out = new ArrayList<>();
        try {
            for (Entry e : read(table, f.rule, f.owner)) {
                out.add(new Object[] {e.key, e.value});
            }
            return out;
        } catch (OutOfMemoryError e) {
            throw e;
        } catch (Throwable t) {
            throw new IllegalStateException("a " + table.getClass().getName() + " cannot be gone through: " + t, t);
        }
    }

    /** Whether a table of this class with these {@link #entries} may be in another order in another process. */
    public static boolean hasOwnHashes(Class<?> c, List<Object[]> entries) {
        Rule rule = FOUND.get(c).rule;
        return entries.stream().anyMatch(e -> isOwn(rule, e[0], e[1]));
    }

    private static boolean isOwn(Rule rule, Object key, Object value) {
        return rule.identity || !HashRepair.stable(key) || rule.values && !HashRepair.stable(value);
    }

    /** Whether tables of this class keep the order in which their entries were put in. */
    public static boolean isOrdered(Class<?> c) {
        String name = FOUND.get(c).owner.getSimpleName();
        return name.contains("Linked") || name.equals("HashBiMap");
    }

    /** Whether it is a class of a library of which some tables are known, by its name. */
    public static boolean isLibrary(String className) {
        return LIBRARIES.stream().anyMatch(className::startsWith);
    }

    /** @param given what the library gave, which may be a view of the table */
    private record Entry(Object key, Object value, Object given) {}

    private static List<Entry> read(Object table, Rule rule, Class<?> owner) throws Throwable {
        int size = (int) call(table, owner, "size");
        List<Entry> entries = new ArrayList<>();
        Iterator<?> all = iterator(rule.entries == null ? table : call(table, owner, rule.entries));
        while (all.hasNext()) {
            // A table that was altered on the way need not come to an end.
            if (entries.size() >= size) {
                throw new IllegalStateException("it holds more than it says");
            }
            Object e = all.next();
            entries.add(rule.pairs ? new Entry(part(e, true), part(e, false), e) : new Entry(e, null, e));
        }
        return entries;
    }

    private static void repair(Object table, Rule rule, Class<?> owner) throws Throwable {
        int size = (int) call(table, owner, "size");
        List<Entry> entries = read(table, rule, owner);
        if (entries.stream().noneMatch(e -> isOwn(rule, e.key, e.value))) {
            return;
        }
        if (rule.clear != null) {
            call(table, owner, rule.clear);
            MethodHandle put = method(owner, rule.put, rule.pairs ? 2 : 1).bindTo(table);
            for (Entry e : entries) {
                Object ignored = rule.pairs ? put.invoke(e.key, e.value) : put.invoke(e.key);
            }
        } else {
            List<Object> given = entries.stream().map(Entry::given).toList();
            become(table, rule.put.equals(BUILDER) ? built(owner, given) : made(owner, rule.put, given));
        }
        if ((int) call(table, owner, "size") != size) {
            throw new IllegalStateException("two equal keys");
        }
    }

    private static Object made(Class<?> owner, String factory, List<Object> entries) throws Throwable {
        for (Method m : owner.getDeclaredMethods()) {
            if (m.getName().equals(factory)
                    && Modifier.isStatic(m.getModifiers())
                    && m.getParameterCount() == 1
                    && m.getParameterTypes()[0] == Iterable.class) {
                return lookup().unreflect(m).invoke(entries);
            }
        }
        throw new NoSuchMethodException(owner.getName() + "." + factory + "(Iterable)");
    }

    private static Object built(Class<?> owner, List<Object> entries) throws Throwable {
        Class<?> companion = Class.forName(owner.getName() + "$", true, owner.getClassLoader());
        Object builder = call(companion.getField("MODULE$").get(null), companion, BUILDER);
        MethodHandle add = method(builder.getClass(), "addOne", 1).bindTo(builder);
        for (Object e : entries) {
            Object ignored = add.invoke(e);
        }
        return call(builder, builder.getClass(), "result");
    }

    /** Puts what another object of the class holds into this one. */
    private static void become(Object table, Object other) throws IllegalAccessException {
        if (other.getClass() != table.getClass()) {
            throw new IllegalStateException(
                    "the library made a " + other.getClass().getName());
        }
        for (Class<?> k = table.getClass(); k != Object.class; k = k.getSuperclass()) {
            for (Field f : Internals.fieldsOf(k)) {
                if (!Modifier.isStatic(f.getModifiers())) {
                    f.setAccessible(true);
                    Internals.setField(f, table, f.get(other));
                }
            }
        }
    }

    private static Object part(Object entry, boolean first) throws Throwable {
        if (entry instanceof Map.Entry<?, ?> e) {
            return first ? e.getKey() : e.getValue();
        }
        return (first ? FIRST : SECOND).get(entry.getClass()).invoke(entry);
    }

    private static final ClassValue<MethodHandle> FIRST = ofTuples("_1");
    private static final ClassValue<MethodHandle> SECOND = ofTuples("_2");

    private static ClassValue<MethodHandle> ofTuples(String name) {
        return new ClassValue<>() {
            @Override
            protected MethodHandle computeValue(Class<?> c) {
                try {
                    return lookup().unreflect(c.getMethod(name));
                } catch (ReflectiveOperationException e) {
                    throw new IllegalStateException(e);
                }
            }
        };
    }

    private static Iterator<?> iterator(Object entries) throws Throwable {
        if (entries instanceof Map<?, ?> m) {
            return m.entrySet().iterator();
        }
        if (entries instanceof Iterable<?> i) {
            return i.iterator();
        }
        // Scala's.
        MethodHandle hasNext = method(entries.getClass(), "hasNext", 0).bindTo(entries);
        MethodHandle next = method(entries.getClass(), "next", 0).bindTo(entries);
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                return (boolean) run(hasNext);
            }

            @Override
            public Object next() {
                return run(next);
            }
        };
    }

    private static Object run(MethodHandle method) {
        try {
            return method.invoke();
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }

    private static Object call(Object on, Class<?> owner, String name) throws Throwable {
        return method(owner, name, 0).invoke(on);
    }

    /** The method as this class has it or inherits it, whatever subclasses make of it. */
    private static MethodHandle method(Class<?> owner, String name, int parameters)
            throws ReflectiveOperationException {
        for (Class<?> k = owner; k != null; k = k.getSuperclass()) {
            for (Method m : k.getDeclaredMethods()) {
                if (m.getName().equals(name)
                        && m.getParameterCount() == parameters
                        && (m.getModifiers() & (Modifier.STATIC | Modifier.ABSTRACT)) == 0
                        && !m.isBridge()
                        && (parameters == 0 || !m.getParameterTypes()[0].isPrimitive())) {
                    return lookup().unreflectSpecial(m, k);
                }
            }
        }
        for (Method m : owner.getMethods()) {
            if (m.getName().equals(name) && m.getParameterCount() == parameters && m.isDefault()) {
                return lookup().unreflect(m);
            }
        }
        throw new NoSuchMethodException(owner.getName() + "." + name);
    }

    /** May call everything: the libraries may be modules that open nothing. */
    private static MethodHandles.Lookup lookup() throws ReflectiveOperationException {
        Field f = MethodHandles.Lookup.class.getDeclaredField("IMPL_LOOKUP");
        return (MethodHandles.Lookup) Internals.staticValue(f);
    }
}

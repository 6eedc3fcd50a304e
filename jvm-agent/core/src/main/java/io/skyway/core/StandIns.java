package io.skyway.core;

import java.io.Externalizable;
import java.io.ObjectInputStream;
import java.io.Serializable;
import java.lang.invoke.SerializedLambda;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.text.AttributedCharacterIterator;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * Objects that only Java can move: their classes exist only in one process, or say themselves in which form they travel.
 * Each is replaced by a stand-in, an {@code Object[]} of a tag and what is needed to make the object again; the stand-in
 * is part of the same graph, so sharing and cycles between it and everything else survive.
 *
 * <ul>
 *   <li>serializable lambdas and method references: their {@link SerializedLambda}
 *   <li>dynamic proxies: their interfaces and handler, or what the {@code writeReplace} of an interface gives
 *   <li>{@link WeakReference} and {@link SoftReference}: the referent; {@link WeakHashMap}: its entries
 *   <li>{@link Pattern}: its text and flags
 *   <li>classes of the platform of which one object exists per value, as Currency, and Locale, whose parts do: class and
 *       field values
 *   <li>an application's classes with {@code writeReplace}: the replacement; with {@code readResolve} alone: class and field
 *       values
 * </ul>
 */
final class StandIns {
    private static final String LAMBDA = "lambda";
    private static final String PROXY = "proxy";
    private static final String WEAK = "weak";
    private static final String SOFT = "soft";
    private static final String WEAK_MAP = "weak map";
    private static final String PATTERN = "pattern";
    private static final String REPLACED = "replaced";
    private static final String BECOMES = "becomes";
    private static final String FIELDS = "fields";
    /** How often a replacement may be replaced itself where objects that it replaces refer to each other. */
    private static final int MOST_REPLACEMENTS = 100;

    /** Object to its place; place 0 is the graph's root. */
    private final Map<Object, Integer> places = new IdentityHashMap<>();

    private final List<Object> originals = new ArrayList<>();
    private final List<Object> envelope = new ArrayList<>();

    StandIns(Object root) {
        originals.add(null);
        envelope.add(root);
    }

    /** Whether each object of this class travels as a stand-in. */
    static boolean needed(Class<?> c) {
        if (c.isArray() || c.isInterface() || c.isPrimitive()) {
            return false;
        }
        return isLambda(c) && Serializable.class.isAssignableFrom(c)
                || Proxy.isProxyClass(c)
                || c == WeakReference.class
                || c == SoftReference.class
                || c == WeakHashMap.class
                || c == Pattern.class
                || Serializable.class.isAssignableFrom(c) && (Policy.isPlatform(c) ? interned(c) : ownForm(c));
    }

    static boolean isLambda(Class<?> c) {
        return c.isHidden() && c.isSynthetic() && c.getName().contains("$$Lambda");
    }

    private static boolean ownForm(Class<?> c) {
        return !Externalizable.class.isAssignableFrom(c)
                && !ForeignTables.handles(c)
                && (inherited(c, "writeReplace") != null || inherited(c, "readResolve") != null);
    }

    /** The platform's classes that exist once per value (Currency, attributes of text): equal is what is identical. */
    private static boolean interned(Class<?> c) {
        if (c == SerializedLambda.class
                || inherited(c, "readResolve") == null
                || inherited(c, "writeReplace") != null) {
            return false;
        }
        if (c == Locale.class) {
            // Equal is who has the identical language, and the identical country.
            return true;
        }
        try {
            Class<?> equals = c.getMethod("equals", Object.class).getDeclaringClass();
            return equals == Object.class || equals == AttributedCharacterIterator.Attribute.class;
        } catch (NoSuchMethodException e) {
            return false;
        }
    }

    /** A method without arguments that returns an Object, found as object streams find it. */
    private static Method inherited(Class<?> c, String name) {
        for (Class<?> k = c; k != null && k != Object.class; k = k.getSuperclass()) {
            try {
                Method m = k.getDeclaredMethod(name);
                int mods = m.getModifiers();
                boolean mine = k == c
                        || (mods & (Modifier.PUBLIC | Modifier.PROTECTED)) != 0
                        || (mods & Modifier.PRIVATE) == 0
                                && k.getPackage() == c.getPackage()
                                && k.getClassLoader() == c.getClassLoader();
                return mine && (mods & (Modifier.STATIC | Modifier.ABSTRACT)) == 0 && m.getReturnType() == Object.class
                        ? m
                        : null;
            } catch (NoSuchMethodException e) {
                // in a superclass, perhaps
            } catch (LinkageError e) {
                return null;
            }
        }
        return null;
    }

    /** The same for a proxy, whose own methods may be in a package that is closed. */
    private static Method ofInterface(Class<?> proxy, String name) {
        for (Class<?> face : proxy.getInterfaces()) {
            try {
                Method m = face.getMethod(name);
                if (!Modifier.isStatic(m.getModifiers()) && m.getReturnType() == Object.class) {
                    return m;
                }
            } catch (NoSuchMethodException e) {
                // in another one, perhaps
            }
        }
        return null;
    }

    boolean isEmpty() {
        return places.isEmpty();
    }

    Object[] originals() {
        return originals.toArray();
    }

    Object[] envelope() {
        return envelope.toArray();
    }

    /**
     * Gives an object its stand-in.
     *
     * @return false when it can have none: objects of its class must be copied as they are
     * @throws SkywayException of kind GRAPH_REFUSED when the object's own code fails
     */
    boolean add(Object o) {
        if (places.containsKey(o)) {
            return true;
        }
        Object form = make(o);
        if (form == null) {
            return false;
        }
        places.put(o, envelope.size());
        originals.add(o);
        envelope.add(form);
        return true;
    }

    /**
     * Whether a replacement is nothing without the methods that write it to an object stream and read it from one. It then
     * holds the object that it replaces, which it writes in its own way, or has transient fields, which it makes when it is
     * read.
     */
    private static boolean isOfStreams(Object replacement, Object of) throws IllegalAccessException {
        Class<?> c = replacement.getClass();
        boolean reads = Externalizable.class.isAssignableFrom(c);
        boolean incomplete = false;
        for (Class<?> k = c; k != null && !Policy.isPlatform(k); k = k.getSuperclass()) {
            try {
                k.getDeclaredMethod("readObject", ObjectInputStream.class);
                reads = true;
            } catch (NoSuchMethodException e) {
                // in a superclass, perhaps
            }
            for (Field f : k.getDeclaredFields()) {
                if (!Modifier.isStatic(f.getModifiers())) {
                    f.setAccessible(true);
                    incomplete |= Modifier.isTransient(f.getModifiers())
                            || !f.getType().isPrimitive() && f.get(replacement) == of;
                }
            }
        }
        return reads && incomplete;
    }

    /** Whether an application's objects of this class are replaced when they are written, which the receiver may not see. */
    static boolean isReplaced(Class<?> c) {
        return Serializable.class.isAssignableFrom(c)
                && !Policy.isPlatform(c)
                && !c.isHidden()
                && !Proxy.isProxyClass(c)
                && inherited(c, "writeReplace") != null;
    }

    /**
     * The stand-in of an object of a class for which one is {@link #needed}; null when its replacement cannot travel
     * without an object stream.
     */
    static Object[] make(Object o) {
        Class<?> c = o.getClass();
        try {
            if (o instanceof WeakReference<?> r) {
                return new Object[] {WEAK, r.get()};
            }
            if (o instanceof SoftReference<?> r) {
                return new Object[] {SOFT, r.get()};
            }
            if (o instanceof WeakHashMap<?, ?> m) {
                List<Object> pairs = new ArrayList<>();
                m.forEach((k, v) -> pairs.addAll(java.util.Arrays.asList(k, v)));
                return new Object[] {WEAK_MAP, pairs.toArray()};
            }
            if (o instanceof Pattern p) {
                return new Object[] {PATTERN, p.pattern(), p.flags()};
            }
            Method replace = Proxy.isProxyClass(c) ? ofInterface(c, "writeReplace") : inherited(c, "writeReplace");
            if (replace != null) {
                replace.setAccessible(true);
                Object other = replace.invoke(o);
                if (isLambda(c)) {
                    return new Object[] {LAMBDA, other};
                }
                if (other != null && other != o && !Policy.isPlatform(other.getClass()) && isOfStreams(other, o)) {
                    return Proxy.isProxyClass(c) ? around(o) : null;
                }
                if (other != o && (other == null || other.getClass() != c)) {
                    // One that has a stand-in itself is what that one's readResolve gives, which runs once.
                    boolean resolved = other != null && needed(other.getClass());
                    return new Object[] {resolved ? BECOMES : REPLACED, other};
                }
                o = other;
            }
            if (Proxy.isProxyClass(c)) {
                return around(o);
            }
            List<Object> values = new ArrayList<>();
            for (Field f : instanceFields(c)) {
                values.add(f.get(o));
            }
            return new Object[] {FIELDS, c, values.toArray()};
        } catch (ReflectiveOperationException | RuntimeException e) {
            Throwable cause = e instanceof InvocationTargetException i ? i.getCause() : e;
            throw new SkywayException(
                    SkywayException.Kind.GRAPH_REFUSED,
                    "an object of " + c.getName() + " cannot say in which form it travels: " + cause,
                    cause);
        }
    }

    private static Object[] around(Object proxy) {
        return new Object[] {PROXY, proxy.getClass().getInterfaces(), Proxy.getInvocationHandler(proxy)};
    }

    private static List<Field> instanceFields(Class<?> c) {
        List<Field> fields = new ArrayList<>();
        for (Class<?> k = c; k != null; k = k.getSuperclass()) {
            for (Field f : k.getDeclaredFields()) {
                if (!Modifier.isStatic(f.getModifiers())) {
                    f.setAccessible(true);
                    fields.add(f);
                }
            }
        }
        return fields;
    }

    /**
     * Whoever refers to an object that became another one gets that one: its references are those of the other's place. So
     * an object that its own replacement refers to is a cycle of that alone.
     */
    static void follow(Object[] envelope, Map<Integer, List<long[]>> stores, Function<long[], Object> holder) {
        Map<Object, Integer> replaced = new IdentityHashMap<>();
        for (int place = 1; place < envelope.length; place++) {
            if (envelope[place] instanceof Object[] form && form.length == 2 && BECOMES.equals(form[0])) {
                replaced.put(form, place);
            }
        }
        Map<Integer, Integer> becomes = new HashMap<>();
        if (!replaced.isEmpty()) {
            stores.forEach((place, list) -> {
                for (long[] s : list) {
                    Integer from = replaced.get(holder.apply(s));
                    if (from != null) {
                        becomes.put(from, place);
                    }
                }
            });
        }
        becomes.forEach((place, other) -> {
            int end = other;
            for (int steps = 0; becomes.containsKey(end) && steps < MOST_REPLACEMENTS; steps++) {
                end = becomes.get(end);
            }
            if (!becomes.containsKey(end) && stores.containsKey(place)) {
                stores.get(end).addAll(stores.remove(place));
            }
        });
    }

    /**
     * The objects of one image that are made field by field. Each exists before its fields are set, so those that refer to
     * each other, or to themselves, find each other.
     */
    static final class Begun {
        private final Map<Object, Object> byValues = new IdentityHashMap<>();
        private final Map<Object, Object> open = new IdentityHashMap<>();
        private final List<Runnable> cycles = new ArrayList<>();

        Begun(Object[] envelope) {
            for (int place = 1; place < envelope.length; place++) {
                if (envelope[place] instanceof Object[] form
                        && form.length == 3
                        && FIELDS.equals(form[0])
                        && form[1] instanceof Class<?> c
                        && form[2] instanceof Object[] values) {
                    byValues.put(values, allocate(c));
                }
            }
        }

        private static Object allocate(Class<?> c) {
            if (!needed(c) || Proxy.isProxyClass(c) || Modifier.isAbstract(c.getModifiers())) {
                // Whoever wrote the image may not fill the fields of other classes in this way.
                throw new SkywayException(
                        SkywayException.Kind.BAD_IMAGE, "objects of " + c.getName() + " have no stand-ins");
            }
            try {
                return Internals.allocate(c);
            } catch (RuntimeException | LinkageError e) {
                throw new SkywayException(
                        SkywayException.Kind.BAD_IMAGE,
                        "an object of " + c.getName() + " could not be made on arrival: " + e,
                        e);
            }
        }

        /** Whether this array holds the values of such an object's fields. */
        boolean isValues(Object array) {
            return byValues.containsKey(array);
        }

        /** The object of a stand-in, to which others may refer before it is complete; null for another kind. */
        Object refer(Object standIn) {
            Object o = standIn instanceof Object[] form && form.length == 3 ? byValues.get(form[2]) : null;
            if (o != null) {
                open.put(o, o);
            }
            return o;
        }

        private Object fill(Class<?> c, Object[] values) throws ReflectiveOperationException {
            Object o = byValues.get(values);
            if (o == null || o.getClass() != c) {
                throw new SkywayException(
                        SkywayException.Kind.BAD_IMAGE, "two stand-ins have the same fields, or one has none");
            }
            int i = 0;
            for (Field f : instanceFields(c)) {
                int at = i++;
                boolean later = !f.getType().isPrimitive() && (values[at] == null || open.containsKey(values[at]));
                // What a replacement becomes fits, but not the replacement.
                Object value = later && !f.getType().isInstance(values[at]) ? null : values[at];
                Internals.setField(f, o, value);
                if (later) {
                    cycles.add(() -> replace(f, o, value, values[at]));
                }
            }
            Object resolved = readResolve(o);
            open.remove(o);
            return resolved;
        }

        private static void replace(Field f, Object o, Object before, Object now) {
            try {
                if (before != now && f.get(o) == before) {
                    Internals.setField(f, o, now);
                }
            } catch (IllegalAccessException | ClassCastException e) {
                throw new SkywayException(
                        SkywayException.Kind.BAD_IMAGE, "a field could not be set on arrival: " + e.getMessage(), e);
            }
        }

        /** Sets what was not made yet, or has become another object when it was complete, when its field was set. */
        void close() {
            cycles.forEach(Runnable::run);
        }
    }

    /**
     * The order in which stand-ins become objects: what a form itself holds comes before it, since a captured argument or
     * a referent cannot be put in afterwards. Otherwise, and where forms hold each other, the last one first: what was met
     * later may be part of what was met earlier.
     *
     * @param stores for a place, where its object will be stored
     * @param holder the object that such a store goes to
     */
    static int[] order(Object[] envelope, Map<Integer, List<long[]>> stores, Function<long[], Object> holder) {
        Map<Object, Integer> owner = new IdentityHashMap<>();
        for (int place = 1; place < envelope.length; place++) {
            if (envelope[place] instanceof Object[] form) {
                owner.putIfAbsent(form, place);
                for (Object part : form) {
                    if (part instanceof SerializedLambda l) {
                        owner.putIfAbsent(captured(l), place);
                    }
                    // What a handler or a referent holds may come later.
                    if (part instanceof Object[] || part != null && REPLACED.equals(form[0])) {
                        owner.putIfAbsent(part, place);
                    }
                }
            }
        }
        List<List<Integer>> needs = new ArrayList<>();
        for (int place = 0; place < envelope.length; place++) {
            needs.add(new ArrayList<>());
        }
        stores.forEach((place, list) -> {
            for (long[] s : list) {
                Integer user = owner.get(holder.apply(s));
                if (user != null && !user.equals(place)) {
                    needs.get(user).add(place);
                }
            }
        });
        int[] order = new int[envelope.length - 1];
        int count = 0;
        int[] next = new int[envelope.length];
        boolean[] begun = new boolean[envelope.length];
        ArrayDeque<Integer> open = new ArrayDeque<>();
        for (int first = envelope.length - 1; first > 0; first--) {
            if (!begun[first]) {
                begun[first] = true;
                open.push(first);
            }
            while (!open.isEmpty()) {
                int place = open.peek();
                if (next[place] < needs.get(place).size()) {
                    int need = needs.get(place).get(next[place]++);
                    if (!begun[need]) {
                        begun[need] = true;
                        open.push(need);
                    }
                } else {
                    order[count++] = open.pop();
                }
            }
        }
        return order;
    }

    private static Object captured(SerializedLambda l) {
        try {
            Field f = SerializedLambda.class.getDeclaredField("capturedArgs");
            f.setAccessible(true);
            return f.get(l);
        } catch (ReflectiveOperationException | InaccessibleObjectException e) {
            return l;
        }
    }

    /**
     * Makes the object that a stand-in stands for.
     *
     * @param begun the objects that are made field by field
     * @param later gets what can be done only when all of them are made
     * @param fresh gets the object if it is one of an application's class that nobody else has
     * @throws SkywayException of kind BAD_IMAGE when it is none, or the object's own code fails; CLASS_MISSING
     */
    static Object resolve(Object standIn, ClassLoader loader, Begun begun, List<Runnable> later, List<Object> fresh) {
        Object[] form =
                standIn instanceof Object[] a && a.length >= 2 && a[0] instanceof String ? (Object[]) standIn : null;
        if (form == null) {
            throw new SkywayException(SkywayException.Kind.BAD_IMAGE, "a stand-in has no form");
        }
        String what = (String) form[0];
        try {
            switch (what) {
                case LAMBDA:
                    return Internals.readLambda((SerializedLambda) form[1]);
                case PROXY: {
                    Class<?>[] faces = (Class<?>[]) form[1];
                    ClassLoader of = loader;
                    for (Class<?> i : faces) {
                        if (!Modifier.isPublic(i.getModifiers())) {
                            of = i.getClassLoader();
                        }
                    }
                    return Proxy.newProxyInstance(of, faces, (InvocationHandler) form[2]);
                }
                case WEAK:
                    return new WeakReference<>(form[1]);
                case SOFT:
                    return new SoftReference<>(form[1]);
                case WEAK_MAP: {
                    Object[] pairs = (Object[]) form[1];
                    Map<Object, Object> m = new WeakHashMap<>(Math.max(16, pairs.length));
                    // A key's hash may go by any object that is not made yet.
                    later.add(() -> fill(m, pairs));
                    return m;
                }
                case PATTERN:
                    return Pattern.compile((String) form[1], (Integer) form[2]);
                case BECOMES:
                    return form[1];
                case REPLACED:
                    return readResolve(form[1]);
                case FIELDS: {
                    Object[] values = (Object[]) form[2];
                    Object o = begun.byValues.get(values);
                    Object resolved = begun.fill((Class<?>) form[1], values);
                    if (resolved == o) {
                        fresh.add(o);
                    }
                    return resolved;
                }
                default:
                    throw new SkywayException(SkywayException.Kind.BAD_IMAGE, "not a form of stand-ins: " + what);
            }
        } catch (SkywayException e) {
            throw e;
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            Throwable cause = e instanceof InvocationTargetException i ? i.getCause() : e;
            throw new SkywayException(
                    e instanceof ClassNotFoundException || e instanceof NoClassDefFoundError
                            ? SkywayException.Kind.CLASS_MISSING
                            : SkywayException.Kind.BAD_IMAGE,
                    "a " + what + " object could not be made on arrival: " + cause,
                    cause);
        }
    }

    private static void fill(Map<Object, Object> m, Object[] pairs) {
        try {
            for (int i = 0; i + 1 < pairs.length; i += 2) {
                m.put(pairs[i], pairs[i + 1]);
            }
        } catch (RuntimeException | StackOverflowError e) {
            throw new SkywayException(
                    SkywayException.Kind.BAD_IMAGE, "a weak map could not be filled on arrival: " + e, e);
        }
    }

    private static Object readResolve(Object o) throws ReflectiveOperationException {
        Method m = o == null ? null : inherited(o.getClass(), "readResolve");
        if (m == null) {
            return o;
        }
        try {
            m.setAccessible(true);
        } catch (InaccessibleObjectException e) {
            throw new IllegalStateException("its readResolve is not open to Skyway", e);
        }
        return m.invoke(o);
    }
}

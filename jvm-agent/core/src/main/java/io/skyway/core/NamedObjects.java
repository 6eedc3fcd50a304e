package io.skyway.core;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Objects with a fixed identity: they travel as names and are looked up on arrival. Enum constants, {@code Class}
 * objects, values of static final fields of platform classes, an application's singletons, cached boxed values.
 *
 * <p>Names: {@code enum:CLASS#CONSTANT}, {@code class:CLASS}, {@code static:CLASS#FIELD}, {@code box:CLASS#VALUE}.
 */
final class NamedObjects {
    private static final int MOST_BYTES = 4096;

    private final Map<Object, String> names = new IdentityHashMap<>();
    private final Set<Class<?>> scanned = Collections.newSetFromMap(new WeakHashMap<>());
    private final Set<Class<?>> namedClasses = new HashSet<>();
    private final Consumer<Class<?>> onNamedClass;
    private final Supplier<Class<?>[]> loadedClasses;
    private final List<byte[]> fresh = new ArrayList<>();
    private Object[] objects = new Object[1024];
    private int count;
    private boolean allClasses;

    /** {@code onNamedClass} hears of each class that some named object is an instance of. */
    NamedObjects(Supplier<Class<?>[]> loadedClasses, Consumer<Class<?>> onNamedClass) {
        this.loadedClasses = loadedClasses;
        this.onNamedClass = onNamedClass;
    }

    boolean contains(Object o) {
        return names.containsKey(o);
    }

    boolean isNamedClass(Class<?> c) {
        return namedClasses.contains(c);
    }

    /** Names of classes loaded since the last call; the first call of a process takes some tens of milliseconds. */
    void scan() {
        if (scanned.isEmpty()) {
            boxes();
        }
        List<Object[]> found = new ArrayList<>();
        for (Class<?> c : loadedClasses.get()) {
            if (Policy.isPlatform(c)
                    && !c.isArray()
                    && !c.isHidden()
                    && !scanned.contains(c)
                    && Internals.isInitialized(c)) {
                scanned.add(c);
                statics(c, found);
            }
        }
        // Where several fields hold one object, every process must choose the same: the first by name.
        found.sort((a, b) -> ((String) a[0]).compareTo((String) b[0]));
        for (Object[] f : found) {
            put(f[1], (String) f[0]);
        }
        flush();
    }

    private static void statics(Class<?> c, List<Object[]> into) {
        Field[] fields;
        try {
            fields = Internals.fieldsOf(c);
        } catch (LinkageError e) {
            return;
        }
        for (Field f : fields) {
            if (isConstant(f)) {
                Object v = Internals.staticValue(f);
                if (v != null && travelsByName(v)) {
                    into.add(new Object[] {"static:" + c.getName() + "#" + f.getName(), v});
                }
            }
        }
    }

    private static boolean isConstant(Field f) {
        return Modifier.isStatic(f.getModifiers())
                && Modifier.isFinal(f.getModifiers())
                && !f.getType().isPrimitive();
    }

    private static boolean travelsByName(Object v) {
        // Values, whose identity nobody may rely on; those that have one are named in other ways.
        if (v.getClass().isArray()) {
            // Code compares with an empty array to see that nothing was allocated yet; other arrays are data.
            return Array.getLength(v) == 0;
        }
        return !(v instanceof String
                || v instanceof Class
                || v instanceof Number && v.getClass().getName().startsWith("java.lang.")
                || v instanceof Boolean
                || v instanceof Character
                || Policy.isEnumConstant(v.getClass()));
    }

    /**
     * Names of the objects that exist once in a process: those that an application's class holds of itself in static final
     * fields, and those without any field, that it, a superclass or the class around it holds in such fields. They have
     * nothing but their identity, as the marks in the tables of some libraries.
     */
    void singletons(Class<?> c) {
        if (c == null || Policy.isPlatform(c) || c.isArray() || c.isHidden() || !scanned.add(c)) {
            return;
        }
        singletons(c.getSuperclass());
        singletons(around(c));
        Field[] fields;
        try {
            fields = Internals.fieldsOf(c);
        } catch (LinkageError e) {
            return;
        }
        for (Field f : fields) {
            if (isConstant(f) && Internals.isInitialized(c)) {
                Object v = Internals.staticValue(f);
                if (v != null && isSingleton(f, v)) {
                    put(v, "static:" + c.getName() + "#" + f.getName());
                }
            }
        }
        flush();
    }

    private static Class<?> around(Class<?> c) {
        try {
            return c.getEnclosingClass();
        } catch (LinkageError e) {
            return null;
        }
    }

    private static boolean isSingleton(Field f, Object v) {
        Class<?> c = f.getDeclaringClass();
        return f.getType() == c && v.getClass() == c || isMark(v.getClass());
    }

    private static boolean isMark(Class<?> c) {
        if (c == Object.class) {
            return true;
        }
        if (c.isArray() || c.isHidden() || c.isEnum() || Policy.isPlatform(c) || Policy.isEnumConstant(c)) {
            return false;
        }
        for (Class<?> k = c; k != Object.class; k = k.getSuperclass()) {
            for (Field f : Internals.fieldsOf(k)) {
                if (!Modifier.isStatic(f.getModifiers())) {
                    return false;
                }
            }
        }
        return true;
    }

    private void boxes() {
        put(Boolean.TRUE, "box:java.lang.Boolean#true");
        put(Boolean.FALSE, "box:java.lang.Boolean#false");
        for (int i = -128; i < 128; i++) {
            put(Byte.valueOf((byte) i), "box:java.lang.Byte#" + i);
            put(Short.valueOf((short) i), "box:java.lang.Short#" + i);
            put(Long.valueOf(i), "box:java.lang.Long#" + i);
            if (i >= 0) {
                put(Character.valueOf((char) i), "box:java.lang.Character#" + i);
            }
        }
        // The upper bound is a flag of the VM: ask the cache itself.
        for (int i = -128; i <= integerCacheHigh(); i++) {
            put(Integer.valueOf(i), "box:java.lang.Integer#" + i);
        }
    }

    @SuppressWarnings("removal")
    static int integerCacheHigh() {
        int high = 127;
        while (high < 1 << 16 && Integer.valueOf(high + 1) == Integer.valueOf(high + 1)) {
            high++;
        }
        return high;
    }

    /** All constants of the enum that this class belongs to. */
    void enumConstants(Class<?> c) {
        Class<?> e = Policy.enumClass(c);
        for (Object o : e.getEnumConstants()) {
            put(o, "enum:" + e.getName() + "#" + ((Enum<?>) o).name());
        }
        flush();
    }

    /** Names of all loaded classes, so that a graph full of classes is not learned one class at a time. */
    void classObjects(Class<?> one) {
        if (!allClasses) {
            allClasses = true;
            for (Class<?> c : loadedClasses.get()) {
                if (!c.isHidden()) {
                    put(c, "class:" + c.getName());
                }
            }
            for (Class<?> c : PRIMITIVES) {
                put(c, "class:" + c.getName());
            }
        }
        put(one, "class:" + one.getName());
        flush();
    }

    private void put(Object o, String name) {
        byte[] text = name.getBytes(StandardCharsets.UTF_8);
        if (text.length > MOST_BYTES || names.putIfAbsent(o, name) != null) {
            return;
        }
        if (count == objects.length) {
            objects = Arrays.copyOf(objects, count * 2);
        }
        objects[count++] = o;
        fresh.add(text);
        if (namedClasses.add(o.getClass())) {
            onNamedClass.accept(o.getClass());
        }
    }

    private void flush() {
        if (!fresh.isEmpty()) {
            Native.addNamed(objects, fresh.toArray(new byte[0][]));
            fresh.clear();
        }
    }

    private static final List<Class<?>> PRIMITIVES = List.of(
            boolean.class,
            byte.class,
            char.class,
            short.class,
            int.class,
            long.class,
            float.class,
            double.class,
            void.class);

    /**
     * The object of this name in this process.
     *
     * @throws SkywayException of kind CLASS_MISSING when this process has no such object, BAD_IMAGE when the name is
     *     none
     */
    static Object resolve(String name, ClassLoader loader, Consumer<String> allowed) {
        int colon = name.indexOf(':');
        int hash = name.indexOf('#', colon + 1);
        String kind = colon < 0 ? "" : name.substring(0, colon);
        String className = name.substring(colon + 1, hash < 0 ? name.length() : hash);
        String member = hash < 0 ? "" : name.substring(hash + 1);
        try {
            switch (kind) {
                case "class":
                    for (Class<?> p : PRIMITIVES) {
                        if (p.getName().equals(className)) {
                            return p;
                        }
                    }
                    allowed.accept(className);
                    return Class.forName(className, false, loader);
                case "enum": {
                    allowed.accept(className);
                    Class<?> e = Class.forName(className, true, loader);
                    if (e.isEnum()) {
                        for (Object o : e.getEnumConstants()) {
                            if (((Enum<?>) o).name().equals(member)) {
                                return o;
                            }
                        }
                    }
                    break;
                }
                case "static": {
                    allowed.accept(className);
                    Class<?> found = Class.forName(className, false, loader);
                    boolean platform = Policy.isPlatform(found);
                    Class<?> c = Class.forName(className, true, found.getClassLoader());
                    for (Field f : Internals.fieldsOf(c)) {
                        if (f.getName().equals(member) && isConstant(f)) {
                            Object v = Internals.staticValue(f);
                            if (v != null && (platform ? travelsByName(v) : isSingleton(f, v))) {
                                return v;
                            }
                        }
                    }
                    break;
                }
                case "box":
                    allowed.accept(className);
                    return box(className, member);
                default:
                    throw new SkywayException(SkywayException.Kind.BAD_IMAGE, "not the name of an object: " + name);
            }
        } catch (ClassNotFoundException | LinkageError e) {
            throw new SkywayException(
                    SkywayException.Kind.CLASS_MISSING,
                    "class " + className + " cannot be loaded by the receiver (" + e + "); put it on its class path",
                    e);
        }
        throw new SkywayException(
                SkywayException.Kind.CLASS_MISSING,
                "the receiver has no " + kind + " constant " + className + "." + member
                        + "; both sides need the same version of the class");
    }

    private static Object box(String className, String value) {
        try {
            switch (className) {
                case "java.lang.Boolean":
                    return Boolean.valueOf(value);
                case "java.lang.Byte":
                    return Byte.valueOf(value);
                case "java.lang.Short":
                    return Short.valueOf(value);
                case "java.lang.Integer":
                    return Integer.valueOf(value);
                case "java.lang.Long":
                    return Long.valueOf(value);
                case "java.lang.Character":
                    return Character.valueOf((char) Integer.parseInt(value));
                default:
            }
        } catch (NumberFormatException e) {
            throw new SkywayException(SkywayException.Kind.BAD_IMAGE, "not a boxed value: " + value, e);
        }
        throw new SkywayException(SkywayException.Kind.BAD_IMAGE, "not a class of boxed values: " + className);
    }
}

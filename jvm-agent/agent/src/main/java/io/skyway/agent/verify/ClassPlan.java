package io.skyway.agent.verify;

import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import jdk.internal.misc.Unsafe;

/** What {@link GraphDigest} needs to know to digest an object of one class. */
final class ClassPlan {
    /** Stands where a class's ordinal would: the object goes in as a platform constant. */
    static final int CONSTANT = -1;
    /** Stands where a class's ordinal would: the description of a class follows. */
    static final int DESCRIPTION = -2;

    /** Stands where a field's offset would: it is left behind when the object is sent, and goes in as null or zero. */
    static final long CUT = -1;

    /** How an object goes into the digest. */
    enum Kind {
        FIELDS,
        REFERENCES,
        PRIMITIVES,
        ENUM,
        CLASS,
        /** A hash table, by its entries where their order is the process's own, else by its fields. */
        TABLE,
        /** A weak or soft reference, by its referent. */
        REFERENCE,
        /** By its text and flags: the rest is compiled from them. */
        PATTERN,
        /** By its text: the rest are parts that each process shares, and caches. */
        LOCALE
    }

    /** Either process may compute a string's hash at any time, so it says nothing about the graph. */
    private static final Set<String> STRING_CACHES = Set.of("hash", "hashIsZero");

    final Class<?> type;
    final int ordinal;
    final Kind kind;
    /** The class's name, the same in every process. */
    final String name;
    /** Name, then every field's class, name and type in the order of the digest. */
    final String description;
    /** Some platform constant is of this class, so its objects have to be looked up. */
    final boolean constants;
    /** Offsets of the primitive fields, and the size of each in bytes. */
    final long[] primitives;

    final byte[] sizes;
    final int primitiveBytes;
    /** Offsets of the reference fields. */
    final long[] references;
    /** Of a table: the plan of the fields that its own class adds to the platform's; else null. */
    final ClassPlan own;
    /** Of a primitive array: the size of an element in bytes. */
    final int elementBytes;

    private ClassPlan(
            Class<?> type, int ordinal, boolean constants, Kind kind, List<Field> fields, Predicate<Field> cut) {
        this.type = type;
        this.ordinal = ordinal;
        this.constants = constants;
        this.kind = kind;
        this.name = stableName(type);
        Unsafe memory = Unsafe.getUnsafe();
        elementBytes = kind == Kind.PRIMITIVES ? size(type.getComponentType()) : 0;

        StringBuilder text = new StringBuilder(name);
        long[] primitiveOffsets = new long[fields.size()];
        long[] referenceOffsets = new long[fields.size()];
        byte[] bytes = new byte[fields.size()];
        int primitiveCount = 0;
        int referenceCount = 0;
        int sum = 0;
        for (Field field : fields) {
            text.append('\n')
                    .append(stableName(field.getDeclaringClass()))
                    .append('.')
                    .append(field.getName())
                    .append(':')
                    .append(stableName(field.getType()));
            if (field.getType().isPrimitive()) {
                bytes[primitiveCount] = (byte) size(field.getType());
                sum += bytes[primitiveCount];
                primitiveOffsets[primitiveCount++] = cut.test(field) ? CUT : memory.objectFieldOffset(field);
            } else {
                referenceOffsets[referenceCount++] = cut.test(field) ? CUT : memory.objectFieldOffset(field);
            }
        }
        description = text.toString();
        primitives = Arrays.copyOf(primitiveOffsets, primitiveCount);
        sizes = Arrays.copyOf(bytes, primitiveCount);
        primitiveBytes = sum;
        references = Arrays.copyOf(referenceOffsets, referenceCount);
        own = kind == Kind.TABLE
                ? new ClassPlan(
                        type,
                        ordinal,
                        constants,
                        Kind.FIELDS,
                        fields.stream()
                                .filter(f -> !HashTables.isInner(f.getDeclaringClass()))
                                .toList(),
                        cut)
                : null;
    }

    static ClassPlan of(Class<?> type, int ordinal, boolean constants, Predicate<Field> cut) {
        if (type == Class.class) {
            return new ClassPlan(type, ordinal, constants, Kind.CLASS, List.of(), cut);
        }
        if (Enum.class.isAssignableFrom(type)) {
            return new ClassPlan(type, ordinal, constants, Kind.ENUM, List.of(), cut);
        }
        if (type.isArray()) {
            Kind kind = type.getComponentType().isPrimitive() ? Kind.PRIMITIVES : Kind.REFERENCES;
            return new ClassPlan(type, ordinal, constants, kind, List.of(), cut);
        }
        if (type == WeakReference.class || type == SoftReference.class) {
            return new ClassPlan(type, ordinal, constants, Kind.REFERENCE, List.of(), cut);
        }
        if (type == Pattern.class) {
            return new ClassPlan(type, ordinal, constants, Kind.PATTERN, List.of(), cut);
        }
        if (type == Locale.class) {
            return new ClassPlan(type, ordinal, false, Kind.LOCALE, List.of(), cut);
        }
        Kind kind = HashTables.mayBe(type) ? Kind.TABLE : Kind.FIELDS;
        return new ClassPlan(type, ordinal, constants, kind, instanceFields(type), cut);
    }

    static boolean isApplications(Class<?> type) {
        ClassLoader loader = type.getClassLoader();
        return loader != null && loader != ClassLoader.getPlatformClassLoader();
    }

    private static List<Field> instanceFields(Class<?> type) {
        List<Class<?>> chain = new ArrayList<>();
        for (Class<?> c = type; c != null; c = c.getSuperclass()) {
            chain.add(c);
        }
        Collections.reverse(chain);
        List<Field> fields = new ArrayList<>();
        for (Class<?> c : chain) {
            // A virtual machine may list fields in any order, and may place them in any order.
            Arrays.stream(c.getDeclaredFields())
                    .filter(f -> !Modifier.isStatic(f.getModifiers()))
                    .filter(f -> c != String.class || !STRING_CACHES.contains(f.getName()))
                    // The VM's own form of the stack trace, which stays in its process.
                    .filter(f -> c != Throwable.class || !f.getName().equals("backtrace"))
                    .sorted(Comparator.comparing(Field::getName)
                            .thenComparing(f -> f.getType().getName()))
                    .forEach(fields::add);
        }
        return fields;
    }

    private static int size(Class<?> primitive) {
        if (primitive == long.class || primitive == double.class) {
            return Long.BYTES;
        }
        if (primitive == int.class || primitive == float.class) {
            return Integer.BYTES;
        }
        return primitive == short.class || primitive == char.class ? Short.BYTES : Byte.BYTES;
    }

    /** A name that does not hold the numbers which a process gives to lambdas and proxies in the order of their use. */
    static String stableName(Class<?> type) {
        if (type.isArray()) {
            return stableName(type.getComponentType()) + "[]";
        }
        if (Proxy.isProxyClass(type)) {
            StringBuilder text = new StringBuilder("proxy");
            for (Class<?> face : type.getInterfaces()) {
                text.append(' ').append(face.getName());
            }
            return text.toString();
        }
        String name = type.getName();
        if (type.isHidden()) {
            int end = name.indexOf("$$Lambda");
            return end >= 0 ? name.substring(0, end) + "$$Lambda" : name.substring(0, name.indexOf('/'));
        }
        return name;
    }
}

package io.skyway.core;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Every class that the engine knows in this process: its descriptor, its plan in the native engine, its global id. */
final class TypeTable {
    // What fits where compact headers keep the class.
    private static final int MOST_IDS = 1 << 22;

    // Kinds of plans, in the order of plan.h.
    private static final int INSTANCE = 0;
    private static final int PRIMITIVE_ARRAY = 1;
    private static final int REFERENCE_ARRAY = 2;
    private static final int NAMED = 3;
    private static final int REFUSED = 4;
    private static final int STAND_IN = 5;
    private static final int CUT = 6;

    // Traits of a plan, and a bit of a declared class's index, as in natives.cpp.
    private static final int BOOLEANS = 1;
    private static final int REQUIRED = 1 << 30;
    private static final int LEAF = 1 << 29;

    /** One class. The strong reference to it keeps its loader from being unloaded under landed objects. */
    static final class Type {
        final Class<?> javaClass;
        final TypeDescriptor descriptor;
        final String refusal;
        final boolean named;
        boolean standIn;
        final List<Field> referenceFields;
        /** How objects are sent. */
        int plan;
        /** How they are landed: whole, whatever is left behind when they are sent. */
        int landing;

        int id;

        Type(Class<?> c, TypeDescriptor d, String refusal, boolean named, List<Field> referenceFields) {
            this.javaClass = c;
            this.descriptor = d;
            this.refusal = refusal;
            this.named = named;
            this.referenceFields = referenceFields;
        }

        boolean copied() {
            return descriptor != null;
        }
    }

    private final long mirrorKlassOffset;
    private final Map<Class<?>, Type> types = new HashMap<>();
    private final List<Type> byPlan = new ArrayList<>(List.of(new Type(null, null, null, false, List.of())));
    private final Map<Class<?>, Integer> declared = new HashMap<>();
    private final List<Class<?>> declaredClasses = new ArrayList<>(List.of(Object.class));
    final NamedObjects named;
    final FidelityRules rules = new FidelityRules(this::cutChanged, this::hooksChanged);
    private final Set<Class<?>> notReplaced = new HashSet<>();
    private TypeIds ids;

    TypeTable(long mirrorKlassOffset, java.util.function.Supplier<Class<?>[]> loadedClasses) {
        this.mirrorKlassOffset = mirrorKlassOffset;
        this.named = new NamedObjects(loadedClasses, this::mayBeNamed);
        this.declared.put(Object.class, 0);
    }

    synchronized void useIds(TypeIds newIds) {
        ids = newIds;
        for (Type t : types.values()) {
            t.id = 0;
        }
    }

    synchronized int count() {
        return types.size();
    }

    /**
     * Looks at what a walk could not go on with: objects of unknown classes, and named objects without a name.
     *
     * @param standIns gets an entry for each object that travels in another form
     * @param traced exceptions whose stack traces were fetched for this image
     * @return the objects that are refused; empty when the walk can start again
     */
    synchronized List<Object> learn(Object[] found, StandIns standIns, Set<Object> traced) {
        List<Object> refused = new ArrayList<>();
        List<Type> fresh = new ArrayList<>();
        named.scan();
        for (Object o : found) {
            Type t = type(o.getClass());
            if (t.standIn || t.copied() && t.id == 0) {
                named.singletons(o.getClass());
            }
            if (!t.copied() && hasName(o)) {
                continue; // since the walk began, or by now
            }
            if (t.refusal != null || o instanceof Class<?> c && c.isHidden()) {
                refused.add(o);
            } else if (t.standIn) {
                if (!standIns.add(o)) {
                    fresh.add(copiedAsItIs(o.getClass()));
                }
            } else if (t.id != 0 && o instanceof Throwable e) {
                if (!traced.add(o)) {
                    throw new SkywayException(
                            SkywayException.Kind.INTERNAL,
                            "the stack trace of a " + o.getClass().getName() + " cannot be fetched");
                }
                Internals.fetchStackTrace(e);
            } else if (t.named) {
                if (o instanceof Class<?> c) {
                    named.classObjects(c);
                } else {
                    named.enumConstants(o.getClass());
                }
            } else if (t.copied() && t.id == 0) {
                fresh.add(t);
            }
        }
        register(fresh);
        return refused;
    }

    private void register(List<Type> fresh) {
        List<Type> distinct = fresh.stream().distinct().toList();
        if (distinct.isEmpty()) {
            return;
        }
        int[] given = ids.register(distinct.stream().map(t -> t.descriptor).toList());
        for (int i = 0; i < given.length; i++) {
            Type t = distinct.get(i);
            t.id = given[i];
            if (t.id <= 0 || t.id >= MOST_IDS) {
                throw new SkywayException(
                        SkywayException.Kind.INTERNAL, "the type registry has given out more than 4,194,303 ids");
            }
            Native.setTypeId(t.plan, t.id);
        }
    }

    /** Known types that lost their ids when another registry came into use. */
    synchronized void registerAll() {
        register(types.values().stream().filter(t -> t.copied() && t.id == 0).toList());
    }

    synchronized Type type(Class<?> c) {
        Type t = types.get(c);
        if (t == null) {
            t = describe(c);
            types.put(c, t);
            if (t.landing != t.plan) {
                byPlan.add(t.landing, t);
            }
            byPlan.add(t.plan, t);
            if (named.isNamedClass(c)) {
                mayBeNamed(c);
            }
            if (t.copied()
                    && (HashRepair.handles(c)
                            || ForeignTables.handles(c)
                            || Trusted.needsSettling(c)
                            || rules.isHooked(c))) {
                Native.setArrival(t.landing, true);
            }
        }
        return t;
    }

    /** Objects of a class whose replacements cannot travel are copied from now on. */
    synchronized Type copiedAsItIs(Class<?> c) {
        if (notReplaced.add(c)) {
            types.remove(c);
        }
        return type(c);
    }

    private synchronized void hooksChanged(Class<?> type) {
        for (Type t : byPlan) {
            if (t.copied() && type.isAssignableFrom(t.javaClass)) {
                Native.setArrival(t.landing, true);
            }
        }
    }

    /** What is sent of the class has changed: it is described again when it is met next. */
    private synchronized void cutChanged(Class<?> type) {
        types.keySet().removeIf(type::isAssignableFrom);
        for (Type t : List.copyOf(byPlan)) {
            if (t.javaClass != null && type.isAssignableFrom(t.javaClass)) {
                type(t.javaClass);
            }
        }
    }

    synchronized Type byPlan(int plan) {
        return byPlan.get(plan);
    }

    synchronized Class<?> declaredClass(int index) {
        return declaredClasses.get(index);
    }

    /** What this process's ids mean now, by id; ids that are none are left out. */
    synchronized Map<Integer, TypeDescriptor> descriptors(Set<Integer> wanted) {
        Map<Integer, TypeDescriptor> out = new HashMap<>();
        for (Type t : types.values()) {
            if (t.copied() && wanted.contains(t.id)) {
                out.put(t.id, t.descriptor);
            }
        }
        return out;
    }

    synchronized TypeIds ids() {
        return ids;
    }

    /** Whether the object travels as a name, although its class is not copied. */
    synchronized boolean hasName(Object o) {
        Type t = type(o.getClass());
        return named.contains(o) && (t.refusal == null || Policy.isNamedThoughBound(t.javaClass));
    }

    private void mayBeNamed(Class<?> c) {
        Type t = types.get(c);
        if (t == null || t.refusal != null && !Policy.isNamedThoughBound(c)) {
            return;
        }
        int width = 0;
        long lo = -128;
        long hi = 127;
        if (c == Byte.class || c == Boolean.class) {
            width = 1;
        } else if (c == Short.class) {
            width = 2;
        } else if (c == Character.class) {
            width = -2;
        } else if (c == Integer.class) {
            width = 4;
            hi = NamedObjects.integerCacheHigh();
        } else if (c == Long.class) {
            width = 8;
        }
        int offset = width == 0 ? 0 : t.descriptor.fields().get(0).offset();
        Native.setMayBeNamed(t.plan, width, offset, lo, hi);
    }

    private int declaredIndex(Class<?> c) {
        return declared.computeIfAbsent(c, k -> {
            declaredClasses.add(k);
            return Native.addDeclared();
        });
    }

    private Type describe(Class<?> c) {
        long klass = Internals.getLong(c, mirrorKlassOffset);
        long[] facts = Native.klass(klass);
        int layoutHelper = (int) facts[0];
        long key = facts[2];
        boolean isNamed = c == Class.class || Policy.isEnumConstant(c);
        boolean cut = !isNamed && rules.isCut(c);
        if (cut && (c.isArray() || StandIns.needed(c) || Policy.refusal(c, facts[1] != 0) != null)) {
            return notCopied(c, key, CUT, null);
        }
        if (!isNamed && !notReplaced.contains(c) && StandIns.needed(c)) {
            Type t = notCopied(c, key, STAND_IN, null);
            t.standIn = true;
            return t;
        }
        String refusal = isNamed ? null : Policy.refusal(c, facts[1] != 0);
        if (isNamed || refusal != null) {
            return notCopied(c, key, isNamed ? NAMED : REFUSED, refusal);
        }
        if (c.isArray()) {
            return describeArray(c, key);
        }
        List<Field> fields = new ArrayList<>();
        for (Class<?> k = c; k != null; k = k.getSuperclass()) {
            Field[] own = Internals.fieldsOf(k);
            List<Field> instance = new ArrayList<>();
            for (Field f : own) {
                if (!Modifier.isStatic(f.getModifiers())) {
                    instance.add(f);
                }
            }
            instance.sort(Comparator.comparingLong(Internals::offsetOf));
            fields.addAll(0, instance);
        }
        int bytes = layoutHelper & ~7;
        List<Field> references = new ArrayList<>();
        List<TypeDescriptor.FieldDescriptor> descriptors = new ArrayList<>();
        for (Field f : fields) {
            int offset = (int) Internals.offsetOf(f);
            descriptors.add(new TypeDescriptor.FieldDescriptor(
                    f.getDeclaringClass().getName(), f.getName(), f.getType().getName(), offset));
            if (!f.getType().isPrimitive()) {
                references.add(f);
            }
        }
        references.sort(Comparator.comparingLong(Internals::offsetOf));
        int[] offsets =
                references.stream().mapToInt(f -> (int) Internals.offsetOf(f)).toArray();
        int[] vmOffsets = Native.oopMap(klass);
        if (vmOffsets != null) {
            Arrays.sort(vmOffsets);
        }
        if (layoutHelper <= 0 || !Arrays.equals(offsets, vmOffsets)) {
            return notCopied(c, key, cut ? CUT : REFUSED, cut ? null : "the VM keeps fields of its own in it");
        }
        Field backtrace = c == Throwable.class || Throwable.class.isAssignableFrom(c)
                ? throwableField(fields, "backtrace")
                : null;
        references.remove(backtrace);
        List<Field> leftBehind = fields.stream().filter(rules::isCut).toList();
        List<Field> sent =
                references.stream().filter(f -> !leftBehind.contains(f)).toList();
        String superName = c.getSuperclass() == null ? "" : c.getSuperclass().getName();
        Type t = new Type(
                c,
                withFingerprint(new TypeDescriptor(
                        c.getName(),
                        TypeDescriptor.Kind.INSTANCE,
                        bytes,
                        0,
                        0,
                        List.copyOf(descriptors),
                        superName,
                        null)),
                null,
                false,
                cut ? List.of() : sent);
        // Between a String's declared fields the VM keeps flags of its own (interned, deduplicated).
        int[] own =
                c == String.class ? gaps(fields, bytes) : ranges(backtrace == null ? List.of() : List.of(backtrace));
        t.landing = addInstance(key, bytes, references, own, fields);
        t.plan = t.landing;
        // The plan that was added last is the one by which objects are sent.
        if (cut) {
            t.plan = add(key, CUT, 0, 0, 0, new int[0], new int[0], new int[0], new int[0], 0);
        } else if (!leftBehind.isEmpty()) {
            List<Field> zero = new ArrayList<>(leftBehind);
            if (backtrace != null) {
                zero.add(backtrace);
            }
            int[] cleared = ranges(zero);
            t.plan = addInstance(key, bytes, sent, cleared, fields);
        }
        if (backtrace != null && !cut) {
            Native.setTrace(t.plan, (int) Internals.offsetOf(backtrace), (int)
                    Internals.offsetOf(throwableField(fields, "stackTrace")));
        }
        return t;
    }

    private static Field throwableField(List<Field> fields, String name) {
        return fields.stream()
                .filter(f ->
                        f.getDeclaringClass() == Throwable.class && f.getName().equals(name))
                .findFirst()
                .orElseThrow(() -> new SkywayException(
                        SkywayException.Kind.ENGINE_REFUSED, "this JDK's Throwable has no field " + name));
    }

    private int addInstance(long key, int bytes, List<Field> references, int[] cleared, List<Field> fields) {
        int[] offsets =
                references.stream().mapToInt(f -> (int) Internals.offsetOf(f)).toArray();
        int[] declaredIndices = references.stream()
                .mapToInt(f -> declaredIndex(f.getType())
                        | (Trusted.neverNull(f) ? REQUIRED : 0)
                        | (f.getType().isArray()
                                        && f.getType().getComponentType().isPrimitive()
                                ? LEAF
                                : 0))
                .toArray();
        return add(key, INSTANCE, 0, bytes, 0, offsets, declaredIndices, cleared, Trusted.limits(fields), 0);
    }

    /** Ranges (from, to) of fields, in the order of their places. */
    private static int[] ranges(List<Field> fields) {
        List<Integer> out = new ArrayList<>();
        fields.stream().sorted(Comparator.comparingLong(Internals::offsetOf)).forEach(f -> {
            int at = (int) Internals.offsetOf(f);
            out.addAll(List.of(at, at + width(f.getType())));
        });
        return out.stream().mapToInt(i -> i).toArray();
    }

    private Type notCopied(Class<?> c, long key, int kind, String refusal) {
        Type t = new Type(c, null, refusal, kind == NAMED, List.of());
        t.plan = add(key, kind, 0, 0, 0, new int[0], new int[0], new int[0], new int[0], 0);
        t.landing = t.plan;
        return t;
    }

    private Type describeArray(Class<?> c, long key) {
        int base = Internals.arrayBase(c);
        int scale = Internals.arrayScale(c);
        Class<?> element = c.getComponentType();
        TypeDescriptor.Kind kind =
                element.isPrimitive() ? TypeDescriptor.Kind.PRIMITIVE_ARRAY : TypeDescriptor.Kind.REFERENCE_ARRAY;
        Type t = new Type(
                c,
                withFingerprint(new TypeDescriptor(c.getName(), kind, 0, base, scale, List.of(), "", null)),
                null,
                false,
                List.of());
        int shift = Integer.numberOfTrailingZeros(scale);
        boolean primitive = element.isPrimitive();
        t.plan = add(
                key,
                primitive ? PRIMITIVE_ARRAY : REFERENCE_ARRAY,
                shift,
                0,
                base,
                primitive ? new int[0] : new int[] {base},
                primitive ? new int[0] : new int[] {declaredIndex(element)},
                new int[0],
                new int[0],
                element == boolean.class ? BOOLEANS : 0);
        t.landing = t.plan;
        return t;
    }

    private static int add(
            long key,
            int kind,
            int shift,
            int bytes,
            int base,
            int[] offsets,
            int[] declared,
            int[] cleared,
            int[] limits,
            int traits) {
        int plan = Native.addPlan(key, kind, shift, bytes, base, offsets, declared, cleared, limits, traits);
        if (plan < 0) {
            throw new SkywayException(
                    SkywayException.Kind.INTERNAL, "more than 262,143 classes were sent or received by this process");
        }
        return plan;
    }

    /** Ranges (from, to) behind the header that no field covers. */
    private static int[] gaps(List<Field> fields, int bytes) {
        List<Integer> out = new ArrayList<>();
        List<Field> sorted = new ArrayList<>(fields);
        sorted.sort(Comparator.comparingLong(Internals::offsetOf));
        int at = (int) Internals.offsetOf(sorted.get(0));
        for (Field f : sorted) {
            int offset = (int) Internals.offsetOf(f);
            if (offset > at) {
                out.addAll(List.of(at, offset));
            }
            at = offset + width(f.getType());
        }
        if (at < bytes) {
            out.addAll(List.of(at, bytes));
        }
        return out.stream().mapToInt(i -> i).toArray();
    }

    private static int width(Class<?> type) {
        if (!type.isPrimitive()) {
            return Internals.arrayScale(Object[].class);
        }
        return primitiveWidth(type);
    }

    private static int primitiveWidth(Class<?> primitive) {
        if (primitive == long.class || primitive == double.class) {
            return 8;
        }
        if (primitive == int.class || primitive == float.class) {
            return 4;
        }
        return primitive == short.class || primitive == char.class ? 2 : 1;
    }

    private static TypeDescriptor withFingerprint(TypeDescriptor d) {
        StringBuilder s = new StringBuilder();
        s.append(d.className()).append('|').append(d.kind()).append('|').append(d.instanceBytes());
        s.append('|')
                .append(d.arrayBase())
                .append('|')
                .append(d.arrayScale())
                .append('|')
                .append(d.superName());
        for (TypeDescriptor.FieldDescriptor f : d.fields()) {
            s.append('\n').append(f.declaringClass()).append(' ').append(f.type());
            s.append(' ').append(f.name()).append(' ').append(f.offset());
        }
        return new TypeDescriptor(
                d.className(),
                d.kind(),
                d.instanceBytes(),
                d.arrayBase(),
                d.arrayScale(),
                d.fields(),
                d.superName(),
                sha256(s.toString()));
    }

    static byte[] sha256(String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }
}

package io.skyway.agent.verify;

import java.lang.instrument.Instrumentation;
import java.lang.ref.Reference;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import jdk.internal.misc.Unsafe;

/**
 * Digests an object graph so that two processes can compare theirs: isomorphic graphs give the same digest.
 *
 * <p>Everything is read by plain Java, with nothing of the engine: a fault of the engine cannot hide itself here. What
 * goes in: the name of every object's class and the names and types of its fields, every primitive value, the length and
 * the content of every array, and for every reference the ordinal of its target's first visit, which is the sharing
 * structure, cycles included.
 *
 * <p>What stays out, since it says nothing about the graph: the cached hash of a {@link String}, identity hash codes,
 * and the identity of boxed values that {@code valueOf} caches. Enum constants, {@link Class} objects and the values of
 * {@code static final} fields of platform classes go in by name and are not entered, and so does an object that its own
 * class holds in a static final field. A hash table whose order is each process's own goes in by its entries, a reference
 * object by its referent, a {@code Locale} by its text.
 *
 * <p>The graph must not change while it is digested. Every visited object gets an identity hash code.
 */
public final class GraphDigest {

    /**
     * @param hex SHA-256 of the canonical form
     * @param objects distinct objects that were entered; those that go in by name or as a small boxed value don't count
     * @param references references that are not null
     * @param primitiveBytes bytes of the primitive fields and array elements
     */
    public record Result(String hex, long objects, long references, long primitiveBytes) {}

    private final Map<Class<?>, ClassPlan> plans = new HashMap<>();
    private final PlatformConstants constants;
    private final Predicate<Field> cutField;
    private final Predicate<Class<?>> cutClass;
    private final ObjectTable table = new ObjectTable();
    private final DigestSink sink = new DigestSink();
    private ClassPlan last;
    private long objects;
    private long references;
    private long primitiveBytes;

    private GraphDigest(PlatformConstants constants, Predicate<Field> cutField, Predicate<Class<?>> cutClass) {
        this.constants = constants;
        this.cutField = cutField;
        this.cutClass = cutClass;
    }

    /**
     * Digests the graph that can be reached from a root.
     *
     * @param root may be null
     * @param inst opens the package with the memory access to this class and lists the loaded platform classes
     * @throws IllegalStateException when the graph has more objects than {@link ObjectTable#MAX_OBJECTS}
     */
    public static Result of(Object root, Instrumentation inst) {
        return of(root, inst, f -> false, c -> false);
    }

    /**
     * As {@link #of(Object, Instrumentation)}, of the graph without what is left behind.
     *
     * @param cutField fields that go in as null, or zero
     * @param cutClass classes of objects that go in as null
     */
    public static Result of(
            Object root, Instrumentation inst, Predicate<Field> cutField, Predicate<Class<?>> cutClass) {
        export(inst);
        return new GraphDigest(PlatformConstants.scan(inst), cutField, cutClass).run(root);
    }

    private static void export(Instrumentation inst) {
        Module base = Object.class.getModule();
        Module self = GraphDigest.class.getModule();
        if (!base.isExported("jdk.internal.misc", self)) {
            inst.redefineModule(
                    base, Set.of(), Map.of("jdk.internal.misc", Set.of(self)), Map.of(), Set.of(), Map.of());
        }
    }

    private Result run(Object root) {
        reference(root);
        // Breadth first: the table of visited objects is also the queue, so there is no second structure and no stack.
        for (int next = 0; next < table.size(); next++) {
            object(table.get(next), next == 0);
        }
        return new Result(sink.finish(), objects, references, primitiveBytes);
    }

    private void object(Object o, boolean root) {
        ClassPlan plan = plan(o.getClass());
        // A singleton that is the root was meant to be sent, and is copied.
        if (plan.constants && constants.contains(o) && !(root && ClassPlan.isApplications(plan.type))) {
            sink.putInt(ClassPlan.CONSTANT);
            sink.putName(plan.name);
            return;
        }
        sink.putInt(plan.ordinal);
        switch (plan.kind) {
            case FIELDS -> fields(o, plan);
            case TABLE -> table(o, plan);
            case REFERENCE -> reference(((Reference<?>) o).get());
            case PATTERN -> {
                sink.putName(((Pattern) o).pattern());
                sink.putInt(((Pattern) o).flags());
            }
            case LOCALE -> sink.putName(o.toString());
            case REFERENCES -> elements((Object[]) o);
            case PRIMITIVES -> primitives(o, plan);
            case ENUM -> sink.putName(((Enum<?>) o).name());
            case CLASS -> sink.putName(ClassPlan.stableName((Class<?>) o));
        }
    }

    private void fields(Object o, ClassPlan plan) {
        objects++;
        primitiveBytes += plan.primitiveBytes;
        if (o instanceof Throwable t) {
            t.getStackTrace(); // has it fetched from the VM, where it is not yet
        }
        Unsafe memory = Unsafe.getUnsafe();
        long[] offsets = plan.primitives;
        for (int i = 0; i < offsets.length; i++) {
            switch (plan.sizes[i]) {
                case 1 -> sink.putByte(offsets[i] == ClassPlan.CUT ? 0 : memory.getByte(o, offsets[i]));
                case 2 -> sink.putShort(offsets[i] == ClassPlan.CUT ? 0 : memory.getShort(o, offsets[i]));
                case 4 -> sink.putInt(offsets[i] == ClassPlan.CUT ? 0 : memory.getInt(o, offsets[i]));
                default -> sink.putLong(offsets[i] == ClassPlan.CUT ? 0 : memory.getLong(o, offsets[i]));
            }
        }
        for (long offset : plan.references) {
            reference(offset == ClassPlan.CUT ? null : memory.getReference(o, offset));
        }
    }

    private void table(Object o, ClassPlan plan) {
        List<Object> entries = HashTables.sorted(o);
        if (entries == null) {
            fields(o, plan);
            return;
        }
        fields(o, plan.own);
        sink.putInt(entries.size());
        entries.forEach(this::reference);
    }

    private void elements(Object[] array) {
        objects++;
        sink.putInt(array.length);
        for (Object element : array) {
            reference(element);
        }
    }

    private void primitives(Object array, ClassPlan plan) {
        objects++;
        int length = Array.getLength(array);
        primitiveBytes += (long) length * plan.elementBytes;
        sink.putInt(length);
        sink.putElements(array);
    }

    private void reference(Object target) {
        if (target == null || cutClass.test(target.getClass())) {
            sink.putInt(0);
            return;
        }
        references++;
        int small = SmallBoxed.kind(target);
        if (small != 0) {
            sink.putInt(-small);
            sink.putInt(SmallBoxed.value(target));
        } else {
            sink.putInt(1 + table.ordinal(target));
        }
    }

    private ClassPlan plan(Class<?> type) {
        if (last != null && last.type == type) {
            return last;
        }
        ClassPlan plan = plans.get(type);
        if (plan == null) {
            constants.addSingletons(type);
            plan = ClassPlan.of(type, plans.size(), constants.hasInstancesOf(type), cutField);
            plans.put(type, plan);
            // A new class describes itself where its first object would start; its ordinal then follows.
            sink.putInt(ClassPlan.DESCRIPTION);
            sink.putName(plan.description);
        }
        last = plan;
        return plan;
    }
}

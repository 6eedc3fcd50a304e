package io.skyway.core;

import java.lang.reflect.Field;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/**
 * What the application has said about classes: fields and classes that are cut, which arrive as null, and what is done with
 * objects that have arrived. Thread-safe; transfers that run already may go by the older rules.
 */
public final class FidelityRules {
    /** One hook. Objects of subclasses are its objects too. */
    record Hook(Class<?> type, Consumer<Object> update) {}

    private final Set<Field> cutFields = ConcurrentHashMap.newKeySet();
    private final Set<Class<?>> cutClasses = ConcurrentHashMap.newKeySet();
    private final List<Hook> hooks = new CopyOnWriteArrayList<>();
    private final Consumer<Class<?>> onCut;
    private final Consumer<Class<?>> onHook;

    FidelityRules(Consumer<Class<?>> onCut, Consumer<Class<?>> onHook) {
        this.onCut = onCut;
        this.onHook = onHook;
    }

    /**
     * The field is sent as null, or as zero.
     *
     * @throws SkywayException of kind USAGE when the class declares no such instance field
     */
    public void cut(Class<?> declaring, String field) {
        for (Field f : Internals.fieldsOf(declaring)) {
            if (f.getName().equals(field) && !java.lang.reflect.Modifier.isStatic(f.getModifiers())) {
                cutFields.add(f);
                onCut.accept(declaring);
                return;
            }
        }
        throw new SkywayException(
                SkywayException.Kind.USAGE, declaring.getName() + " declares no instance field " + field);
    }

    /** References to objects of this class and its subclasses are sent as null. */
    public void cut(Class<?> type) {
        cutClasses.add(type);
        onCut.accept(type);
    }

    /** Runs for each object of the class that arrives, when its graph is complete and before anyone can see it. */
    public void onArrival(Class<?> type, Consumer<Object> update) {
        hooks.add(new Hook(type, update));
        onHook.accept(type);
    }

    /** Whether the field is left behind. */
    public boolean isCut(Field f) {
        return !cutFields.isEmpty() && cutFields.contains(f);
    }

    /** Whether objects of this class are left behind. */
    public boolean isCut(Class<?> c) {
        for (Class<?> k : cutClasses) {
            if (k.isAssignableFrom(c)) {
                return true;
            }
        }
        return false;
    }

    boolean hasHooks() {
        return !hooks.isEmpty();
    }

    boolean isHooked(Class<?> c) {
        for (Hook h : hooks) {
            if (h.type.isAssignableFrom(c)) {
                return true;
            }
        }
        return false;
    }

    /** @throws SkywayException of kind BAD_IMAGE when a hook fails */
    void arrived(Object o) {
        for (Hook h : hooks) {
            if (h.type.isInstance(o)) {
                try {
                    h.update.accept(o);
                } catch (RuntimeException | StackOverflowError | LinkageError e) {
                    throw new SkywayException(
                            SkywayException.Kind.BAD_IMAGE,
                            "the arrival hook of " + h.type.getName() + " failed for an object of "
                                    + o.getClass().getName() + ": " + e,
                            e);
                }
            }
        }
    }
}

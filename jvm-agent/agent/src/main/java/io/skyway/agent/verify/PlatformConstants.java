package io.skyway.agent.verify;

import java.lang.instrument.Instrumentation;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Set;
import jdk.internal.misc.Unsafe;

/**
 * The objects that {@code static final} fields of initialised platform classes hold. Each process has its own, so they
 * are compared by their class alone: by field would not do, as the two processes may have loaded other classes that hold
 * the same object.
 */
final class PlatformConstants {
    private final Set<Object> objects = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Set<Class<?>> types = new HashSet<>();

    private PlatformConstants() {}

    static PlatformConstants scan(Instrumentation inst) {
        PlatformConstants constants = new PlatformConstants();
        ClassLoader platform = ClassLoader.getPlatformClassLoader();
        for (Class<?> type : inst.getAllLoadedClasses()) {
            ClassLoader loader = type.getClassLoader();
            if ((loader == null || loader == platform) && !type.isArray() && !type.isPrimitive() && !type.isHidden()) {
                constants.add(type);
            }
        }
        return constants;
    }

    boolean contains(Object o) {
        return objects.contains(o);
    }

    boolean hasInstancesOf(Class<?> type) {
        return types.contains(type);
    }

    private void add(Class<?> type) {
        Unsafe memory = Unsafe.getUnsafe();
        if (memory.shouldBeInitialized(type)) {
            return;
        }
        for (Field field : declaredFields(type)) {
            int modifiers = field.getModifiers();
            if (Modifier.isStatic(modifiers)
                    && Modifier.isFinal(modifiers)
                    && !field.getType().isPrimitive()) {
                Object value = memory.getReference(memory.staticFieldBase(field), memory.staticFieldOffset(field));
                if (value != null && isNamed(value)) {
                    objects.add(value);
                    types.add(value.getClass());
                }
            }
        }
    }

    /** An application's singletons of this class: each process has its own, with whatever is in it. */
    void addSingletons(Class<?> type) {
        ClassLoader loader = type.getClassLoader();
        if (loader == null
                || loader == ClassLoader.getPlatformClassLoader()
                || type.isHidden()
                || type.isEnum()
                || Unsafe.getUnsafe().shouldBeInitialized(type)) {
            return;
        }
        Unsafe memory = Unsafe.getUnsafe();
        for (Field field : declaredFields(type)) {
            int modifiers = field.getModifiers();
            if (Modifier.isStatic(modifiers) && Modifier.isFinal(modifiers) && field.getType() == type) {
                Object value = memory.getReference(memory.staticFieldBase(field), memory.staticFieldOffset(field));
                if (value != null && value.getClass() == type) {
                    objects.add(value);
                    types.add(type);
                }
            }
        }
    }

    private static Field[] declaredFields(Class<?> type) {
        try {
            return type.getDeclaredFields();
        } catch (LinkageError e) {
            // A field's own class is missing: optional parts of the platform do that.
            return new Field[0];
        }
    }

    /** Strings and boxed values are compared by value, enum constants and classes by their own names. */
    private static boolean isNamed(Object value) {
        return !(value instanceof String
                || value instanceof Number && value.getClass().getPackageName().equals("java.lang")
                || value instanceof Boolean
                || value instanceof Character
                || value instanceof Enum<?>
                || value instanceof Class<?>);
    }
}

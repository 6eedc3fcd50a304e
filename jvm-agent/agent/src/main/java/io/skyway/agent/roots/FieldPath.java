package io.skyway.agent.roots;

import io.skyway.agent.start.JdkAccess;
import io.skyway.core.SkywayException;
import io.skyway.core.SkywayException.Kind;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A static field, and instance fields from there on: {@code com.acme.Catalog#INSTANCE.byName}.
 *
 * @param className as {@link Class#getName()}
 * @param fields the static field first; at least one
 */
public record FieldPath(String className, List<String> fields) {
    private static final Pattern FORM = Pattern.compile(
            "[\\p{javaJavaIdentifierPart}.]+#[\\p{javaJavaIdentifierPart}]+" + "(\\.[\\p{javaJavaIdentifierPart}]+)*");

    /** Whether a text is meant as a field path, well-formed or not. */
    public static boolean isPath(String text) {
        return text.indexOf('#') >= 0;
    }

    /** @throws SkywayException of kind USAGE when it is malformed */
    public static FieldPath parse(String text) {
        if (!FORM.matcher(text).matches()) {
            throw new SkywayException(
                    Kind.USAGE, "\"" + text + "\" is no static field path such as com.acme.Catalog#INSTANCE.byName");
        }
        int hash = text.indexOf('#');
        return new FieldPath(
                text.substring(0, hash), List.of(text.substring(hash + 1).split("\\.")));
    }

    /**
     * Follows the path up to its last field.
     *
     * @throws SkywayException of kind ROOT_MISSING when it leads nowhere: says at which step
     */
    public Place resolve(Instrumentation instrumentation) {
        Class<?> holder = classOf(instrumentation);
        Place place = new Place(this, null, field(holder, 0, instrumentation));
        for (int i = 1; i < fields.size(); i++) {
            Object next = place.get();
            if (next == null) {
                throw missing(text(i) + " is null");
            }
            place = new Place(this, next, field(next.getClass(), i, instrumentation));
        }
        return place;
    }

    /** The class as the application has it, whichever of its loaders that is. */
    private Class<?> classOf(Instrumentation instrumentation) {
        try {
            return Class.forName(className, true, ClassLoader.getSystemClassLoader());
        } catch (ClassNotFoundException e) {
            return amongLoaded(instrumentation);
        } catch (LinkageError e) {
            throw missing("class " + className + " cannot be initialised: " + e);
        }
    }

    private Class<?> amongLoaded(Instrumentation instrumentation) {
        List<Class<?>> found = new ArrayList<>();
        for (Class<?> c : instrumentation.getAllLoadedClasses()) {
            if (c.getName().equals(className) && c.getClassLoader() != FieldPath.class.getClassLoader()) {
                found.add(c);
            }
        }
        if (found.isEmpty()) {
            throw missing("no class " + className
                    + " is on the class path or loaded: give the name as Class.getName() has it, nested"
                    + " classes with $");
        }
        if (found.size() > 1) {
            throw missing("class " + className + " is loaded by several class loaders: "
                    + found.stream()
                            .map(c -> String.valueOf(c.getClassLoader()))
                            .collect(Collectors.joining(", ")));
        }
        return found.get(0);
    }

    private Field field(Class<?> start, int index, Instrumentation instrumentation) {
        boolean wantStatic = index == 0;
        for (Class<?> c = start; c != null; c = c.getSuperclass()) {
            for (Field f : c.getDeclaredFields()) {
                if (f.getName().equals(fields.get(index)) && Modifier.isStatic(f.getModifiers()) == wantStatic) {
                    JdkAccess.open(instrumentation, c);
                    f.setAccessible(true);
                    return f;
                }
            }
        }
        throw missing("class " + start.getName() + " has no " + (wantStatic ? "static" : "instance") + " field "
                + fields.get(index));
    }

    private SkywayException missing(String why) {
        return new SkywayException(Kind.ROOT_MISSING, this + " cannot be followed: " + why);
    }

    private String text(int length) {
        return className + "#" + String.join(".", fields.subList(0, length));
    }

    @Override
    public String toString() {
        return text(fields.size());
    }

    /** One field of one object, or of a class. */
    public record Place(FieldPath path, Object holder, Field field) {

        /** The field's value. Primitives come as their boxes. */
        public Object get() {
            try {
                return field.get(holder);
            } catch (IllegalAccessException e) {
                throw new SkywayException(Kind.ROOT_MISSING, path + " cannot be read: " + e.getMessage(), e);
            }
        }

        /** @throws SkywayException of kind USAGE when a graph cannot be stored here */
        public void checkWritable() {
            if (field.getType().isPrimitive()) {
                throw unusable("is of type " + field.getType() + ", which holds no reference");
            }
            if (Modifier.isFinal(field.getModifiers())) {
                throw unusable("is final: the JVM takes its value for constant. Choose a field that is not");
            }
        }

        /** @throws SkywayException of kind USAGE when the root has another type */
        public void set(Object root) {
            if (!field.getType().isInstance(root)) {
                throw unusable("is of type " + field.getType().getName() + ", but the graph's root is of "
                        + root.getClass().getName());
            }
            try {
                field.set(holder, root);
            } catch (IllegalAccessException e) {
                throw new SkywayException(Kind.USAGE, path + " cannot be written: " + e.getMessage(), e);
            }
        }

        private SkywayException unusable(String why) {
            return new SkywayException(Kind.USAGE, path + " is no destination: it " + why);
        }
    }
}

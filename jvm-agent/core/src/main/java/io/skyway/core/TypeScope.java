package io.skyway.core;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What global type ids and names mean for one class loader of this process. */
final class TypeScope {
    private final TypeTable types;
    private final ClassLoader loader;
    private final TypeIds ids;
    private final long handle = Native.newScope();
    private final Map<Integer, TypeTable.Type> byId = new HashMap<>();
    private final Map<String, Object> named = new HashMap<>();

    TypeScope(TypeTable types, ClassLoader loader) {
        this(types, loader, null);
    }

    /** {@code ids} says what ids mean, instead of the process's registry; null for that one. */
    TypeScope(TypeTable types, ClassLoader loader, TypeIds ids) {
        this.types = types;
        this.loader = loader;
        this.ids = ids;
    }

    ClassLoader loader() {
        return loader;
    }

    long handle() {
        return handle;
    }

    /** Only for a scope that one reader had for itself; a shared one lives as long as the process. */
    void free() {
        Native.freeScope(handle);
    }

    synchronized TypeTable.Type type(int id) {
        return byId.get(id);
    }

    /**
     * Finds the classes of these ids, one registry call for all, and initialises them.
     *
     * @throws SkywayException of kind CLASS_MISSING, LAYOUT_MISMATCH, or BAD_IMAGE for a class that is not allowed
     */
    synchronized void bind(int[] wanted, ReaderOptions options) {
        List<TypeDescriptor> descriptors = (ids != null ? ids : types.ids()).lookup(wanted);
        // All of them before the first is loaded: loading runs initialisers.
        descriptors.forEach(d -> allow(d.className(), options));
        for (int i = 0; i < wanted.length; i++) {
            TypeDescriptor theirs = descriptors.get(i);
            TypeTable.Type t = types.type(load(theirs.className()));
            if (t.standIn && StandIns.isReplaced(t.javaClass)) {
                // Only the sender has an object to ask for its replacement.
                t = types.copiedAsItIs(t.javaClass);
            }
            if (!t.copied()) {
                throw new SkywayException(
                        SkywayException.Kind.BAD_IMAGE,
                        "objects of " + theirs.className() + " are not landed: "
                                + (t.refusal == null ? "they have fixed identities" : t.refusal));
            }
            if (!Arrays.equals(t.descriptor.fingerprint(), theirs.fingerprint())) {
                throw new SkywayException(
                        SkywayException.Kind.LAYOUT_MISMATCH,
                        "class " + theirs.className() + " differs on the two sides: " + difference(theirs, t.descriptor)
                                + "; both sides need the same version of the class");
            }
            byId.put(wanted[i], t);
            if (!Native.bindType(handle, wanted[i], t.landing)) {
                throw new SkywayException(
                        SkywayException.Kind.BAD_IMAGE, "type id " + wanted[i] + " is out of the registry's range");
            }
        }
    }

    synchronized Object named(String name, ReaderOptions options) {
        Object o = named.get(name);
        if (o == null) {
            o = NamedObjects.resolve(name, loader, c -> allow(c, options));
            types.type(o.getClass());
            named.put(name, o);
        }
        return o;
    }

    private static void allow(String className, ReaderOptions options) {
        String element = className;
        while (element.startsWith("[")) {
            element = element.substring(1);
        }
        if (element.startsWith("L") && element.endsWith(";")) {
            element = element.substring(1, element.length() - 1);
        }
        boolean primitive = element.length() == 1 && !element.equals(className);
        if (!primitive && options.allowed() != null && !options.allowed().test(element)) {
            throw new SkywayException(
                    SkywayException.Kind.BAD_IMAGE,
                    "class " + element + " is not on the receiver's allow-list; nothing of the image was landed");
        }
    }

    private Class<?> load(String name) {
        try {
            return Class.forName(name, true, loader);
        } catch (ClassNotFoundException | LinkageError e) {
            throw new SkywayException(
                    SkywayException.Kind.CLASS_MISSING,
                    "class " + name + " cannot be loaded by the receiver (" + e + "); put it on its class path",
                    e);
        }
    }

    private static String difference(TypeDescriptor theirs, TypeDescriptor ours) {
        Map<String, TypeDescriptor.FieldDescriptor> mine = new HashMap<>();
        for (TypeDescriptor.FieldDescriptor f : ours.fields()) {
            mine.put(f.declaringClass() + "." + f.name(), f);
        }
        String moved = null;
        for (TypeDescriptor.FieldDescriptor f : theirs.fields()) {
            String name = f.declaringClass() + "." + f.name();
            TypeDescriptor.FieldDescriptor m = mine.remove(name);
            if (m == null) {
                return "the receiver has no field " + name;
            }
            if (!m.type().equals(f.type())) {
                return "field " + name + " is a " + f.type() + " there, a " + m.type() + " here";
            }
            if (m.offset() != f.offset() && moved == null) {
                moved = "field " + name + " lies at " + f.offset() + " there, at " + m.offset() + " here";
            }
        }
        if (!mine.isEmpty()) {
            return "the sender has no field " + mine.keySet().iterator().next();
        }
        // One field more moves others: only the last word when there is a better one.
        if (moved != null) {
            return moved;
        }
        if (!theirs.superName().equals(ours.superName())) {
            return "its superclass is " + theirs.superName() + " there, " + ours.superName() + " here";
        }
        return "instances have " + theirs.instanceBytes() + " bytes there, " + ours.instanceBytes() + " here";
    }
}

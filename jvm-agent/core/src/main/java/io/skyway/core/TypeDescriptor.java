package io.skyway.core;

import java.util.List;

/**
 * One class as it lies in a VM; the Java twin of {@code TypeDescriptor} in agent.proto.
 *
 * @param className as {@link Class#getName()}
 * @param kind what an instance looks like
 * @param instanceBytes size of an instance; 0 for arrays
 * @param arrayBase offset of element 0; 0 for instances
 * @param arrayScale bytes of an element; 0 for instances
 * @param fields instance fields, superclasses first, by offset within a class
 * @param superName the superclass's name; empty for arrays and {@code Object}
 * @param fingerprint SHA-256 over all of the above
 */
public record TypeDescriptor(
        String className,
        Kind kind,
        int instanceBytes,
        int arrayBase,
        int arrayScale,
        List<FieldDescriptor> fields,
        String superName,
        byte[] fingerprint) {

    /** Shapes of objects. */
    public enum Kind {
        INSTANCE,
        PRIMITIVE_ARRAY,
        REFERENCE_ARRAY
    }

    /** One instance field: {@code type} as {@link Class#getName()}, {@code offset} in bytes from the object's start. */
    public record FieldDescriptor(String declaringClass, String name, String type, int offset) {}
}

package io.skyway.bench.classfile;

import java.io.Serializable;
import java.util.List;

/**
 * What a class file says, as far as a catalog wants to know.
 *
 * @param name internal name, {@code java/lang/Object}
 * @param version the file's major version
 * @param modifiers access flags
 * @param superclassName null for {@code java/lang/Object} and module descriptors
 * @param constants the constant pool in its order without names ({@code Utf8}, {@code NameAndType}): boxed numbers,
 *     strings and {@link Symbol}s
 * @param attributes names
 */
public record ClassFile(
        String name,
        int version,
        int modifiers,
        String superclassName,
        List<String> interfaceNames,
        List<Member> fields,
        List<Member> methods,
        List<Serializable> constants,
        List<String> attributes) {

    /**
     * A field or a method.
     *
     * @param modifiers access flags
     * @param constantValue of a field that is a compile-time constant; else null
     * @param maxStack slots, 0 without code
     * @param maxLocals slots, 0 without code
     * @param codeLength bytes, 0 without code
     * @param exceptions internal names of declared exceptions
     * @param attributes names
     */
    public record Member(
            String name,
            String descriptor,
            int modifiers,
            Serializable constantValue,
            int maxStack,
            int maxLocals,
            int codeLength,
            List<String> exceptions,
            List<String> attributes) {}

    /**
     * A constant that names something.
     *
     * @param tag the constant's tag in the file
     * @param owner the class, module or package that is named, or whose member is; else null
     * @param name of a member or a call site; else null
     * @param descriptor of a member, a call site or a method type; else null
     */
    public record Symbol(int tag, String owner, String name, String descriptor) implements Serializable {}
}

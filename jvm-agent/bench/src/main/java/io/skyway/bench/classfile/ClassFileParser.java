package io.skyway.bench.classfile;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** Parses class files of all versions. Not thread-safe when the function of strings isn't. */
public final class ClassFileParser {
    private static final int MAGIC = 0xCAFEBABE;

    private final UnaryOperator<String> strings;

    /** @param strings is given every string that gets into a result, and answers one that is equal */
    public ClassFileParser(UnaryOperator<String> strings) {
        this.strings = strings;
    }

    /**
     * Parses a class file.
     *
     * @throws ClassFileException when the bytes are no class file, or a broken one
     */
    public ClassFile parse(byte[] bytes) throws ClassFileException {
        ByteReader in = new ByteReader(bytes);
        if (in.i4() != MAGIC) {
            throw new ClassFileException("not a class file: it does not start with CAFEBABE");
        }
        in.skip(Short.BYTES);
        int version = in.u2();
        ConstantPool pool = new ConstantPool(in, strings);
        int modifiers = in.u2();
        String name = pool.className(in.u2());
        String superclassName = pool.className(in.u2());
        List<String> interfaceNames = classNames(in, pool);
        List<ClassFile.Member> fields = members(in, pool);
        List<ClassFile.Member> methods = members(in, pool);
        List<String> attributes = new ArrayList<>();
        for (int left = in.u2(); left > 0; left--) {
            attributes.add(pool.text(in.u2()));
            in.skip(in.i4());
        }
        return new ClassFile(
                name,
                version,
                modifiers,
                superclassName,
                interfaceNames,
                fields,
                methods,
                pool.constants(),
                attributes);
    }

    private static List<String> classNames(ByteReader in, ConstantPool pool) throws ClassFileException {
        int count = in.u2();
        List<String> names = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            names.add(pool.className(in.u2()));
        }
        return names;
    }

    private static List<ClassFile.Member> members(ByteReader in, ConstantPool pool) throws ClassFileException {
        int count = in.u2();
        List<ClassFile.Member> members = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            members.add(member(in, pool));
        }
        return members;
    }

    private static ClassFile.Member member(ByteReader in, ConstantPool pool) throws ClassFileException {
        int modifiers = in.u2();
        String name = pool.text(in.u2());
        String descriptor = pool.text(in.u2());
        int count = in.u2();
        List<String> attributes = new ArrayList<>(count);
        List<String> exceptions = List.of();
        Serializable constantValue = null;
        int maxStack = 0;
        int maxLocals = 0;
        int codeLength = 0;
        for (int i = 0; i < count; i++) {
            String attribute = pool.text(in.u2());
            attributes.add(attribute);
            int length = in.i4();
            int start = in.position();
            switch (attribute) {
                case "ConstantValue" -> constantValue = pool.constant(in.u2());
                case "Exceptions" -> exceptions = classNames(in, pool);
                case "Code" -> {
                    maxStack = in.u2();
                    maxLocals = in.u2();
                    codeLength = in.i4();
                }
                default -> {
                    // Its name is all that a catalog holds.
                }
            }
            in.skip(length - (in.position() - start));
        }
        return new ClassFile.Member(
                name, descriptor, modifiers, constantValue, maxStack, maxLocals, codeLength, exceptions, attributes);
    }
}

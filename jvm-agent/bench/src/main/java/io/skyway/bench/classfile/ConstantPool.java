package io.skyway.bench.classfile;

import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** The constant pool of one class file. Entries are read when they are asked for. */
final class ConstantPool {
    private static final int UTF8 = 1;
    private static final int INTEGER = 3;
    private static final int FLOAT = 4;
    private static final int LONG = 5;
    private static final int DOUBLE = 6;
    private static final int CLASS = 7;
    private static final int STRING = 8;
    private static final int FIELD = 9;
    private static final int METHOD = 10;
    private static final int INTERFACE_METHOD = 11;
    private static final int NAME_AND_TYPE = 12;
    private static final int METHOD_HANDLE = 15;
    private static final int METHOD_TYPE = 16;
    private static final int DYNAMIC = 17;
    private static final int INVOKE_DYNAMIC = 18;
    private static final int MODULE = 19;
    private static final int PACKAGE = 20;

    private final byte[] bytes;
    private final UnaryOperator<String> strings;
    private final byte[] tags;
    /** A number of the entry: the value's offset, or the two indices it consists of. */
    private final long[] values;

    private final String[] texts;

    /** Reads all entries; the reader then stands behind the pool. */
    ConstantPool(ByteReader in, UnaryOperator<String> strings) throws ClassFileException {
        this.bytes = in.bytes;
        this.strings = strings;
        int count = in.u2();
        tags = new byte[count];
        values = new long[count];
        texts = new String[count];
        for (int i = 1; i < count; i++) {
            int tag = in.u1();
            tags[i] = (byte) tag;
            switch (tag) {
                case UTF8 -> {
                    values[i] = in.position();
                    in.skip(in.u2());
                }
                case INTEGER, FLOAT -> values[i] = in.i4();
                case LONG, DOUBLE -> values[i++] = in.i8();
                case CLASS, STRING, METHOD_TYPE, MODULE, PACKAGE -> values[i] = in.u2();
                case FIELD, METHOD, INTERFACE_METHOD, NAME_AND_TYPE, DYNAMIC, INVOKE_DYNAMIC ->
                    values[i] = (long) in.u2() << 16 | in.u2();
                case METHOD_HANDLE -> values[i] = (long) in.u1() << 16 | in.u2();
                default ->
                    throw new ClassFileException("constant " + i + " of the class file has the unknown tag " + tag);
            }
        }
    }

    /** The text of a {@code Utf8} entry. */
    String text(int index) throws ClassFileException {
        check(index, UTF8);
        String text = texts[index];
        if (text == null) {
            int at = (int) values[index];
            int length = (bytes[at] & 0xff) << 8 | bytes[at + 1] & 0xff;
            text = strings.apply(decode(at + 2, length));
            texts[index] = text;
        }
        return text;
    }

    /** The name of a {@code Class} entry; null for index 0. */
    String className(int index) throws ClassFileException {
        if (index == 0) {
            return null;
        }
        check(index, CLASS);
        return text((int) values[index]);
    }

    /** All entries but the names. */
    List<Serializable> constants() throws ClassFileException {
        List<Serializable> constants = new ArrayList<>(tags.length);
        for (int i = 1; i < tags.length; i++) {
            // The second index of a long or a double has no tag.
            if (tags[i] != 0 && tags[i] != UTF8 && tags[i] != NAME_AND_TYPE) {
                constants.add(constant(i));
            }
        }
        return constants;
    }

    /** A boxed number, a string or a {@link ClassFile.Symbol}. */
    Serializable constant(int index) throws ClassFileException {
        int tag = tag(index);
        long value = values[index];
        return switch (tag) {
            case INTEGER -> (int) value;
            case FLOAT -> Float.intBitsToFloat((int) value);
            case LONG -> value;
            case DOUBLE -> Double.longBitsToDouble(value);
            case STRING -> text((int) value);
            case CLASS, MODULE, PACKAGE -> new ClassFile.Symbol(tag, text((int) value), null, null);
            case METHOD_TYPE -> new ClassFile.Symbol(tag, null, null, text((int) value));
            case FIELD, METHOD, INTERFACE_METHOD -> member(tag, className(high(value)), low(value));
            case DYNAMIC, INVOKE_DYNAMIC -> member(tag, null, low(value));
            case METHOD_HANDLE -> methodHandle(low(value));
            default -> throw new ClassFileException("constant " + index + " of the class file has no value");
        };
    }

    private ClassFile.Symbol methodHandle(int member) throws ClassFileException {
        int tag = tag(member);
        if (tag != FIELD && tag != METHOD && tag != INTERFACE_METHOD) {
            throw new ClassFileException("constant " + member + " of the class file is no member");
        }
        return member(METHOD_HANDLE, className(high(values[member])), low(values[member]));
    }

    private ClassFile.Symbol member(int tag, String owner, int nameAndType) throws ClassFileException {
        check(nameAndType, NAME_AND_TYPE);
        long value = values[nameAndType];
        return new ClassFile.Symbol(tag, owner, text(high(value)), text(low(value)));
    }

    private int tag(int index) throws ClassFileException {
        if (index <= 0 || index >= tags.length) {
            throw new ClassFileException("the class file has no constant " + index);
        }
        return tags[index];
    }

    private void check(int index, int tag) throws ClassFileException {
        if (tag(index) != tag) {
            throw new ClassFileException(
                    "constant " + index + " of the class file has the tag " + tags[index] + ", not " + tag);
        }
    }

    private static int high(long value) {
        return (int) (value >>> 16) & 0xffff;
    }

    private static int low(long value) {
        return (int) value & 0xffff;
    }

    private String decode(int from, int length) throws ClassFileException {
        for (int i = from; i < from + length; i++) {
            if (bytes[i] <= 0) {
                return decodeModified(from, length);
            }
        }
        return new String(bytes, from, length, StandardCharsets.ISO_8859_1);
    }

    /** Modified UTF-8: a zero character takes two bytes, surrogates are three bytes each. */
    private String decodeModified(int from, int length) throws ClassFileException {
        char[] chars = new char[length];
        int count = 0;
        int end = from + length;
        for (int i = from; i < end; ) {
            int first = bytes[i] & 0xff;
            int size = first < 0x80 ? 1 : first < 0xe0 ? 2 : 3;
            if (size > end - i) {
                throw new ClassFileException("a text of the class file ends within a character at offset " + i);
            }
            chars[count++] = switch (size) {
                case 1 -> (char) first;
                case 2 -> (char) ((first & 0x1f) << 6 | bytes[i + 1] & 0x3f);
                default -> (char) ((first & 0x0f) << 12 | (bytes[i + 1] & 0x3f) << 6 | bytes[i + 2] & 0x3f);
            };
            i += size;
        }
        return new String(chars, 0, count);
    }
}

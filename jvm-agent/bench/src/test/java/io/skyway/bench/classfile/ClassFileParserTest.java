package io.skyway.bench.classfile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class ClassFileParserTest {
    /** What the parser is shown. */
    abstract static class Sample implements Callable<String>, Runnable {
        static final int NUMBER = -123_456;
        static final long LONG = 1L << 40;
        static final float FLOAT = 1.5f;
        static final double DOUBLE = -0.0;
        static final String TEXT = "zero \0, Grüße, 語, 😀, lone \ud800";
        static final int[] NOT_CONSTANT = {1};

        @Deprecated
        protected abstract void nothing() throws IOException, InterruptedException;

        Supplier<String> lambda(String text) {
            return text::trim;
        }
    }

    private final ClassFileParser parser = new ClassFileParser(UnaryOperator.identity());

    private static byte[] bytes() {
        String name = Sample.class.getName();
        try (InputStream in = Sample.class.getResourceAsStream(name.substring(name.lastIndexOf('.') + 1) + ".class")) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ClassFile.Member member(List<ClassFile.Member> members, String name) {
        return members.stream()
                .filter(member -> member.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void readsNamesAndModifiers() throws IOException {
        ClassFile file = parser.parse(bytes());
        assertEquals(Sample.class.getName().replace('.', '/'), file.name());
        assertEquals("java/lang/Object", file.superclassName());
        assertEquals(List.of("java/util/concurrent/Callable", "java/lang/Runnable"), file.interfaceNames());
        assertEquals(61, file.version());
        assertEquals(0x0400, file.modifiers() & 0x0400);
        assertTrue(file.attributes().contains("SourceFile"));
    }

    @Test
    void readsConstants() throws IOException {
        List<ClassFile.Member> fields = parser.parse(bytes()).fields();
        assertEquals(Sample.NUMBER, member(fields, "NUMBER").constantValue());
        assertEquals(Sample.LONG, member(fields, "LONG").constantValue());
        assertEquals(Sample.FLOAT, member(fields, "FLOAT").constantValue());
        assertEquals(Sample.DOUBLE, member(fields, "DOUBLE").constantValue());
        assertEquals(Sample.TEXT, member(fields, "TEXT").constantValue());
        assertEquals(null, member(fields, "NOT_CONSTANT").constantValue());
        assertEquals("[I", member(fields, "NOT_CONSTANT").descriptor());
    }

    @Test
    void readsMethods() throws IOException {
        ClassFile file = parser.parse(bytes());
        ClassFile.Member nothing = member(file.methods(), "nothing");
        assertEquals("()V", nothing.descriptor());
        assertEquals(0, nothing.codeLength());
        assertEquals(List.of("java/io/IOException", "java/lang/InterruptedException"), nothing.exceptions());
        assertTrue(nothing.attributes().containsAll(List.of("Exceptions", "Deprecated")));
        ClassFile.Member lambda = member(file.methods(), "lambda");
        assertTrue(lambda.codeLength() > 0);
        assertEquals(2, lambda.maxLocals());
        assertTrue(lambda.maxStack() > 0);
    }

    @Test
    void readsSymbols() throws IOException {
        List<?> constants = parser.parse(bytes()).constants();
        assertTrue(constants.contains(new ClassFile.Symbol(10, "java/lang/Object", "<init>", "()V")));
        assertTrue(constants.contains(new ClassFile.Symbol(7, "java/lang/Object", null, null)));
        assertTrue(constants.contains(new ClassFile.Symbol(15, "java/lang/String", "trim", "()Ljava/lang/String;")));
        assertTrue(constants.contains(new ClassFile.Symbol(16, null, null, "()Ljava/lang/String;")));
        assertTrue(constants.contains(
                new ClassFile.Symbol(18, null, "get", "(Ljava/lang/String;)Ljava/util/function/Supplier;")));
    }

    @Test
    void anEarlyEndIsSaid() {
        byte[] bytes = bytes();
        for (int length = 0; length < bytes.length; length++) {
            byte[] part = Arrays.copyOf(bytes, length);
            ClassFileException e = assertThrows(ClassFileException.class, () -> parser.parse(part));
            assertTrue(e.getMessage().contains("ends within"), e.getMessage());
        }
    }

    @Test
    void brokenBytesAreAResultOrAnErrorOfOurOwn() {
        byte[] bytes = bytes();
        int refused = 0;
        for (int i = 0; i < bytes.length; i++) {
            byte[] broken = bytes.clone();
            broken[i] ^= (byte) 0x81;
            try {
                assertNotNull(parser.parse(broken));
            } catch (ClassFileException e) {
                assertNotNull(e.getMessage());
                refused++;
            }
        }
        assertTrue(refused > 0);
    }

    @Test
    void otherBytesAreNoClassFile() {
        ClassFileException e = assertThrows(ClassFileException.class, () -> parser.parse(new byte[100]));
        assertEquals("not a class file: it does not start with CAFEBABE", e.getMessage());
    }
}

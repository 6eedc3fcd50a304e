package io.skyway.api;

import io.skyway.api.internal.Streams;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InvalidClassException;
import java.io.InvalidObjectException;
import java.io.NotActiveException;
import java.io.ObjectInputFilter;
import java.io.ObjectInputStream;
import java.io.ObjectInputValidation;
import java.io.StreamCorruptedException;
import java.util.Objects;
import java.util.function.Predicate;

/**
 * Reads what a {@link SkywayObjectOutputStream} has written, in this JVM or in another one with the same object layout.
 *
 * <p>A root is handed out when all of it has arrived and was checked; of one that fails, nothing can be seen. A stream that
 * has failed cannot be read on. Of primitive data and objects, each is read where it was written: reading primitive data
 * where an object comes next is an {@link EOFException}, as in Java's own object streams; reading an object where primitive
 * data come next is a {@link StreamCorruptedException} that leaves the stream as it is.
 *
 * <p>{@link ObjectInputFilter}s have no say in what is read; the allow-list does. Memory outside of the heap goes back
 * when the stream is closed, or some time after nobody has it any more. Not thread-safe.
 */
public final class SkywayObjectInputStream extends ObjectInputStream {
    private final Streams.Source source;
    private final DataInputStream data;

    /**
     * Finds classes by the context class loader of this thread. Nothing is read yet.
     *
     * @throws IllegalStateException without an agent in this JVM, or when its engine does not run here
     */
    public SkywayObjectInputStream(InputStream in) throws IOException {
        this(in, null, null);
    }

    /**
     * Nothing is read yet.
     *
     * @param loader finds classes; null for the context class loader of this thread
     * @throws IllegalStateException without an agent in this JVM, or when its engine does not run here
     */
    public SkywayObjectInputStream(InputStream in, ClassLoader loader) throws IOException {
        this(in, loader, null);
    }

    /**
     * Nothing is read yet. For a stream of unsure origin: classes are asked about before any of them is loaded.
     *
     * @param loader finds classes; null for the context class loader of this thread
     * @param allowed says of a class's name, as {@link Class#getName} has it (of an array's element class for arrays),
     *     whether its objects may arrive; null allows all
     * @throws IllegalStateException without an agent in this JVM, or when its engine does not run here
     */
    public SkywayObjectInputStream(InputStream in, ClassLoader loader, Predicate<String> allowed) throws IOException {
        Objects.requireNonNull(in, "in");
        source = Streams.engine().source(in, loader, allowed);
        data = new DataInputStream(source.data());
    }

    /**
     * @throws EOFException at the end of the stream
     * @throws ClassNotFoundException if this JVM lacks a class of the graph
     * @throws InvalidClassException if a class is another one here, or is not allowed
     * @throws StreamCorruptedException if the stream was cut or altered, comes from a JVM with another object layout, or
     *     has failed before
     * @throws IOException if this heap cannot hold the graph, or the underlying stream fails
     */
    @Override
    protected Object readObjectOverride() throws IOException, ClassNotFoundException {
        return source.object(true);
    }

    /**
     * Reads an object to which no later root may refer.
     *
     * @throws InvalidObjectException if it is one that was read before
     * @throws EOFException at the end of the stream
     * @throws ClassNotFoundException if this JVM lacks a class of the graph
     * @throws IOException as {@link #readObject}
     */
    @Override
    public Object readUnshared() throws IOException, ClassNotFoundException {
        return source.object(false);
    }

    /** @throws NotActiveException always: no {@code readObject} of a class runs */
    @Override
    public void defaultReadObject() throws IOException {
        throw notActive();
    }

    /** @throws NotActiveException always: no {@code readObject} of a class runs */
    @Override
    public GetField readFields() throws IOException {
        throw notActive();
    }

    /** @throws NotActiveException always: no {@code readObject} of a class runs */
    @Override
    public void registerValidation(ObjectInputValidation obj, int prio) throws NotActiveException {
        throw notActive();
    }

    private static NotActiveException notActive() {
        return new NotActiveException("a Skyway stream copies objects as they are; no readObject of a class runs");
    }

    /** Bytes of primitive data that can be read at once. */
    @Override
    public int available() throws IOException {
        return data.available();
    }

    /** Closes the underlying stream. */
    @Override
    public void close() throws IOException {
        source.close();
    }

    @Override
    public int read() throws IOException {
        return data.read();
    }

    @Override
    public int read(byte[] buf, int off, int len) throws IOException {
        return data.read(buf, off, len);
    }

    @Override
    public void readFully(byte[] buf) throws IOException {
        data.readFully(buf);
    }

    @Override
    public void readFully(byte[] buf, int off, int len) throws IOException {
        data.readFully(buf, off, len);
    }

    @Override
    public int skipBytes(int len) throws IOException {
        return data.skipBytes(len);
    }

    @Override
    public long skip(long n) throws IOException {
        return data.skip(n);
    }

    @Override
    public boolean readBoolean() throws IOException {
        return data.readBoolean();
    }

    @Override
    public byte readByte() throws IOException {
        return data.readByte();
    }

    @Override
    public int readUnsignedByte() throws IOException {
        return data.readUnsignedByte();
    }

    @Override
    public char readChar() throws IOException {
        return data.readChar();
    }

    @Override
    public short readShort() throws IOException {
        return data.readShort();
    }

    @Override
    public int readUnsignedShort() throws IOException {
        return data.readUnsignedShort();
    }

    @Override
    public int readInt() throws IOException {
        return data.readInt();
    }

    @Override
    public long readLong() throws IOException {
        return data.readLong();
    }

    @Override
    public float readFloat() throws IOException {
        return data.readFloat();
    }

    @Override
    public double readDouble() throws IOException {
        return data.readDouble();
    }

    @Override
    @Deprecated
    @SuppressWarnings("deprecation")
    public String readLine() throws IOException {
        return data.readLine();
    }

    @Override
    public String readUTF() throws IOException {
        return data.readUTF();
    }
}

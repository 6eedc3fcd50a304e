package io.skyway.api;

import io.skyway.api.internal.Streams;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.NotActiveException;
import java.io.NotSerializableException;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.util.Objects;

/**
 * An object stream whose graphs travel as heap images, over any {@link OutputStream}: a socket, a file. A {@link
 * SkywayObjectInputStream} reads it, in any JVM with the same object layout.
 *
 * <p>Classes need not be {@link java.io.Serializable}. No {@code writeObject} or {@code writeExternal} of theirs runs, and
 * transient fields travel; docs/fidelity.md has what becomes of a graph.
 *
 * <p>As in Java's own object streams:
 *
 * <ul>
 *   <li>Objects that were written before, as a root or anywhere inside of one, are not written again: later roots refer to
 *       them. What changes in them after the first time is not sent.
 *   <li>The stream keeps everything that it has written alive until {@link #reset}, {@link #shuffleStart} or {@link
 *       #close}.
 *   <li>Primitive data and objects are read in the order in which they were written.
 * </ul>
 *
 * <p>A root's image is complete in memory outside of the heap before its first byte goes to the underlying stream, so a
 * graph that is refused leaves nothing in it, and the stream can go on. After an exception of the underlying stream it
 * cannot.
 *
 * <p>Memory outside of the heap goes back when the stream is closed, or some time after nobody has it any
 * more. Not thread-safe.
 */
public final class SkywayObjectOutputStream extends ObjectOutputStream {
    private final Streams.Sink sink;
    private final DataOutputStream data;

    /**
     * Writes the stream's header.
     *
     * @throws IllegalStateException without an agent in this JVM, or when its engine does not run here
     * @throws IOException if the underlying stream fails
     */
    public SkywayObjectOutputStream(OutputStream out) throws IOException {
        Objects.requireNonNull(out, "out");
        sink = Streams.engine().sink(out);
        data = new DataOutputStream(sink.data());
    }

    /**
     * Starts a new phase: objects that were written before will be written again, as they are then. The same as {@link
     * #reset}.
     *
     * @throws IOException if the underlying stream fails
     */
    public void shuffleStart() throws IOException {
        reset();
    }

    /**
     * Forgets what was written, on both sides.
     *
     * @throws IOException if the underlying stream fails
     */
    @Override
    public void reset() throws IOException {
        sink.reset();
    }

    /**
     * @throws NotSerializableException if objects of the graph are bound to this process; the message has their paths
     * @throws IOException if the image cannot be written, or the underlying stream fails
     */
    @Override
    protected void writeObjectOverride(Object obj) throws IOException {
        sink.object(obj, true);
    }

    /**
     * Writes the object anew, even if it was written before, and no later root will refer to this copy. What it refers to
     * is shared as ever.
     *
     * @throws NotSerializableException if objects of the graph are bound to this process; the message has their paths
     * @throws IOException if the image cannot be written, or the underlying stream fails
     */
    @Override
    public void writeUnshared(Object obj) throws IOException {
        sink.object(obj, false);
    }

    /** Hands everything that was written to the underlying stream, and flushes that. */
    @Override
    public void flush() throws IOException {
        sink.flush();
    }

    /** Hands everything that was written to the underlying stream. */
    @Override
    protected void drain() throws IOException {
        sink.flush();
    }

    /** Flushes, and closes the underlying stream. */
    @Override
    public void close() throws IOException {
        sink.close();
    }

    /** @throws NotActiveException always: no {@code writeObject} of a class runs */
    @Override
    public void defaultWriteObject() throws IOException {
        throw notActive();
    }

    /** @throws NotActiveException always: no {@code writeObject} of a class runs */
    @Override
    public PutField putFields() throws IOException {
        throw notActive();
    }

    /** @throws NotActiveException always: no {@code writeObject} of a class runs */
    @Override
    public void writeFields() throws IOException {
        throw notActive();
    }

    private static NotActiveException notActive() {
        return new NotActiveException("a Skyway stream copies objects as they are; no writeObject of a class runs");
    }

    /** @throws UnsupportedOperationException always: the stream's format has one version */
    @Override
    public void useProtocolVersion(int version) {
        throw new UnsupportedOperationException("a Skyway stream has no protocol versions");
    }

    @Override
    public void write(int b) throws IOException {
        data.write(b);
    }

    @Override
    public void write(byte[] b) throws IOException {
        data.write(b, 0, b.length);
    }

    @Override
    public void write(byte[] b, int off, int len) throws IOException {
        data.write(b, off, len);
    }

    @Override
    public void writeBoolean(boolean v) throws IOException {
        data.writeBoolean(v);
    }

    @Override
    public void writeByte(int v) throws IOException {
        data.writeByte(v);
    }

    @Override
    public void writeShort(int v) throws IOException {
        data.writeShort(v);
    }

    @Override
    public void writeChar(int v) throws IOException {
        data.writeChar(v);
    }

    @Override
    public void writeInt(int v) throws IOException {
        data.writeInt(v);
    }

    @Override
    public void writeLong(long v) throws IOException {
        data.writeLong(v);
    }

    @Override
    public void writeFloat(float v) throws IOException {
        data.writeFloat(v);
    }

    @Override
    public void writeDouble(double v) throws IOException {
        data.writeDouble(v);
    }

    @Override
    public void writeBytes(String s) throws IOException {
        data.writeBytes(s);
    }

    @Override
    public void writeChars(String s) throws IOException {
        data.writeChars(s);
    }

    @Override
    public void writeUTF(String s) throws IOException {
        data.writeUTF(s);
    }
}

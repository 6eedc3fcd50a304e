package io.skyway.api;

import java.io.InputStream;
import java.io.OutputStream;

/**
 * A serializer to compare with. The agent finds implementations on the application's class path with
 * {@link java.util.ServiceLoader} and streams their bytes over the same kind of link as its own.
 *
 * <p>One instance may be used for many graphs, by one thread at a time.
 */
public interface Serializer {
    /** A short lower-case name, as used on the command line, e.g. {@code kryo}. */
    String name();

    /**
     * Writes one graph. The stream is buffered; it need not be flushed or closed.
     *
     * @throws Exception if the graph cannot be written; shown to the user as the serializer's own error
     */
    void write(Object graph, OutputStream out) throws Exception;

    /**
     * Reads the graph that {@link #write} wrote.
     *
     * @param in delivers what {@code write} wrote, then end of stream
     * @throws Exception if the bytes cannot be read; shown to the user as the serializer's own error
     */
    Object read(InputStream in) throws Exception;
}

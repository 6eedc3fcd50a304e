package io.skyway.core;

import io.skyway.api.internal.Streams;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.function.Predicate;

/** The engine behind the api's object streams. */
public final class ObjectStreams implements Streams.Engine {
    private final Engine engine;

    public ObjectStreams(Engine engine) {
        this.engine = engine;
    }

    @Override
    public Streams.Sink sink(OutputStream out) throws IOException {
        try {
            return new ObjectSink(engine, out);
        } catch (SkywayException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    @Override
    public Streams.Source source(InputStream in, ClassLoader loader, Predicate<String> allowed) throws IOException {
        try {
            return new ObjectSource(engine, in, loader, allowed);
        } catch (SkywayException e) {
            throw new IOException(e.getMessage(), e);
        }
    }
}

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
        return new ObjectSink(engine, out);
    }

    @Override
    public Streams.Source source(InputStream in, ClassLoader loader, Predicate<String> allowed) {
        return new ObjectSource(engine, in, loader, allowed);
    }
}

package io.skyway.agent.link;

import io.skyway.api.Serializer;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.OutputStream;

/** Java's own serialization. */
final class JavaSerializer implements Serializer {
    static final String NAME = "java";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public void write(Object graph, OutputStream out) throws IOException {
        ObjectOutputStream stream = new ObjectOutputStream(out);
        stream.writeObject(graph);
        stream.flush();
    }

    @Override
    public Object read(InputStream in) throws IOException, ClassNotFoundException {
        return new ApplicationStream(in).readObject();
    }

    /** Finds classes as the application does; the default would look in the agent's own loader. */
    private static final class ApplicationStream extends ObjectInputStream {
        private final ClassLoader loader = Thread.currentThread().getContextClassLoader();

        ApplicationStream(InputStream in) throws IOException {
            super(in);
        }

        @Override
        protected Class<?> resolveClass(ObjectStreamClass description) throws IOException, ClassNotFoundException {
            try {
                return Class.forName(description.getName(), false, loader);
            } catch (ClassNotFoundException e) {
                // Primitive types have no name that forName takes.
                return super.resolveClass(description);
            }
        }

        @Override
        protected Class<?> resolveProxyClass(String[] interfaces) throws IOException, ClassNotFoundException {
            Class<?>[] types = new Class<?>[interfaces.length];
            for (int i = 0; i < interfaces.length; i++) {
                types[i] = Class.forName(interfaces[i], false, loader);
            }
            return java.lang.reflect.Proxy.newProxyInstance(loader, types, (p, m, a) -> null)
                    .getClass();
        }
    }
}

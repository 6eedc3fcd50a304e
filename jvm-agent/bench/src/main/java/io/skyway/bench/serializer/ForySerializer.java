package io.skyway.bench.serializer;

import io.skyway.api.Serializer;
import io.skyway.bench.workload.Workloads;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.Serializable;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ServiceConfigurationError;

/**
 * Apache Fory (1.x), when its jars are on the class path: classes registered, generated code, one instance used again and
 * again. Nothing here is linked to it. Thread-safe; calls run one after the other.
 */
public abstract class ForySerializer implements Serializer {
    /** Fory's own limits, made for hostile input, are below the depth and the size of honest graphs. */
    private static final int MAX_DEPTH = 1_000_000;

    private final boolean references;
    private Object fory;
    private MethodHandle serialize;
    private MethodHandle deserialize;
    private MethodHandle newInput;

    ForySerializer(boolean references) {
        this.references = references;
        try {
            type("org.apache.fory.Fory");
        } catch (ClassNotFoundException e) {
            throw new ServiceConfigurationError(
                    "Fory is not on the class path: add fory-core and what it depends on, or leave fory out", e);
        }
    }

    /** {@code fory}: keeps sharing and cycles. */
    public static final class WithReferences extends ForySerializer {
        /** @throws ServiceConfigurationError when Fory is not on the class path */
        public WithReferences() {
            super(true);
        }

        @Override
        public String name() {
            return "fory";
        }
    }

    /** {@code fory-tree}: copies a shared object once for each reference to it, and fails on cycles. */
    public static final class Tree extends ForySerializer {
        /** @throws ServiceConfigurationError when Fory is not on the class path */
        public Tree() {
            super(false);
        }

        @Override
        public String name() {
            return "fory-tree";
        }
    }

    /**
     * Writes a graph; Fory builds all of its bytes before it writes the first.
     *
     * @throws CannotMoveException when Fory cannot
     */
    @Override
    public synchronized void write(Object graph, OutputStream out) throws CannotMoveException {
        try {
            start();
            serialize.invoke(fory, out, graph);
        } catch (Throwable e) {
            throw failure(e);
        }
    }

    /**
     * Reads a graph. May take more from the stream than the graph's own bytes.
     *
     * @throws CannotMoveException when Fory cannot
     */
    @Override
    public synchronized Object read(InputStream in) throws CannotMoveException {
        try {
            start();
            return deserialize.invoke(fory, newInput.invoke(in));
        } catch (Throwable e) {
            throw failure(e);
        }
    }

    private void start() throws Throwable {
        if (fory != null) {
            return;
        }
        Class<?> foryType = type("org.apache.fory.Fory");
        Class<?> inputType = type("org.apache.fory.io.ForyInputStream");
        MethodHandles.Lookup lookup = MethodHandles.publicLookup();
        serialize = lookup.findVirtual(
                foryType, "serialize", MethodType.methodType(void.class, OutputStream.class, Object.class));
        deserialize = lookup.findVirtual(foryType, "deserialize", MethodType.methodType(Object.class, inputType));
        newInput = lookup.findConstructor(inputType, MethodType.methodType(void.class, InputStream.class));
        Object instance = build(foryType);
        MethodHandle register =
                lookup.findVirtual(foryType, "register", MethodType.methodType(void.class, Class.class));
        for (Class<?> registered : Workloads.TYPES) {
            // Fory has registered those of the platform itself, and refuses a second time.
            if (registered == Serializable[].class || isOurs(registered)) {
                register.invoke(instance, registered);
            }
        }
        fory = instance;
    }

    private static boolean isOurs(Class<?> type) {
        return type.getPackageName().equals(Workloads.class.getPackageName());
    }

    private Object build(Class<?> foryType) throws ReflectiveOperationException {
        Object builder = foryType.getMethod("builder").invoke(null);
        set(builder, "withClassLoader", ClassLoader.class, ForySerializer.class.getClassLoader());
        set(builder, "withXlang", boolean.class, false);
        set(builder, "withRefTracking", boolean.class, references);
        set(builder, "requireClassRegistration", boolean.class, true);
        set(builder, "withMaxDepth", int.class, MAX_DEPTH);
        set(builder, "withMaxGraphMemoryBytes", long.class, Long.MAX_VALUE);
        return builder.getClass().getMethod("build").invoke(builder);
    }

    private static void set(Object builder, String name, Class<?> type, Object value)
            throws ReflectiveOperationException {
        builder.getClass().getMethod(name, type).invoke(builder, value);
    }

    private static Class<?> type(String name) throws ClassNotFoundException {
        return Class.forName(name, false, ForySerializer.class.getClassLoader());
    }

    private CannotMoveException failure(Throwable cause) {
        if (cause instanceof VirtualMachineError error && !(cause instanceof StackOverflowError)) {
            throw error;
        }
        fory = null;
        if (cause instanceof StackOverflowError) {
            return new CannotMoveException(
                    name()
                            + ": the graph is nested too deeply for Fory's recursion on this thread's stack, or has a"
                            + " cycle and references are off. Use a smaller workload or a thread with a larger stack",
                    cause);
        }
        String message = String.valueOf(cause.getMessage());
        return new CannotMoveException(
                name() + ": " + cause.getClass().getSimpleName() + ": "
                        + message.lines().findFirst().orElse(message),
                cause);
    }
}

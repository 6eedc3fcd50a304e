package io.skyway.bench.serializer;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import com.esotericsoftware.kryo.util.DefaultClassResolver;
import com.esotericsoftware.kryo.util.MapReferenceResolver;
import io.skyway.api.Serializer;
import io.skyway.bench.workload.Workloads;
import java.io.InputStream;
import java.io.OutputStream;

/**
 * Kryo as its manual says it is fastest: classes registered, one instance and its buffers used again and again, public
 * fields read by generated code. Thread-safe; calls run one after the other.
 */
public abstract class KryoSerializer implements Serializer {
    private static final int BUFFER_BYTES = 1 << 20;
    /** Kryo shrinks larger tables after each graph, and grows them in the next one. */
    private static final int KEPT_REFERENCES = 1 << 26;

    /** Trees are not that deep, cycles are: they end here, and not where the stack happens to. */
    private static final int TREE_DEPTH = 10_000;

    private final boolean references;
    private Kryo kryo;
    private Output output;
    private Input input;

    static {
        // Java 24 and later warn about the class that Kryo would use, and generated code is as fast.
        if (System.getProperty("kryo.unsafe") == null) {
            System.setProperty("kryo.unsafe", "false");
        }
    }

    KryoSerializer(boolean references) {
        this.references = references;
    }

    /** {@code kryo}: keeps sharing and cycles. */
    public static final class WithReferences extends KryoSerializer {
        public WithReferences() {
            super(true);
        }

        @Override
        public String name() {
            return "kryo";
        }
    }

    /** {@code kryo-tree}: copies a shared object once for each reference to it, and fails on cycles. */
    public static final class Tree extends KryoSerializer {
        public Tree() {
            super(false);
        }

        @Override
        public String name() {
            return "kryo-tree";
        }
    }

    /**
     * Writes a graph.
     *
     * @throws CannotMoveException when Kryo cannot: a class is not registered, or recursion ends in the graph's depth
     */
    @Override
    public synchronized void write(Object graph, OutputStream out) throws CannotMoveException {
        start();
        try {
            output.setOutputStream(out);
            kryo.writeClassAndObject(output, graph);
            output.flush();
        } catch (KryoException | IllegalArgumentException | StackOverflowError e) {
            throw failure(e);
        }
    }

    /**
     * Reads a graph. May take more from the stream than the graph's own bytes.
     *
     * @throws CannotMoveException when Kryo cannot: the bytes are none of Kryo's, or recursion ends in the graph's depth
     */
    @Override
    public synchronized Object read(InputStream in) throws CannotMoveException {
        start();
        try {
            input.setInputStream(in);
            return kryo.readClassAndObject(input);
        } catch (KryoException | IllegalArgumentException | StackOverflowError e) {
            throw failure(e);
        }
    }

    private void start() {
        if (kryo != null) {
            return;
        }
        // Where the stack ends, Kryo adds to its exception; a class that is initialised for that then is broken for
        // good.
        new KryoException("").addTrace("");
        kryo = references
                ? new Kryo(new DefaultClassResolver(), new MapReferenceResolver(KEPT_REFERENCES))
                : new Kryo(null);
        kryo.setClassLoader(KryoSerializer.class.getClassLoader());
        kryo.setRegistrationRequired(true);
        kryo.setMaxDepth(references ? Integer.MAX_VALUE : TREE_DEPTH);
        Workloads.TYPES.forEach(kryo::register);
        output = new Output(BUFFER_BYTES);
        input = new Input(BUFFER_BYTES);
    }

    private CannotMoveException failure(Throwable cause) {
        // Its state is that of the middle of a graph.
        kryo = null;
        if (isOverflow(cause)) {
            String reason = references ? "" : ", or has a cycle, which Kryo without references cannot move";
            return new CannotMoveException(
                    name() + ": the graph is nested too deeply for Kryo's recursion on this thread's stack" + reason
                            + ". Use a smaller workload or a thread with a larger stack",
                    cause);
        }
        String message = String.valueOf(cause.getMessage());
        if (message.startsWith("Max depth exceeded")) {
            message = "the graph has a cycle or is nested more than " + TREE_DEPTH
                    + " objects deep, which Kryo without references cannot move. Use kryo, with references";
        }
        return new CannotMoveException(
                name() + ": " + message.lines().findFirst().orElse(message), cause);
    }

    /** Kryo catches an overflow and throws an exception of its own around it. */
    private static boolean isOverflow(Throwable failure) {
        for (Throwable t = failure; t != null; t = t.getCause()) {
            if (t instanceof StackOverflowError) {
                return true;
            }
        }
        return false;
    }
}

package io.skyway.api;

import io.skyway.api.internal.Names;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * What an application says to Skyway: which graphs it offers, and what happens to graphs that arrive.
 *
 * <p>Works with and without an agent in this JVM; without one nothing ever arrives. All methods are thread-safe.
 *
 * <p>A name stands for one graph. Publishing a name again replaces the graph, and so does receiving it again. A transfer
 * to a name that this application has published is refused.
 */
public final class Skyway {

    private Skyway() {}

    /**
     * Offers a graph under a name until it is {@linkplain #withdraw withdrawn}. The graph is not copied: a transfer sends
     * it as it is at that time, and it stays reachable.
     *
     * @param name not empty, without {@code '#'} (which marks static field paths) and {@code ':'}
     * @param root the graph's root, not null
     * @throws IllegalArgumentException if the name has another form
     */
    public static void publish(String name, Object root) {
        Names.publish(name, root);
    }

    /**
     * Stops offering a graph. A running transfer of it goes on.
     *
     * @return false if nothing was published under this name
     */
    public static boolean withdraw(String name) {
        return Names.withdraw(name);
    }

    /**
     * Sets what is done with every graph that arrives under a name. Replaces an earlier hook of that name.
     *
     * <p>The hook runs on the receiving thread, once the graph is complete and before anyone else can see it; the sender
     * waits for it. When it throws, or when the root is no {@code type}, the transfer fails on both sides and the graph is
     * dropped. Otherwise the graph can be {@linkplain #take taken} as well.
     *
     * @param name see {@link #publish}
     * @param type what the root must be
     * @throws IllegalArgumentException if the name has another form
     */
    public static <T> void onReceive(String name, Class<T> type, Consumer<? super T> hook) {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(hook, "hook");
        Names.onReceive(name, root -> {
            if (!type.isInstance(root)) {
                throw new ClassCastException("a graph arrived as \"" + name + "\" with the root class "
                        + root.getClass().getName() + ", but the hook of that name takes " + type.getName());
            }
            hook.accept(type.cast(root));
        });
    }

    /**
     * Waits until a graph has arrived under a name and removes it.
     *
     * @return the root
     * @throws InterruptedException if the waiting thread is interrupted
     */
    public static Object take(String name) throws InterruptedException {
        return Names.take(name);
    }

    /**
     * Like {@link #take(String)}, for a limited time.
     *
     * @throws TimeoutException if nothing has arrived until then
     * @throws InterruptedException if the waiting thread is interrupted
     */
    public static Object take(String name, Duration timeout) throws InterruptedException, TimeoutException {
        return Names.take(name, timeout);
    }

    /** The root of the graph that arrived under a name, or null. It stays there. */
    public static Object peek(String name) {
        return Names.peek(name);
    }
}

package io.skyway.api;

import io.skyway.api.internal.Names;
import io.skyway.api.internal.Rules;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
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
     * Says where the classes of graphs that arrive under a name are found: in an application server, a plug-in's own
     * loader. Without this it is the application's class path, {@link ClassLoader#getSystemClassLoader}. While such a graph
     * is landed and its hooks run, the loader is the receiving thread's context class loader too. It is kept for the life
     * of this JVM. A static field as a destination needs no such rule: the loader of its class is asked.
     *
     * @param name see {@link #publish}
     * @throws IllegalArgumentException if the name has another form
     */
    public static void classLoader(String name, ClassLoader loader) {
        Names.classLoader(name, loader);
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

    /**
     * Leaves a field behind: from now on, objects that this JVM sends arrive with null in it, or zero. For the one stray
     * field that drags the whole program into a graph. The objects here keep their values.
     *
     * @param declaring the class that declares the field; objects of its subclasses are sent so too
     * @throws IllegalArgumentException if the class declares no such instance field
     */
    public static void cut(Class<?> declaring, String field) {
        Field f;
        try {
            f = declaring.getDeclaredField(field);
        } catch (NoSuchFieldException e) {
            throw new IllegalArgumentException(declaring.getName() + " declares no field \"" + field + "\"", e);
        }
        if (Modifier.isStatic(f.getModifiers())) {
            throw new IllegalArgumentException(
                    declaring.getName() + "." + field + " is static: static fields are not sent anyway");
        }
        Rules.say(listener -> listener.cut(declaring, field));
    }

    /**
     * Leaves objects of a class behind: from now on, references to them and to objects of subclasses arrive as null when
     * this JVM sends a graph.
     */
    public static void cut(Class<?> type) {
        Objects.requireNonNull(type, "type");
        Rules.say(listener -> listener.cut(type));
    }

    /**
     * Brings arriving objects up to date with this process: a container that is ordered by hashes of its process can be
     * rebuilt, a clock or a counter set, a transient cache filled. What Skyway knows of a container of another library is
     * not done for a class that has such a function.
     *
     * <p>The function runs for every object of the class or a subclass, on the receiving thread, when the whole graph has
     * arrived and before anyone can see it; objects deeper in the graph mostly come first. When it throws, the transfer
     * fails on both sides and the graph is dropped. Several functions for one class run in the order of their
     * registration.
     *
     * @param type class or interface of the objects
     */
    public static <T> void onArrival(Class<T> type, Consumer<? super T> update) {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(update, "update");
        Rules.say(listener -> listener.onArrival(type, o -> update.accept(type.cast(o))));
    }

    /** The root of the graph that arrived under a name, or null. It stays there. */
    public static Object peek(String name) {
        return Names.peek(name);
    }
}

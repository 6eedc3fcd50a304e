package io.skyway.api.internal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** The graphs that this JVM has names for, and the hooks for those that arrive. Thread-safe. */
public final class Names {
    private static final Object LOCK = new Object();
    private static final Map<String, Entry> ENTRIES = new TreeMap<>();
    private static final Map<String, Consumer<Object>> HOOKS = new HashMap<>();
    private static final Map<String, ClassLoader> LOADERS = new HashMap<>();

    private Names() {}

    /**
     * One named graph.
     *
     * @param received false if the application published it
     * @param sinceUnixMillis when it got its name
     */
    public record Entry(String name, Object root, boolean received, long sinceUnixMillis) {}

    /** See {@link io.skyway.api.Skyway#publish}. */
    public static void publish(String name, Object root) {
        check(name);
        Objects.requireNonNull(root, "root");
        synchronized (LOCK) {
            ENTRIES.put(name, new Entry(name, root, false, System.currentTimeMillis()));
        }
    }

    /** See {@link io.skyway.api.Skyway#withdraw}. */
    public static boolean withdraw(String name) {
        synchronized (LOCK) {
            Entry entry = ENTRIES.get(name);
            return entry != null && !entry.received && ENTRIES.remove(name, entry);
        }
    }

    /** See {@link io.skyway.api.Skyway#onReceive}. */
    public static void onReceive(String name, Consumer<Object> hook) {
        check(name);
        synchronized (LOCK) {
            HOOKS.put(name, hook);
        }
    }

    /** See {@link io.skyway.api.Skyway#classLoader}. */
    public static void classLoader(String name, ClassLoader loader) {
        check(name);
        Objects.requireNonNull(loader, "loader");
        synchronized (LOCK) {
            LOADERS.put(name, loader);
        }
    }

    /** Finds the classes of graphs that arrive under that name; null for the application's class path. */
    public static ClassLoader loaderOf(String name) {
        synchronized (LOCK) {
            return LOADERS.get(name);
        }
    }

    /** See {@link io.skyway.api.Skyway#take(String)}. */
    public static Object take(String name) throws InterruptedException {
        check(name);
        synchronized (LOCK) {
            Object root = poll(name);
            while (root == null) {
                LOCK.wait();
                root = poll(name);
            }
            return root;
        }
    }

    /** See {@link io.skyway.api.Skyway#take(String, Duration)}. */
    public static Object take(String name, Duration timeout) throws InterruptedException, TimeoutException {
        check(name);
        long start = System.nanoTime();
        // Saturates: a Duration can be longer than a long's nanoseconds.
        long nanos = TimeUnit.NANOSECONDS.convert(timeout);
        synchronized (LOCK) {
            Object root = poll(name);
            while (root == null) {
                long left = nanos - (System.nanoTime() - start);
                if (left <= 0) {
                    throw new TimeoutException("no graph has arrived as \"" + name + "\" within " + timeout);
                }
                TimeUnit.NANOSECONDS.timedWait(LOCK, left);
                root = poll(name);
            }
            return root;
        }
    }

    /** See {@link io.skyway.api.Skyway#peek}. */
    public static Object peek(String name) {
        synchronized (LOCK) {
            Entry entry = ENTRIES.get(name);
            return entry != null && entry.received ? entry.root : null;
        }
    }

    /** The graph of that name, published or received, or null. */
    public static Entry get(String name) {
        synchronized (LOCK) {
            return ENTRIES.get(name);
        }
    }

    /** All named graphs, by name. */
    public static List<Entry> list() {
        synchronized (LOCK) {
            return new ArrayList<>(ENTRIES.values());
        }
    }

    /**
     * Runs the hook of that name and gives the graph its name. Waiting takers wake up.
     *
     * @throws IllegalStateException if the application has published that name
     */
    public static void deliver(String name, Object root) {
        Objects.requireNonNull(root, "root");
        checkDestination(name);
        Consumer<Object> hook;
        synchronized (LOCK) {
            hook = HOOKS.get(name);
        }
        if (hook != null) {
            hook.accept(root);
        }
        synchronized (LOCK) {
            checkDestination(name);
            ENTRIES.put(name, new Entry(name, root, true, System.currentTimeMillis()));
            LOCK.notifyAll();
        }
    }

    /**
     * Does nothing if a graph may arrive under that name.
     *
     * @throws IllegalArgumentException if it is no name
     * @throws IllegalStateException if the application has published that name
     */
    public static void checkDestination(String name) {
        check(name);
        Entry entry = get(name);
        if (entry != null && !entry.received) {
            throw new IllegalStateException("\"" + name
                    + "\" is a graph that the receiving application publishes; choose another name as destination");
        }
    }

    /** Forgets a graph, whatever its origin. @return false if there was none */
    public static boolean drop(String name) {
        synchronized (LOCK) {
            return ENTRIES.remove(name) != null;
        }
    }

    private static Object poll(String name) {
        Entry entry = ENTRIES.get(name);
        if (entry == null || !entry.received) {
            return null;
        }
        ENTRIES.remove(name);
        return entry.root;
    }

    private static void check(String name) {
        Objects.requireNonNull(name, "name");
        if (name.isBlank() || name.indexOf('#') >= 0 || name.indexOf(':') >= 0) {
            throw new IllegalArgumentException(
                    "\"" + name + "\" cannot name a graph: a name is not empty and has no '#' and no ':'");
        }
    }
}

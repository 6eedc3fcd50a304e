package io.skyway.agent.roots;

import io.skyway.api.internal.Names;
import io.skyway.core.SkywayException;
import io.skyway.core.SkywayException.Kind;
import java.lang.instrument.Instrumentation;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** Finds the graphs that a transfer names, and the places that it delivers to. */
public final class Roots {
    private final Instrumentation instrumentation;

    public Roots(Instrumentation instrumentation) {
        this.instrumentation = instrumentation;
    }

    /**
     * The root behind a name or a static field path.
     *
     * @throws SkywayException of kind ROOT_MISSING when there is none or it is null, USAGE when the text is malformed
     */
    public Object find(String text) {
        if (FieldPath.isPath(text)) {
            Object root = FieldPath.parse(text).resolve(instrumentation).get();
            if (root == null) {
                throw new SkywayException(Kind.ROOT_MISSING, text + " is null at this time: there is nothing to send");
            }
            return root;
        }
        Names.Entry entry = Names.get(text);
        if (entry == null) {
            List<Names.Entry> all = Names.list();
            throw new SkywayException(
                    Kind.ROOT_MISSING,
                    "no graph is published or received as \"" + text + "\"; "
                            + (all.isEmpty()
                                    ? "there are none yet: publish one with Skyway.publish, or give a static field path"
                                            + " such as com.acme.Catalog#INSTANCE.byName"
                                    : "there are: "
                                            + all.stream()
                                                    .map(Names.Entry::name)
                                                    .collect(Collectors.joining(", "))));
        }
        return entry.root();
    }

    /** Where a received graph goes. Checked before anything is sent. */
    public interface Destination {
        /**
         * Makes the graph visible.
         *
         * @throws SkywayException when it does not fit there, or the application's hook refused it
         */
        void deliver(Object root);

        /** Finds the classes of what is delivered here. */
        default ClassLoader loader() {
            return ClassLoader.getSystemClassLoader();
        }
    }

    private record At(Consumer<Object> place, ClassLoader loader) implements Destination {
        @Override
        public void deliver(Object root) {
            place.accept(root);
        }
    }

    /**
     * The place behind a name or a static field path.
     *
     * @throws SkywayException of kind USAGE when nothing can be delivered there, ROOT_MISSING when the path leads nowhere
     */
    public Destination destination(String text) {
        if (FieldPath.isPath(text)) {
            FieldPath.Place place = FieldPath.parse(text).resolve(instrumentation);
            place.checkWritable();
            return new At(place::set, loaderOf(place));
        }
        try {
            Names.checkDestination(text);
        } catch (IllegalArgumentException | IllegalStateException e) {
            throw new SkywayException(Kind.USAGE, e.getMessage(), e);
        }
        ClassLoader loader = Names.loaderOf(text);
        return new At(root -> deliver(text, root), loader != null ? loader : ClassLoader.getSystemClassLoader());
    }

    /** The loader of the class that the path begins at; its classes are those that the field can hold. */
    private static ClassLoader loaderOf(FieldPath.Place place) {
        ClassLoader loader = place.holder() == null
                ? place.field().getDeclaringClass().getClassLoader()
                : place.holder().getClass().getClassLoader();
        ClassLoader system = ClassLoader.getSystemClassLoader();
        for (ClassLoader l = system; l != null; l = l.getParent()) {
            if (l == loader) {
                return system;
            }
        }
        return loader != null ? loader : system;
    }

    private static void deliver(String name, Object root) {
        try {
            Names.deliver(name, root);
        } catch (Throwable t) {
            throw new SkywayException(
                    Kind.PEER_FAILED, "the receiving application's hook for \"" + name + "\" failed: " + t, t);
        }
    }
}

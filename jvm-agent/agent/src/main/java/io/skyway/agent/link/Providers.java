package io.skyway.agent.link;

import java.util.ArrayList;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/**
 * What the application's class path provides of a service. One provider that cannot be loaded, because a library of
 * it is missing, does not hide the others.
 *
 * @param usable new instances
 * @param broken why others are not, for messages
 */
public record Providers<T>(List<T> usable, List<String> broken) {

    /** Loads all that can be loaded, from the system class loader. */
    public static <T> Providers<T> load(Class<T> service) {
        List<T> usable = new ArrayList<>();
        List<String> broken = new ArrayList<>();
        try {
            ServiceLoader.load(service, ClassLoader.getSystemClassLoader()).stream()
                    .forEach(provider -> {
                        try {
                            usable.add(provider.get());
                        } catch (ServiceConfigurationError | LinkageError e) {
                            broken.add(e.getMessage());
                        }
                    });
        } catch (ServiceConfigurationError | LinkageError e) {
            // An entry that names no class ends the list.
            broken.add(e.getMessage());
        }
        return new Providers<>(List.copyOf(usable), List.copyOf(broken));
    }

    /** The end of a message that lists the usable ones. */
    public String problems() {
        return broken.isEmpty() ? "" : ". Not usable: " + String.join("; ", broken);
    }
}

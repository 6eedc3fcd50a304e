package io.skyway.agent.link;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Classes whose objects may be landed in this JVM: the system property {@code skyway.allow}, in the syntax that the
 * class patterns of {@code jdk.serialFilter} have. Patterns are separated by semicolons, and the first that matches decides:
 *
 * <ul>
 *   <li>{@code com.acme.Order}: this class
 *   <li>{@code com.acme.*}: the classes of a package
 *   <li>{@code com.acme.**}: those of a package and of the packages below it
 *   <li>{@code com.acme.Or*}: those whose names begin so
 *   <li>{@code !} before a pattern: what it matches is refused
 * </ul>
 *
 * <p>What none matches is refused. An array is asked by its elements' class. Primitive values, their boxes and strings
 * pass, as no image is without them.
 */
public final class AllowList implements Predicate<String> {
    static final String PROPERTY = "skyway.allow";

    private static final Pattern SYNTAX = Pattern.compile("!?([\\w$]+\\.)*([\\w$]+\\*?|\\*\\*?)");
    private static final Set<String> ALWAYS = Stream.of(
                    String.class,
                    Boolean.class,
                    Byte.class,
                    Short.class,
                    Character.class,
                    Integer.class,
                    Long.class,
                    Float.class,
                    Double.class)
            .map(Class::getName)
            .collect(Collectors.toUnmodifiableSet());

    private record Rule(boolean allows, Predicate<String> matches) {}

    private final List<Rule> rules = new ArrayList<>();

    /** @throws IllegalArgumentException for a pattern that is none: says which */
    AllowList(String patterns) {
        for (String pattern : patterns.split(";")) {
            String text = pattern.strip();
            if (text.isEmpty()) {
                continue;
            }
            if (!SYNTAX.matcher(text).matches()) {
                throw new IllegalArgumentException("the system property " + PROPERTY + " has the pattern '" + text
                        + "'; patterns are like com.acme.Order, com.acme.* or !com.acme.internal.**");
            }
            boolean allows = !text.startsWith("!");
            rules.add(new Rule(allows, matcher(allows ? text : text.substring(1))));
        }
    }

    /**
     * Of this JVM; null when it allows all.
     *
     * @throws IllegalArgumentException as the constructor
     */
    public static AllowList ofThisJvm() {
        String patterns = System.getProperty(PROPERTY);
        return patterns == null ? null : new AllowList(patterns);
    }

    private static Predicate<String> matcher(String pattern) {
        if (!pattern.endsWith("*")) {
            return pattern::equals;
        }
        String begin = pattern.replace("*", "");
        return pattern.endsWith(".*")
                ? name -> name.startsWith(begin) && name.indexOf('.', begin.length()) < 0
                : name -> name.startsWith(begin);
    }

    @Override
    public boolean test(String className) {
        if (ALWAYS.contains(className)) {
            return true;
        }
        for (Rule rule : rules) {
            if (rule.matches().test(className)) {
                return rule.allows();
            }
        }
        return false;
    }
}

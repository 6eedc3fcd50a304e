package io.skyway.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;

/**
 * What decides how an object's bytes lie in a VM.
 *
 * @param fingerprint hex, over the entries
 * @param entries name → value, e.g. {@code "object alignment" → "8"}
 * @param maxSegmentBytes largest segment that this VM can carve in its young generation; no part of the fingerprint
 */
public record Layout(String fingerprint, Map<String, String> entries, int maxSegmentBytes) {

    /** Names and both values of every entry that differs, e.g. {@code compressed oops: true here, false there}. */
    public List<String> differences(Layout other) {
        List<String> out = new ArrayList<>();
        TreeSet<String> names = new TreeSet<>(entries.keySet());
        names.addAll(other.entries.keySet());
        for (String n : names) {
            String a = entries.get(n);
            String b = other.entries.get(n);
            if (!Objects.equals(a, b)) {
                out.add(n + ": " + a + " here, " + b + " there");
            }
        }
        return out;
    }
}

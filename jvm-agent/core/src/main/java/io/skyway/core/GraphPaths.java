package io.skyway.core;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** Finds the shortest paths to objects that cannot be moved: plain Java, breadth first, only for error messages. */
final class GraphPaths {
    private static final int MOST_REFUSALS = 100;
    private static final int MOST_OBJECTS = 10_000_000;

    private record Step(Step from, Object edge) {}

    private final TypeTable types;

    GraphPaths(TypeTable types) {
        this.types = types;
    }

    /** Refused objects with their paths, shortest first. */
    List<Refusal> refusals(Object root) {
        List<Refusal> out = new ArrayList<>();
        Map<Object, Boolean> seen = new IdentityHashMap<>();
        List<Object> level = List.of(root);
        List<Step> steps = new ArrayList<>();
        steps.add(null);
        seen.put(root, true);
        while (!level.isEmpty() && out.size() < MOST_REFUSALS && seen.size() < MOST_OBJECTS) {
            List<Object> next = new ArrayList<>();
            List<Step> nextSteps = new ArrayList<>();
            for (int i = 0; i < level.size(); i++) {
                Object o = level.get(i);
                Step step = steps.get(i);
                TypeTable.Type t = types.type(o.getClass());
                if (types.hasName(o)) {
                    continue;
                }
                if (t.refusal != null || o instanceof Class<?> c && c.isHidden()) {
                    String why =
                            t.refusal != null ? t.refusal : "it is a hidden class, which exists only in its process";
                    out.add(new Refusal(path(step), o.getClass().getName(), why));
                } else if (t.standIn) {
                    visit(StandIns.make(o), new Step(step, "(serial form)"), seen, next, nextSteps);
                } else if (o instanceof Object[] a) {
                    for (int k = 0; k < a.length; k++) {
                        visit(a[k], new Step(step, k), seen, next, nextSteps);
                    }
                } else {
                    for (Field f : t.referenceFields) {
                        visit(
                                Internals.getReference(o, Internals.offsetOf(f)),
                                new Step(step, f.getName()),
                                seen,
                                next,
                                nextSteps);
                    }
                }
            }
            level = next;
            steps = nextSteps;
        }
        return out;
    }

    private static void visit(Object o, Step step, Map<Object, Boolean> seen, List<Object> next, List<Step> nextSteps) {
        if (o != null && seen.putIfAbsent(o, true) == null) {
            next.add(o);
            nextSteps.add(step);
        }
    }

    private static String path(Step last) {
        List<String> parts = new ArrayList<>();
        for (Step s = last; s != null; s = s.from) {
            parts.add(0, s.edge instanceof Integer i ? "[" + i + "]" : "." + s.edge);
        }
        return "root" + String.join("", parts);
    }
}

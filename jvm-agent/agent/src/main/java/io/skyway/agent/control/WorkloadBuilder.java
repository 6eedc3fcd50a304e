package io.skyway.agent.control;

import io.skyway.agent.link.Providers;
import io.skyway.api.Skyway;
import io.skyway.api.Workload;
import io.skyway.core.SkywayException;
import io.skyway.core.SkywayException.Kind;
import io.skyway.proto.BuildWorkloadRequest;
import io.skyway.proto.BuildWorkloadResponse;
import java.util.TreeSet;

/** Builds and publishes the workloads that the application's class path has. */
final class WorkloadBuilder {
    private WorkloadBuilder() {}

    static BuildWorkloadResponse build(BuildWorkloadRequest request) {
        Workload workload = find(request.getWorkload());
        if (request.getSize() < 0) {
            throw new SkywayException(Kind.USAGE, "a workload's size is positive, not " + request.getSize());
        }
        long size = request.getSize() == 0 ? workload.defaultSize() : request.getSize();
        String name = request.getRoot().isEmpty() ? workload.name() : request.getRoot();
        Object root = build(workload, size, request.getSeed());
        try {
            Skyway.publish(name, root);
        } catch (IllegalArgumentException e) {
            throw new SkywayException(Kind.USAGE, e.getMessage(), e);
        }
        return BuildWorkloadResponse.newBuilder()
                .setRoot(name)
                .setClassName(root.getClass().getName())
                .build();
    }

    private static Object build(Workload workload, long size, long seed) {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(ClassLoader.getSystemClassLoader());
        try {
            return workload.build(size, seed);
        } catch (IllegalArgumentException e) {
            throw new SkywayException(Kind.USAGE, e.getMessage(), e);
        } catch (Exception e) {
            throw new SkywayException(
                    Kind.INTERNAL, "workload \"" + workload.name() + "\" of size " + size + " failed: " + e, e);
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    private static Workload find(String name) {
        Providers<Workload> found = Providers.load(Workload.class);
        TreeSet<String> known = new TreeSet<>();
        for (Workload w : found.usable()) {
            if (w.name().equals(name)) {
                return w;
            }
            known.add(w.name());
        }
        throw new SkywayException(
                Kind.USAGE,
                known.isEmpty()
                        ? "this JVM has no workloads: put the bench jar on its class path (`skyway launch --workload`"
                                + " does)"
                        : "there is no workload \"" + name + "\", only " + String.join(", ", known) + found.problems());
    }
}

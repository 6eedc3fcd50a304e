package io.skyway.agent.control;

import io.skyway.agent.start.Phases;
import io.skyway.core.Engine;
import io.skyway.core.Layout;
import io.skyway.proto.JvmDescription;
import io.skyway.proto.LayoutEntry;
import io.skyway.proto.Phase;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/** What there is to say about this JVM. */
public final class JvmFacts {
    private static final int START_TIME = 22;

    private JvmFacts() {}

    /**
     * Describes this JVM.
     *
     * @param refusal why there is no engine; empty when there is one
     */
    public static JvmDescription describe(EngineState engine, Phases phases) {
        JvmDescription.Builder out = JvmDescription.newBuilder()
                .setPid(ProcessHandle.current().pid())
                .setStartTimeTicks(startTimeTicks())
                .setJavaVersion(property("java.runtime.version"))
                .setJavaFeature(Runtime.version().feature())
                .setVmName(property("java.vm.name"))
                .setJavaHome(property("java.home"))
                .setCollector(Engine.collectorName())
                .setMainClass(mainClass(property("sun.java.command")))
                .setMaxHeapBytes(Runtime.getRuntime().maxMemory())
                .setRawEngine(engine.started())
                .setEngineRefusal(engine.refusal())
                .setAgentVersion(version());
        if (engine.started()) {
            out.setLayout(toProto(engine.require().layout()));
        }
        phases.list()
                .forEach(
                        p -> out.addStartup(Phase.newBuilder().setName(p.name()).setNanos(p.nanos())));
        return out.build();
    }

    /** The layout as it goes over the wire. */
    static io.skyway.proto.Layout toProto(Layout layout) {
        io.skyway.proto.Layout.Builder out = io.skyway.proto.Layout.newBuilder()
                .setFingerprint(layout.fingerprint())
                .setMaxSegmentBytes(layout.maxSegmentBytes());
        layout.entries().entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .forEach(e -> out.addEntries(
                        LayoutEntry.newBuilder().setName(e.getKey()).setValue(e.getValue())));
        return out.build();
    }

    /** The layout as a peer described it. */
    static Layout fromProto(io.skyway.proto.Layout layout) {
        Map<String, String> entries = new LinkedHashMap<>();
        layout.getEntriesList().forEach(e -> entries.put(e.getName(), e.getValue()));
        return new Layout(
                layout.getFingerprint(), entries, (int) Math.min(layout.getMaxSegmentBytes(), Integer.MAX_VALUE));
    }

    /** Field 22 of /proc/self/stat; with the pid it names one process for ever. 0 when there is no such file. */
    public static long startTimeTicks() {
        try {
            String stat = Files.readString(Path.of("/proc/self/stat"));
            // The second field, the command, may have spaces and parentheses itself.
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            return Long.parseLong(fields[START_TIME - 3]);
        } catch (IOException | RuntimeException e) {
            return 0;
        }
    }

    static String mainClass(String command) {
        int space = command.indexOf(' ');
        return space < 0 ? command : command.substring(0, space);
    }

    private static String version() {
        try (InputStream in =
                Objects.requireNonNull(JvmFacts.class.getResourceAsStream("/io/skyway/agent/version.txt"))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String property(String name) {
        return System.getProperty(name, "");
    }
}

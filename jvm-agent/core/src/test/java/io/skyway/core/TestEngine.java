package io.skyway.core;

import com.sun.tools.attach.VirtualMachine;
import java.io.OutputStream;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.junit.jupiter.api.Assumptions;

/** The engine of the JVM that runs the tests. It needs the native library: {@code -Dskyway.library=PATH}. */
public final class TestEngine {
    private static Instrumentation instrumentation;
    private static Engine engine;

    private TestEngine() {}

    public static void agentmain(String options, Instrumentation i) {
        instrumentation = i;
    }

    static synchronized Engine get() throws Exception {
        if (engine == null) {
            String library = System.getProperty("skyway.library", "");
            Assumptions.assumeFalse(library.isEmpty(), "no native library: pass -Dskyway.library=PATH");
            engine = start(Path.of(library));
        }
        return engine;
    }

    /** Attaches this JVM to itself to get at Instrumentation, and starts the engine; once in a process. */
    static Engine start(Path library) throws Exception {
        Path jar = Files.createTempFile("skyway-test-agent", ".jar");
        try {
            Manifest m = new Manifest();
            m.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
            m.getMainAttributes().putValue("Agent-Class", TestEngine.class.getName());
            m.getMainAttributes().putValue("Can-Redefine-Classes", "true");
            try (OutputStream out = Files.newOutputStream(jar);
                    JarOutputStream j = new JarOutputStream(out, m)) {
                j.finish();
            }
            VirtualMachine self =
                    VirtualMachine.attach(String.valueOf(ProcessHandle.current().pid()));
            self.loadAgent(jar.toString());
            self.detach();
        } finally {
            Files.delete(jar);
        }
        return Engine.start(instrumentation, library);
    }
}

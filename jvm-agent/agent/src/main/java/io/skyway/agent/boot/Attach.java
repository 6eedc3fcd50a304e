package io.skyway.agent.boot;

import com.sun.tools.attach.AgentInitializationException;
import com.sun.tools.attach.AgentLoadException;
import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.stream.Stream;

/**
 * Loads this jar as an agent into a JVM that already runs: {@code java --add-modules jdk.attach -cp skyway-agent.jar
 * io.skyway.agent.boot.Attach PID OPTIONS}.
 *
 * <p>Exits with 0 when the agent was loaded; with 1 and one line on stderr when not; with 2 when it was called wrongly.
 */
public final class Attach {
    private Attach() {}

    /** See the class. */
    public static void main(String[] arguments) {
        if (arguments.length != 2 || !arguments[0].matches("[1-9][0-9]{0,9}")) {
            fail(2, "usage: " + Attach.class.getName() + " PID OPTIONS");
            return;
        }
        String pid = arguments[0];
        String problem = problemWith(pid);
        if (problem != null) {
            fail(1, problem);
            return;
        }
        try {
            load(pid, ownJar(), arguments[1]);
        } catch (AttachNotSupportedException e) {
            fail(
                    1,
                    "JVM " + pid + " takes no attach requests (" + e.getMessage()
                            + "): it must run without -XX:+DisableAttachMechanism and in the same container");
        } catch (AgentLoadException e) {
            fail(1, loadFailure(pid, e.getMessage()));
        } catch (AgentInitializationException e) {
            fail(
                    1,
                    "the agent did not start in JVM " + pid + " (code " + e.returnValue()
                            + "): the JVM's own stderr has the reason");
        } catch (IOException e) {
            fail(1, ioFailure(pid, e));
        }
    }

    private static void load(String pid, String jar, String options)
            throws AttachNotSupportedException, AgentLoadException, AgentInitializationException, IOException {
        VirtualMachine machine = VirtualMachine.attach(pid);
        try {
            machine.loadAgent(jar, options);
        } finally {
            machine.detach();
        }
    }

    /** What forbids to attach, or null. Looked at first: the attach API's wake-up signal ends a process that is no JVM. */
    private static String problemWith(String pid) {
        Path process = Path.of("/proc", pid);
        try {
            String owner = owner(process);
            String self = owner(Path.of("/proc/self"));
            if (!owner.equals(self)) {
                return "process " + pid + " belongs to " + owner + ": run skyway as that user";
            }
            try (Stream<String> maps = Files.lines(process.resolve("maps"))) {
                if (maps.noneMatch(line -> line.contains("/libjvm.so"))) {
                    return "process " + pid + " is not a JVM (it has no libjvm.so): give the pid of a Java process";
                }
            }
            return null;
        } catch (IOException e) {
            return Files.exists(process)
                    ? "process " + pid + " cannot be looked at: run skyway as the user that it belongs to"
                    : "no process has pid " + pid + ": `jps` or `ps` lists those that run";
        }
    }

    private static String owner(Path process) throws IOException {
        return Files.readAttributes(process, PosixFileAttributes.class).owner().getName();
    }

    private static String loadFailure(String pid, String reason) {
        if (reason != null && reason.contains("EnableDynamicAgentLoading")) {
            return "JVM " + pid + " runs with -XX:-EnableDynamicAgentLoading: start it without that option, or with"
                    + " -javaagent through `skyway launch`";
        }
        return "JVM " + pid + " did not load the agent: " + reason;
    }

    private static String ioFailure(String pid, IOException e) {
        if (String.valueOf(e.getMessage()).contains("EnableDynamicAgentLoading")) {
            return loadFailure(pid, e.getMessage());
        }
        return "JVM " + pid + " broke off the attach request: " + e.getMessage() + ": does it still run?";
    }

    private static String ownJar() throws IOException {
        try {
            return Path.of(Attach.class
                            .getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .toString();
        } catch (java.net.URISyntaxException e) {
            throw new IOException("the agent's jar has no usable path", e);
        }
    }

    private static void fail(int code, String message) {
        System.err.println("skyway: " + message);
        System.exit(code);
    }
}

package io.skyway.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.skyway.api.Skyway;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MainTest {
    private static final long SECONDS = 50;

    private static Process start(List<String> flags, String... args) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(flags);
        command.addAll(
                List.of("-cp", place(Main.class) + File.pathSeparator + place(Skyway.class), Main.class.getName()));
        command.addAll(List.of(args));
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    private static String place(Class<?> type) {
        return Path.of(URI.create(
                        type.getProtectionDomain().getCodeSource().getLocation().toString()))
                .toString();
    }

    private static BufferedReader output(Process process) {
        return new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    @Test
    void saysReadyAndWaitsUntilItIsShutDown() throws Exception {
        Process process = start(List.of(), "--workload", "media:10", "--workload", "boxes:5");
        try (BufferedReader output = output(process)) {
            process.getOutputStream().close();
            assertEquals("ready", output.readLine());
            assertFalse(process.waitFor(200, TimeUnit.MILLISECONDS), "the end of its input is not its end");
            // Process.destroy would close the stream that is read below.
            assertTrue(process.toHandle().destroy());
            assertTrue(process.waitFor(SECONDS, TimeUnit.SECONDS));
            assertEquals(null, output.readLine());
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void churnMakesGarbage() throws Exception {
        Process process = start(List.of("-Xmx64m", "-Xlog:gc"), "--churn", "200");
        try (BufferedReader output = output(process)) {
            String line = output.readLine();
            while (line != null && !line.matches(".*GC\\(\\d+\\) Pause.*")) {
                line = output.readLine();
            }
            assertTrue(line != null, "it ended before there was a collection");
        } finally {
            process.destroyForcibly();
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "2 | --workload nothing | there is no workload nothing. There are [boxes, bytes, catalog,",
                "2 | --workload | --workload wants a value",
                "1 | --workload boxes:99999999999 | cannot build a workload",
            })
    void errorsHaveAStatusAndAReason(int status, String args, String reason) throws Exception {
        Process process = start(List.of(), args.split(" "));
        try (BufferedReader output = output(process)) {
            String line = output.readLine();
            assertTrue(line.startsWith("skyway-bench: ") && line.contains(reason), line);
            assertTrue(process.waitFor(SECONDS, TimeUnit.SECONDS));
            assertEquals(status, process.exitValue());
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void optionsAreRead() {
        Options options =
                Options.parse(List.of("--workload", "boxes", "--seed", "-4", "--workload", "media:7", "--churn", "25"));
        assertEquals(25, options.churnMegabytes());
        assertEquals("boxes", options.workloads().get(0).name());
        assertEquals(1_000_000, options.workloads().get(0).size());
        assertEquals(1, options.workloads().get(0).seed());
        assertEquals(7, options.workloads().get(1).size());
        assertEquals(-4, options.workloads().get(1).seed());
        assertFalse(options.help());
        assertTrue(Options.parse(List.of("--help")).help());
    }

    @ParameterizedTest
    @CsvSource({"--workload,media:-1", "--workload,media:x", "--workload,media:", "--churn,-1", "--seed,1.5", "stray,x"
    })
    void wrongOptionsAreRefused(String option, String value) {
        IllegalArgumentException e =
                assertThrows(IllegalArgumentException.class, () -> Options.parse(List.of(option, value)));
        assertTrue(e.getMessage().contains(option), e.getMessage());
    }
}

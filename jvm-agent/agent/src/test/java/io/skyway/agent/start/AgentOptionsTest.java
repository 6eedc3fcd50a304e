package io.skyway.agent.start;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AgentOptionsTest {

    private static Properties valid() {
        Properties p = new Properties();
        p.putAll(Map.of(
                "launch.id", "abc",
                "mode", "launch",
                "name", "left",
                "orchestrator.host", "127.0.0.1",
                "orchestrator.port", "4711",
                "token", "secret",
                "library", "/lib/libskyway.so",
                "lifeline.fd", "7"));
        return p;
    }

    @Test
    void everyEntryIsRead() {
        AgentOptions o = AgentOptions.of(valid(), "f");
        assertEquals("abc", o.launchId());
        assertEquals(AgentOptions.Mode.LAUNCH, o.mode());
        assertEquals("left", o.name());
        assertEquals(4711, o.orchestrator().getPort());
        assertEquals(Path.of("/lib/libskyway.so"), o.library());
        assertEquals(7, o.lifelineFd());
        assertEquals(30_000, o.silenceMillis());
        assertTrue(o.linkHost().isLoopbackAddress());
        assertNull(o.tlsDirectory());
    }

    @Test
    void anAttachedJvmHasNoLifeline() {
        Properties p = valid();
        p.remove("lifeline.fd");
        assertEquals(-1, AgentOptions.of(p, "f").lifelineFd());
    }

    @Test
    void theTokenIsNotPrinted() {
        assertFalse(AgentOptions.of(valid(), "f").toString().contains("secret"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"launch.id", "mode", "orchestrator.host", "orchestrator.port", "token", "library"})
    void aMissingEntryIsNamed(String key) {
        Properties p = valid();
        p.remove(key);
        assertRefused(p, key);
    }

    @ParameterizedTest
    @CsvSource({
        "mode, run",
        "orchestrator.port, 70000",
        "orchestrator.port, x",
        "orchestrator.host, 192.0.2.1",
        "link.host, 192.0.2.1",
        "link.host, 0.0.0.0",
        "lifeline.fd, -3"
    })
    void aMalformedEntryIsNamed(String key, String value) {
        Properties p = valid();
        p.setProperty(key, value);
        assertRefused(p, key + "=" + value);
    }

    @Test
    void linksLeaveTheLoopbackAddressWithTls() {
        Properties p = valid();
        p.setProperty("tls.directory", "/etc/skyway");
        p.setProperty("link.host", "192.0.2.1");
        AgentOptions o = AgentOptions.of(p, "f");
        assertEquals("192.0.2.1", o.linkHost().getHostAddress());
        assertEquals(Path.of("/etc/skyway"), o.tlsDirectory());
        // Not even then at all addresses: the peer must be told one, and its certificate must name it.
        p.setProperty("link.host", "0.0.0.0");
        assertRefused(p, "link.host=0.0.0.0");
    }

    @Test
    void aFileThatOthersCanReadIsRefused(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("options");
        try (Writer out = Files.newBufferedWriter(file)) {
            valid().store(out, "");
        }
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        IllegalArgumentException e =
                assertThrows(IllegalArgumentException.class, () -> AgentOptions.read(file.toString()));
        assertTrue(e.getMessage().contains("chmod 600"), e.getMessage());
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        assertEquals("abc", AgentOptions.read(file.toString()).launchId());
        Path link = Files.createSymbolicLink(directory.resolve("link"), file);
        assertThrows(IllegalArgumentException.class, () -> AgentOptions.read(link.toString()));
    }

    private static void assertRefused(Properties p, String text) {
        IllegalArgumentException e =
                assertThrows(IllegalArgumentException.class, () -> AgentOptions.of(p, "options.properties"));
        assertTrue(e.getMessage().contains("options.properties"), e.getMessage());
        assertTrue(e.getMessage().contains(text), e.getMessage());
    }

    @Test
    void aMissingFileIsNamed() {
        IllegalArgumentException e =
                assertThrows(IllegalArgumentException.class, () -> AgentOptions.read("no/such/file"));
        assertTrue(e.getMessage().contains("no/such/file"), e.getMessage());
        assertThrows(IllegalArgumentException.class, () -> AgentOptions.read(null));
    }
}

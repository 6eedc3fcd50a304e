package io.skyway.agent.start;

import java.io.IOException;
import java.io.StringReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Properties;

/**
 * What the orchestrator says to an agent, in a properties file that only its user can read.
 *
 * @param orchestrator where TypeRegistry and Rendezvous listen
 * @param token of the session; every call in both directions carries it
 * @param library the native engine
 * @param lifelineFd read end of a pipe that closes when the orchestrator dies, or -1
 * @param silenceMillis how long a peer may be silent during a transfer before it counts as stuck
 * @param linkHost where links listen; another address than a loopback one only with TLS
 * @param tlsDirectory the files of links' TLS, or null when links are not encrypted
 */
public record AgentOptions(
        String launchId,
        Mode mode,
        String name,
        InetSocketAddress orchestrator,
        String token,
        Path library,
        int lifelineFd,
        long silenceMillis,
        InetAddress linkHost,
        Path tlsDirectory) {

    /** How the agent came into this JVM. */
    public enum Mode {
        LAUNCH,
        ATTACH,
        EMBED
    }

    private static final long DEFAULT_SILENCE_MILLIS = 30_000;

    /**
     * Reads the file whose path is the agent's option string.
     *
     * @throws IllegalArgumentException when there is none, others have access to it, or an entry is missing or malformed:
     *     says which
     */
    public static AgentOptions read(String path) {
        if (path == null || path.isBlank()) {
            throw new IllegalArgumentException(
                    "no options file is given: the agent is started by `skyway launch` or `skyway attach`");
        }
        Properties p = new Properties();
        try {
            p.load(new StringReader(new String(PrivateFile.read(Path.of(path)), StandardCharsets.UTF_8)));
        } catch (NoSuchFileException e) {
            throw new IllegalArgumentException("the options file " + path + " does not exist", e);
        } catch (IOException e) {
            throw new IllegalArgumentException("the options file " + path + " cannot be read: " + e.getMessage(), e);
        }
        return of(p, path);
    }

    static AgentOptions of(Properties p, String source) {
        String tls = p.getProperty("tls.directory", "").strip();
        return new AgentOptions(
                required(p, source, "launch.id"),
                mode(p, source),
                p.getProperty("name", required(p, source, "launch.id")),
                new InetSocketAddress(host(required(p, source, "orchestrator.host"), source), (int)
                        number(source, "orchestrator.port", required(p, source, "orchestrator.port"), 65_535)),
                required(p, source, "token"),
                Path.of(required(p, source, "library")),
                p.getProperty("lifeline.fd") == null
                        ? -1
                        : (int) number(source, "lifeline.fd", p.getProperty("lifeline.fd"), Integer.MAX_VALUE),
                number(
                        source,
                        "link.silence.millis",
                        p.getProperty("link.silence.millis", Long.toString(DEFAULT_SILENCE_MILLIS)),
                        Long.MAX_VALUE),
                linkHost(p.getProperty("link.host", "127.0.0.1").strip(), source, !tls.isEmpty()),
                tls.isEmpty() ? null : Path.of(tls));
    }

    private static Mode mode(Properties p, String source) {
        String text = required(p, source, "mode");
        return Arrays.stream(Mode.values())
                .filter(m -> m.name().equalsIgnoreCase(text))
                .findFirst()
                .orElseThrow(() -> malformed(source, "mode", text, "launch, attach or embed"));
    }

    private static InetAddress linkHost(String text, String source, boolean encrypted) {
        try {
            InetAddress address = InetAddress.getByName(text);
            if (address.isLoopbackAddress() || (encrypted && !address.isAnyLocalAddress())) {
                return address;
            }
        } catch (UnknownHostException e) {
            throw malformed(source, "link.host", text, "an address");
        }
        throw malformed(
                source,
                "link.host",
                text,
                encrypted ? "the address of an interface" : "a loopback address, without TLS");
    }

    private static InetAddress host(String text, String source) {
        try {
            InetAddress address = InetAddress.getByName(text);
            if (!address.isLoopbackAddress()) {
                throw malformed(source, "orchestrator.host", text, "a loopback address");
            }
            return address;
        } catch (UnknownHostException e) {
            throw malformed(source, "orchestrator.host", text, "a loopback address");
        }
    }

    private static String required(Properties p, String source, String key) {
        String value = p.getProperty(key);
        if (value == null || value.isBlank()) {
            throw new IllegalArgumentException("the options file " + source + " has no entry " + key);
        }
        return value.strip();
    }

    private static long number(String source, String key, String text, long max) {
        try {
            long n = Long.parseLong(text.strip());
            if (n >= 0 && n <= max) {
                return n;
            }
        } catch (NumberFormatException e) {
            throw malformed(source, key, text, "a number");
        }
        throw malformed(source, key, text, "between 0 and " + max);
    }

    private static IllegalArgumentException malformed(String source, String key, String text, String expected) {
        return new IllegalArgumentException(
                "the options file " + source + " has " + key + "=" + text + ", which is not " + expected);
    }

    /** Without the token. */
    @Override
    public String toString() {
        return "AgentOptions[" + name + ", " + mode + ", " + orchestrator + "]";
    }
}

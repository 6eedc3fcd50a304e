package io.skyway.agent.link;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Makes the files of {@link Tls} with the JDK's keytool. */
final class Certificates {
    private Certificates() {}

    /** An authority that is its own identity, for one address. */
    static Path make(Path directory, String address) throws Exception {
        Files.createDirectories(directory);
        Files.writeString(directory.resolve("password"), "changed it\n");
        String store = directory.resolve("identity.p12").toString();
        keytool(
                directory,
                "-genkeypair",
                "-keystore",
                store,
                "-alias",
                "a",
                "-keyalg",
                "EC",
                "-dname",
                "CN=a",
                "-ext",
                "san=ip:" + address);
        keytool(
                directory,
                "-exportcert",
                "-keystore",
                store,
                "-alias",
                "a",
                "-rfc",
                "-file",
                directory.resolve("ca.pem").toString());
        for (String name : List.of("ca.pem", "identity.p12", "password")) {
            Files.setPosixFilePermissions(directory.resolve(name), PosixFilePermissions.fromString("rw-------"));
        }
        return directory;
    }

    private static void keytool(Path directory, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString()));
        command.addAll(Arrays.asList(arguments));
        command.addAll(List.of("-storepass:file", directory.resolve("password").toString()));
        Process p = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("keytool.log").toFile())
                .start();
        if (!p.waitFor(60, TimeUnit.SECONDS) || p.exitValue() != 0) {
            throw new AssertionError(Files.readString(directory.resolve("keytool.log")));
        }
    }
}

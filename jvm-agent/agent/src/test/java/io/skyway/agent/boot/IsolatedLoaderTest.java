package io.skyway.agent.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.skyway.api.Skyway;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ServiceLoader;
import java.util.function.Supplier;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class IsolatedLoaderTest {

    /** In the application's class path and in the jar. */
    public static final class Library implements Supplier<String> {
        @Override
        public String get() {
            return String.valueOf(Skyway.class.getClassLoader());
        }
    }

    private IsolatedLoader loader;

    @BeforeEach
    void makeJar(@TempDir Path folder) throws IOException {
        Path jar = folder.resolve("agent.jar");
        try (OutputStream out = Files.newOutputStream(jar);
                ZipOutputStream zip = new ZipOutputStream(out)) {
            String library = Library.class.getName().replace('.', '/');
            try (InputStream in = Library.class.getResourceAsStream("/" + library + ".class")) {
                put(zip, "isolated/" + library + ".classdata", in.readAllBytes());
            }
            put(zip, "isolated/text.txt", "hello".getBytes(StandardCharsets.UTF_8));
            put(
                    zip,
                    "isolated/META-INF/services/java.util.function.Supplier",
                    Library.class.getName().getBytes(StandardCharsets.UTF_8));
        }
        loader = new IsolatedLoader(jar);
    }

    private static void put(ZipOutputStream zip, String name, byte[] bytes) throws IOException {
        zip.putNextEntry(new ZipEntry(name));
        zip.write(bytes);
    }

    @Test
    void ownClassesComeFirst() throws Exception {
        Class<?> c = loader.loadClass(Library.class.getName());
        assertNotSame(Library.class, c);
        assertSame(loader, c.getClassLoader());
        assertSame(c, loader.loadClass(Library.class.getName()));
    }

    @Test
    void theApiIsTheApplications() throws Exception {
        assertSame(Skyway.class, loader.loadClass(Skyway.class.getName()));
    }

    @Test
    void theApplicationsClassPathIsOutOfSight() {
        assertThrows(ClassNotFoundException.class, () -> loader.loadClass(Test.class.getName()));
        assertNull(loader.getResource(Test.class.getName().replace('.', '/') + ".class"));
    }

    @Test
    void thePlatformIsShared() throws Exception {
        assertSame(String.class, loader.loadClass("java.lang.String"));
        assertSame(java.sql.Date.class, loader.loadClass("java.sql.Date"));
    }

    @Test
    void theFlightRecorderIsNotStarted() {
        assertThrows(ClassNotFoundException.class, () -> loader.loadClass("jdk.jfr.FlightRecorder"));
    }

    @Test
    void resourcesAreFound() throws Exception {
        try (InputStream in = loader.getResourceAsStream("text.txt")) {
            assertEquals("hello", new String(in.readAllBytes(), StandardCharsets.UTF_8));
        }
        assertNull(loader.getResource("missing.txt"));
    }

    @Test
    void servicesAreOnlyItsOwn() {
        Object found = ServiceLoader.load(Supplier.class, loader).iterator().next();
        assertSame(loader, found.getClass().getClassLoader());
    }
}

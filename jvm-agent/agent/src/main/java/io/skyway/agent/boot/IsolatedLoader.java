package io.skyway.agent.boot;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLConnection;
import java.net.URLStreamHandler;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Loads the agent's own classes and its dependencies from {@code isolated/} in the agent's jar, where the application's
 * loaders cannot see them, and never from the application's class path: both may have other versions of a library.
 *
 * <p>Only {@code io.skyway.api} is shared with the application.
 */
final class IsolatedLoader extends ClassLoader {
    private static final String FOLDER = "isolated/";
    private static final String CLASS_ENDING = ".classdata";
    private static final String SHARED = "io.skyway.api.";
    /** Netty would start the flight recorder for events of its buffers, which costs a sixth of the agent's start. */
    private static final String HIDDEN = "jdk.jfr.";

    static {
        registerAsParallelCapable();
    }

    private final ZipFile jar;
    private final ClassLoader platform = ClassLoader.getPlatformClassLoader();
    private final ClassLoader application = ClassLoader.getSystemClassLoader();

    IsolatedLoader(Path jar) throws IOException {
        super("skyway", ClassLoader.getPlatformClassLoader());
        this.jar = new ZipFile(jar.toFile());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (name.startsWith("java.")) {
            return platform.loadClass(name);
        }
        if (name.startsWith(SHARED)) {
            return application.loadClass(name);
        }
        if (name.startsWith(HIDDEN)) {
            throw new ClassNotFoundException(name);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> c = findLoadedClass(name);
            if (c != null) {
                return c;
            }
            byte[] bytes = read(name.replace('.', '/') + CLASS_ENDING);
            return bytes == null ? platform.loadClass(name) : defineClass(name, bytes, 0, bytes.length);
        }
    }

    @Override
    public URL getResource(String name) {
        URL own = findResource(name);
        return own == null ? platform.getResource(name) : own;
    }

    @Override
    protected URL findResource(String name) {
        byte[] bytes = name.endsWith(".class")
                ? read(name.substring(0, name.length() - ".class".length()) + CLASS_ENDING)
                : read(name);
        return bytes == null ? null : memoryUrl(name, bytes);
    }

    @Override
    protected Enumeration<URL> findResources(String name) {
        URL own = findResource(name);
        return Collections.enumeration(own == null ? List.of() : List.of(own));
    }

    private byte[] read(String name) {
        try {
            ZipEntry entry = jar.getEntry(FOLDER + name);
            if (entry == null) {
                return null;
            }
            try (InputStream in = jar.getInputStream(entry)) {
                return in.readAllBytes();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the agent's jar " + jar.getName() + " cannot be read", e);
        }
    }

    /** Not a jar: URL, whose handler would open and cache the jar a second time. */
    private static URL memoryUrl(String name, byte[] bytes) {
        URLStreamHandler handler = new URLStreamHandler() {
            @Override
            protected URLConnection openConnection(URL url) {
                return new URLConnection(url) {
                    @Override
                    public void connect() {
                        connected = true;
                    }

                    @Override
                    public InputStream getInputStream() {
                        return new ByteArrayInputStream(bytes);
                    }
                };
            }
        };
        try {
            return newUrl(name, handler);
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException(name, e);
        }
    }

    // URL.of came with 20, and the constructor is deprecated since then.
    @SuppressWarnings("deprecation")
    private static URL newUrl(String name, URLStreamHandler handler) throws MalformedURLException {
        return new URL("skyway", null, -1, "/" + name, handler);
    }
}

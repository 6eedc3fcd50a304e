package io.skyway.bench.workload;

import io.skyway.api.Workload;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Every class, method, field and constant of the running Java, read from its own module image. */
public final class CatalogWorkload implements Workload {
    /** By module, package and name. That of paths has {@code java.xml.crypto} before {@code java.xml}. */
    private static final Comparator<Path> ORDER = Comparator.comparing(CatalogWorkload::module)
            .thenComparing(file -> file.getParent().toString())
            .thenComparing(Path::toString);

    @Override
    public String name() {
        return "catalog";
    }

    /** 0: all classes. */
    @Override
    public long defaultSize() {
        return 0;
    }

    /**
     * Builds the catalog. Its order does not depend on the seed, nor on that of the file system.
     *
     * @param size the number of classes, taken by module and name; 0 for all
     * @throws IllegalArgumentException when the size is negative
     * @throws IOException when the module image or a class file in it cannot be read
     */
    @Override
    public Object build(long size, long seed) throws IOException {
        int limit = Workloads.count(name(), size);
        CatalogBuilder builder = new CatalogBuilder();
        for (Path file : classFiles(limit == 0 ? Integer.MAX_VALUE : limit)) {
            builder.add(module(file), Files.readAllBytes(file));
        }
        return builder.finish();
    }

    private static List<Path> classFiles(int limit) throws IOException {
        Path modules = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
        try (Stream<Path> files = Files.walk(modules)) {
            // A module's descriptor is no class, and each module has one of the same name.
            return files.filter(file -> file.toString().endsWith(".class"))
                    .filter(file -> !file.getFileName().toString().equals("module-info.class"))
                    .sorted(ORDER)
                    .limit(limit)
                    .toList();
        }
    }

    private static String module(Path file) {
        return file.getName(1).toString();
    }
}

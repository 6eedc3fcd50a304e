package io.skyway.agent.start;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Set;

/** Files with secrets in them. */
public final class PrivateFile {
    private static final Set<PosixFilePermission> OWNERS =
            Set.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE);

    private PrivateFile() {}

    /**
     * A file's bytes, when it is this user's and nobody else's.
     *
     * @throws IOException when it cannot be read, is a link or another user's, or others have access to it
     */
    public static byte[] read(Path file) throws IOException {
        PosixFileAttributes a = Files.readAttributes(file, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        if (!a.isRegularFile()) {
            throw new IOException(file + " is not an ordinary file");
        }
        if (!a.owner().equals(Files.getOwner(Path.of("/proc/self")))) {
            throw new IOException(file + " belongs to the user " + a.owner().getName() + ", not to this process's");
        }
        if (!OWNERS.containsAll(a.permissions())) {
            throw new IOException("others than its owner have access to " + file + ": run `chmod 600` on it");
        }
        return Files.readAllBytes(file);
    }
}

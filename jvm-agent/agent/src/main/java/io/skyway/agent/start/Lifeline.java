package io.skyway.agent.start;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import jdk.internal.access.SharedSecrets;

/** Ends a launched JVM when its orchestrator is gone, however that ended. */
final class Lifeline {
    /** 128 + SIGTERM: what a shell shows for a process that was told to end. */
    private static final int EXIT_CODE = 143;

    private Lifeline() {}

    /** Watches an inherited pipe whose only write end is the orchestrator's. */
    static void watch(int fd) {
        Thread thread = new Thread(() -> waitAndHalt(fd), "skyway-lifeline");
        thread.setDaemon(true);
        thread.setContextClassLoader(null);
        thread.start();
    }

    private static void waitAndHalt(int fd) {
        // Not through /proc/self/fd: opening a pipe without a writer blocks for ever, which is the very case to see.
        FileDescriptor descriptor = new FileDescriptor();
        SharedSecrets.getJavaIOFileDescriptorAccess().set(descriptor, fd);
        try {
            FileInputStream in = new FileInputStream(descriptor);
            while (in.read() >= 0) {
                // Bytes on the lifeline mean nothing; only its end does.
            }
        } catch (IOException e) {
            System.err.println("skyway: the lifeline to the orchestrator is broken: " + e.getMessage());
        }
        Runtime.getRuntime().halt(EXIT_CODE);
    }
}

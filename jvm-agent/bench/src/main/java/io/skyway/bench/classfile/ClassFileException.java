package io.skyway.bench.classfile;

import java.io.IOException;

/** Bytes are no class file, or a broken one. */
public final class ClassFileException extends IOException {
    private static final long serialVersionUID = 1L;

    ClassFileException(String message) {
        super(message);
    }
}

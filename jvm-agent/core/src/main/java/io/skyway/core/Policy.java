package io.skyway.core;

import java.lang.annotation.Annotation;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.regex.Pattern;

/** Which objects are copied, which are named, and which stay where they are. By general rules, not class by class. */
final class Policy {
    private record Bound(String className, String reason) {}

    /** Classes whose objects, and those of their subclasses, are bound to a process. */
    private static final List<Bound> BOUND = List.of(
            new Bound("java.lang.Thread", "a thread belongs to its process"),
            new Bound("java.lang.ThreadGroup", "a thread group belongs to its process"),
            new Bound("java.lang.ClassLoader", "a class loader belongs to its process"),
            new Bound("java.lang.Module", "a module belongs to its process"),
            new Bound("java.lang.ModuleLayer", "a module layer belongs to its process"),
            new Bound("java.lang.Process", "it stands for an operating system process"),
            new Bound("java.lang.ProcessHandle", "it stands for an operating system process"),
            new Bound("java.lang.Runtime", "it stands for its process"),
            new Bound("java.lang.ref.Reference", "the collector of its process looks after it"),
            new Bound("java.lang.ref.Cleaner", "its thread lives in its process"),
            new Bound("java.lang.ref.Cleaner$Cleanable", "it is registered with a thread of its process"),
            new Bound("java.lang.invoke.MethodHandle", "it is linked to code of its process"),
            new Bound("java.lang.invoke.VarHandle", "it is linked to code of its process"),
            new Bound("java.lang.invoke.CallSite", "it is linked to code of its process"),
            new Bound("java.lang.invoke.MemberName", "it is linked to code of its process"),
            new Bound("java.lang.invoke.MethodType", "the VM of its process keeps one per type"),
            new Bound("java.lang.invoke.MethodHandles$Lookup", "it is linked to code of its process"),
            new Bound("java.lang.reflect.AccessibleObject", "it is linked to code of its process"),
            new Bound("java.lang.reflect.RecordComponent", "it is linked to code of its process"),
            new Bound("java.nio.MappedByteBuffer", "its bytes lie outside of the heap"),
            new Bound("java.nio.channels.Channel", "it holds an open file or socket"),
            new Bound("java.nio.channels.Selector", "it holds open sockets"),
            new Bound("java.nio.file.FileSystem", "it holds native resources"),
            new Bound("java.io.FileDescriptor", "it holds an open file or socket"),
            new Bound("java.io.RandomAccessFile", "it holds an open file"),
            new Bound("java.io.FileInputStream", "it holds an open file"),
            new Bound("java.io.FileOutputStream", "it holds an open file"),
            new Bound("java.io.Console", "it holds an open terminal"),
            new Bound("java.net.Socket", "it holds an open socket"),
            new Bound("java.net.ServerSocket", "it holds an open socket"),
            new Bound("java.net.DatagramSocket", "it holds an open socket"),
            new Bound("java.util.zip.ZipFile", "it holds an open file"),
            new Bound("java.util.zip.Inflater", "it holds native memory"),
            new Bound("java.util.zip.Deflater", "it holds native memory"),
            new Bound("java.util.Timer", "its thread lives in its process"),
            new Bound("java.security.SecureRandom", "its seed must not exist twice"),
            new Bound("java.util.concurrent.ExecutorService", "its threads live in its process"),
            new Bound("java.lang.foreign.Arena", "it holds native memory"),
            new Bound("java.lang.foreign.MemorySegment", "its bytes may lie outside of the heap"),
            new Bound("jdk.internal.access.foreign.MemorySegmentProxy", "its bytes may lie outside of the heap"),
            new Bound("jdk.internal.vm.Continuation", "its frames live in its process"),
            new Bound("jdk.internal.vm.vector.VectorSupport$VectorPayload", "the VM looks after it"),
            new Bound("jdk.internal.reflect.ConstantPool", "it is linked to code of its process"),
            // Offsets of fields in an array, and arrays whose lengths native code and intrinsics trust.
            new Bound("java.io.ObjectStreamClass$FieldReflector", "its offsets of fields are not checked"),
            new Bound("java.awt.image.Raster", "native code works on its fields without checking them"),
            new Bound("javax.crypto.CipherSpi", "the VM works on its fields without checking them"),
            new Bound("javax.crypto.MacSpi", "the VM works on its fields without checking them"),
            new Bound("sun.security.util.math.IntegerModuloP", "the VM works on its fields without checking them"));

    /**
     * What the JDK calls a {@code long} that holds an address, or is added to one without a check: Inflater's address,
     * the file handle, Font's pData, the offset of an atomic field updater.
     */
    private static final Pattern NATIVE_LONG = Pattern.compile(
            ".*(addr|address|ptr|pointer|handle|handler|offset|pdata|adata|peer)|p?native.*", Pattern.CASE_INSENSITIVE);

    private Policy() {}

    /** Why objects of this class stay, or null. Looks at superclasses and interfaces by name: none of them is loaded. */
    static String refusal(Class<?> c, boolean special) {
        if (c.isArray()) {
            return null;
        }
        if (c.isHidden()) {
            return StandIns.isLambda(c)
                    ? "it is a lambda whose interface is not Serializable, so that nobody can say what it is; make the"
                            + " interface Serializable"
                    : "its class is hidden and exists only in its process";
        }
        for (Class<?> k = c; k != null; k = k.getSuperclass()) {
            String why = bound(k);
            if (why != null) {
                return why;
            }
            if (k != Object.class && hasFinalizer(k)) {
                return "it has a finalizer (" + k.getName() + ".finalize), which a copy would never run";
            }
        }
        if (c.getName().startsWith("java.nio.Direct")) {
            return "its bytes lie outside of the heap";
        }
        if (special) {
            return "the VM of its process looks after it";
        }
        // Elsewhere such names say nothing: an application's long called "offset" is a number.
        return isPlatform(c) ? trustedByNativeCode(c) : null;
    }

    /**
     * Objects whose fields native code, or code that the VM puts in a method's place, uses without a look: with altered
     * values it would read and write wild memory. So they are neither sent nor landed.
     */
    private static String trustedByNativeCode(Class<?> c) {
        try {
            for (Class<?> k = c; k != null && k != Object.class; k = k.getSuperclass()) {
                // A heap buffer's address is looked at on arrival: Trusted.
                if (k == java.nio.Buffer.class) {
                    return null;
                }
                for (Field f : Internals.fieldsOf(k)) {
                    if (f.getType() == long.class
                            && !Modifier.isStatic(f.getModifiers())
                            && NATIVE_LONG.matcher(f.getName()).matches()) {
                        return "its field " + f.getName() + " is an address, or an offset that nothing checks";
                    }
                }
                if (hasIntrinsic(k)) {
                    return "the VM works on its fields without checking them";
                }
            }
        } catch (LinkageError e) {
            return "its fields cannot be looked at (" + e + ")";
        }
        return null;
    }

    /** Digests and ciphers. What java.lang and java.util have is either without fields to trust, or in Trusted. */
    private static boolean hasIntrinsic(Class<?> k) {
        if (k.getName().startsWith("java.lang.") || k.getName().startsWith("java.util.")) {
            return false;
        }
        for (Method m : k.getDeclaredMethods()) {
            if (!Modifier.isStatic(m.getModifiers())) {
                for (Annotation a : m.getDeclaredAnnotations()) {
                    if (a.annotationType().getName().equals("jdk.internal.vm.annotation.IntrinsicCandidate")) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    /**
     * Bound to its process, but a path or a file names it all the time: the default file system is the receiver's. A class
     * loader or a thread in a constant of the platform is not named: whoever sends one has sent the whole program.
     */
    static boolean isNamedThoughBound(Class<?> c) {
        return java.nio.file.FileSystem.class.isAssignableFrom(c);
    }

    private static String bound(Class<?> k) {
        for (Bound b : BOUND) {
            if (b.className.equals(k.getName())) {
                return b.reason;
            }
        }
        for (Class<?> i : k.getInterfaces()) {
            String why = bound(i);
            if (why != null) {
                return why;
            }
        }
        return null;
    }

    private static boolean hasFinalizer(Class<?> k) {
        try {
            return !Modifier.isStatic(k.getDeclaredMethod("finalize").getModifiers());
        } catch (NoSuchMethodException | LinkageError e) {
            return false;
        }
    }

    /** Classes of the platform: the same ones, with the same static fields, are in every process of this JDK. */
    static boolean isPlatform(Class<?> c) {
        ClassLoader l = c.getClassLoader();
        return l == null || l == ClassLoader.getPlatformClassLoader();
    }

    static boolean isEnumConstant(Class<?> c) {
        return enumClass(c) != null;
    }

    /** The enum that declares this constant's class, or null. */
    static Class<?> enumClass(Class<?> c) {
        if (c.isEnum()) {
            return c;
        }
        Class<?> s = c.getSuperclass();
        return s != null && s.isEnum() ? s : null;
    }
}

package io.skyway.agent.start;

import java.lang.instrument.Instrumentation;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Set;

/** Lets the agent in to packages of the JDK, without options on the command line and without warnings. */
public final class JdkAccess {
    private JdkAccess() {}

    /** Opens what the agent and the engine use of java.base to the agent's own classes. */
    public static void open(Instrumentation instrumentation) {
        Set<Module> self = Set.of(JdkAccess.class.getModule());
        instrumentation.redefineModule(
                Object.class.getModule(),
                Set.of(),
                Map.of(),
                Map.of(
                        "java.lang", self,
                        "java.nio", self,
                        "jdk.internal.access", self,
                        "jdk.internal.misc", self),
                Set.of(),
                Map.of());
        allowNativeAccess();
    }

    /** Opens the package of a class, so that its fields can be read whatever their access. */
    public static void open(Instrumentation instrumentation, Class<?> c) {
        Module module = c.getModule();
        Module self = JdkAccess.class.getModule();
        if (module.isNamed() && !module.isOpen(c.getPackageName(), self)) {
            instrumentation.redefineModule(
                    module, Set.of(), Map.of(), Map.of(c.getPackageName(), Set.of(self)), Set.of(), Map.of());
        }
    }

    /**
     * Since 22 System.load is a restricted method and since 24 it warns. Only all unnamed modules at once can be let in.
     * Where this fails, the worst is that warning.
     */
    private static void allowNativeAccess() {
        if (Runtime.version().feature() < 22) {
            return;
        }
        try {
            Class<?> secrets = Class.forName("jdk.internal.access.SharedSecrets");
            Object access = secrets.getMethod("getJavaLangAccess").invoke(null);
            Method allow =
                    Class.forName("jdk.internal.access.JavaLangAccess").getMethod("addEnableNativeAccessToAllUnnamed");
            allow.invoke(access);
        } catch (ReflectiveOperationException | RuntimeException e) {
            System.err.println("skyway: native access could not be enabled quietly: " + e);
        }
    }
}

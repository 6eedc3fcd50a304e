package io.skyway.bench.workload;

import io.skyway.bench.classfile.ClassFile;
import io.skyway.bench.classfile.ClassFileException;
import io.skyway.bench.classfile.ClassFileParser;
import java.io.Serializable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Makes a {@link Catalog} of class files. */
final class CatalogBuilder {
    private static final String[] NO_NAMES = {};

    private final Catalog catalog = new Catalog();
    private final Map<String, ModuleNode> modules = new HashMap<>();
    private final Map<String, PackageNode> packages = new HashMap<>();
    /** Names and constants that many classes have are one string each. */
    private final Map<String, String> strings = new HashMap<>();

    private final ClassFileParser parser = new ClassFileParser(text -> {
        String known = strings.putIfAbsent(text, text);
        return known == null ? text : known;
    });

    /** @throws ClassFileException when the bytes are no class file, or a broken one */
    void add(String module, byte[] bytes) throws ClassFileException {
        ClassFile file = parser.parse(bytes);
        ClassNode node = new ClassNode();
        node.name = file.name();
        node.modifiers = file.modifiers();
        node.version = file.version();
        node.superclassName = file.superclassName();
        node.interfaceNames = names(file.interfaceNames());
        node.attributes = names(file.attributes());
        node.fields = file.fields().stream().map(f -> field(node, f)).toArray(FieldNode[]::new);
        node.methods = file.methods().stream().map(m -> method(node, m)).toArray(MethodNode[]::new);
        node.constants = file.constants().stream().map(CatalogBuilder::constant).toArray(Serializable[]::new);

        node.parent = parent(module, node.name);
        node.parent.classes.add(node);
        catalog.classes.put(node.name, node);
    }

    /** Links the classes to each other. */
    Catalog finish() {
        catalog.javaVersion = System.getProperty("java.version");
        for (ClassNode node : catalog.classes.values()) {
            node.superclass = catalog.classes.get(node.superclassName);
            node.interfaces = new ClassNode[node.interfaceNames.length];
            for (int i = 0; i < node.interfaces.length; i++) {
                node.interfaces[i] = catalog.classes.get(node.interfaceNames[i]);
            }
        }
        return catalog;
    }

    private PackageNode parent(String moduleName, String className) {
        ModuleNode module = modules.computeIfAbsent(moduleName, name -> {
            ModuleNode node = new ModuleNode();
            node.name = name;
            catalog.modules.add(node);
            return node;
        });
        String packageName = className.substring(0, Math.max(className.lastIndexOf('/'), 0));
        return packages.computeIfAbsent(moduleName + '/' + packageName, key -> {
            PackageNode node = new PackageNode();
            node.name = packageName;
            node.module = module;
            module.packages.add(node);
            return node;
        });
    }

    private static FieldNode field(ClassNode owner, ClassFile.Member member) {
        FieldNode node = new FieldNode();
        member(node, owner, member);
        node.constantValue = member.constantValue();
        return node;
    }

    private static MethodNode method(ClassNode owner, ClassFile.Member member) {
        MethodNode node = new MethodNode();
        member(node, owner, member);
        node.maxStack = member.maxStack();
        node.maxLocals = member.maxLocals();
        node.codeLength = member.codeLength();
        node.exceptions = names(member.exceptions());
        return node;
    }

    private static void member(MemberNode node, ClassNode owner, ClassFile.Member member) {
        node.owner = owner;
        node.name = member.name();
        node.descriptor = member.descriptor();
        node.modifiers = member.modifiers();
        node.attributes = names(member.attributes());
    }

    private static Serializable constant(Serializable constant) {
        return constant instanceof ClassFile.Symbol symbol
                ? new SymbolNode(symbol.tag(), symbol.owner(), symbol.name(), symbol.descriptor())
                : constant;
    }

    private static String[] names(List<String> names) {
        return names.isEmpty() ? NO_NAMES : names.toArray(NO_NAMES);
    }
}

package io.skyway.agent.registry;

import com.google.protobuf.ByteString;
import io.skyway.core.SkywayException;
import io.skyway.core.SkywayException.Kind;
import io.skyway.core.TypeDescriptor;
import io.skyway.proto.FieldDescriptor;

/** Type descriptors between the engine's form and the wire's. */
final class Descriptors {
    private Descriptors() {}

    static io.skyway.proto.TypeDescriptor toProto(TypeDescriptor t) {
        io.skyway.proto.TypeDescriptor.Builder out = io.skyway.proto.TypeDescriptor.newBuilder()
                .setClassName(t.className())
                .setKind(io.skyway.proto.TypeDescriptor.Kind.valueOf(t.kind().name()))
                .setInstanceBytes(t.instanceBytes())
                .setArrayBase(t.arrayBase())
                .setArrayScale(t.arrayScale())
                .setSuperName(t.superName())
                .setFingerprint(ByteString.copyFrom(t.fingerprint()));
        for (TypeDescriptor.FieldDescriptor f : t.fields()) {
            out.addFields(FieldDescriptor.newBuilder()
                    .setDeclaringClass(f.declaringClass())
                    .setName(f.name())
                    .setType(f.type())
                    .setOffset(f.offset()));
        }
        return out.build();
    }

    static TypeDescriptor fromProto(io.skyway.proto.TypeDescriptor t) {
        return new TypeDescriptor(
                t.getClassName(),
                kind(t),
                t.getInstanceBytes(),
                t.getArrayBase(),
                t.getArrayScale(),
                t.getFieldsList().stream()
                        .map(f -> new TypeDescriptor.FieldDescriptor(
                                f.getDeclaringClass(), f.getName(), f.getType(), f.getOffset()))
                        .toList(),
                t.getSuperName(),
                t.getFingerprint().toByteArray());
    }

    private static TypeDescriptor.Kind kind(io.skyway.proto.TypeDescriptor t) {
        return switch (t.getKind()) {
            case INSTANCE -> TypeDescriptor.Kind.INSTANCE;
            case PRIMITIVE_ARRAY -> TypeDescriptor.Kind.PRIMITIVE_ARRAY;
            case REFERENCE_ARRAY -> TypeDescriptor.Kind.REFERENCE_ARRAY;
            default ->
                throw new SkywayException(
                        Kind.BAD_IMAGE, "the type registry's entry for " + t.getClassName() + " has no kind");
        };
    }
}

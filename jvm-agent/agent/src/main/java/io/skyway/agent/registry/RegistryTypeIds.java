package io.skyway.agent.registry;

import com.google.protobuf.ByteString;
import io.grpc.Channel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.skyway.core.SkywayException;
import io.skyway.core.SkywayException.Kind;
import io.skyway.core.TypeDescriptor;
import io.skyway.core.TypeIds;
import io.skyway.proto.LookupTypesRequest;
import io.skyway.proto.RegisterTypesRequest;
import io.skyway.proto.TypeRegistryGrpc;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Global type ids from the orchestrator's TypeRegistry. Every class costs one round trip for the JVM's life, at most. */
public final class RegistryTypeIds implements TypeIds {
    private static final long DEADLINE_SECONDS = 20;
    /** Well below gRPC's limit of 4 MB a message. */
    private static final int TYPES_A_CALL = 1000;

    private final Channel channel;
    private final Map<ByteString, Integer> idByFingerprint = new HashMap<>();
    private final Map<Integer, TypeDescriptor> byId = new HashMap<>();

    /** @param channel to the orchestrator, with the token */
    public RegistryTypeIds(Channel channel) {
        this.channel = channel;
    }

    @Override
    public synchronized int[] register(List<TypeDescriptor> types) {
        List<TypeDescriptor> unknown = new ArrayList<>();
        Set<ByteString> asked = new LinkedHashSet<>();
        for (TypeDescriptor t : types) {
            ByteString key = ByteString.copyFrom(t.fingerprint());
            if (!idByFingerprint.containsKey(key) && asked.add(key)) {
                unknown.add(t);
            }
        }
        for (int from = 0; from < unknown.size(); from += TYPES_A_CALL) {
            ask(unknown.subList(from, Math.min(from + TYPES_A_CALL, unknown.size())));
        }
        return types.stream()
                .mapToInt(t -> idByFingerprint.get(ByteString.copyFrom(t.fingerprint())))
                .toArray();
    }

    private void ask(List<TypeDescriptor> types) {
        RegisterTypesRequest.Builder request = RegisterTypesRequest.newBuilder();
        types.forEach(t -> request.addTypes(Descriptors.toProto(t)));
        List<Integer> ids;
        try {
            ids = stub().register(request.build()).getIdsList();
        } catch (StatusRuntimeException e) {
            throw unreachable(e);
        }
        if (ids.size() != types.size()) {
            throw new SkywayException(
                    Kind.LINK,
                    "the orchestrator's type registry answered " + ids.size() + " ids for " + types.size() + " types");
        }
        for (int i = 0; i < types.size(); i++) {
            remember(ids.get(i), types.get(i));
        }
    }

    @Override
    public synchronized List<TypeDescriptor> lookup(int[] ids) {
        List<Integer> unknown = new ArrayList<>();
        for (int id : ids) {
            if (!byId.containsKey(id) && !unknown.contains(id)) {
                unknown.add(id);
            }
        }
        for (int from = 0; from < unknown.size(); from += TYPES_A_CALL) {
            fetch(unknown.subList(from, Math.min(from + TYPES_A_CALL, unknown.size())));
        }
        List<TypeDescriptor> types = new ArrayList<>(ids.length);
        for (int id : ids) {
            types.add(byId.get(id));
        }
        return types;
    }

    private void fetch(List<Integer> ids) {
        List<io.skyway.proto.TypeDescriptor> types;
        try {
            types = stub().lookup(LookupTypesRequest.newBuilder().addAllIds(ids).build())
                    .getTypesList();
        } catch (StatusRuntimeException e) {
            if (e.getStatus().getCode() == Status.Code.NOT_FOUND) {
                throw new SkywayException(
                        Kind.BAD_IMAGE,
                        "the image names a type that the orchestrator never handed out ("
                                + e.getStatus().getDescription() + "): it is from another session",
                        e);
            }
            throw unreachable(e);
        }
        if (types.size() != ids.size()) {
            throw new SkywayException(
                    Kind.LINK,
                    "the orchestrator's type registry answered " + types.size() + " types for " + ids.size() + " ids");
        }
        for (int i = 0; i < ids.size(); i++) {
            remember(ids.get(i), Descriptors.fromProto(types.get(i)));
        }
    }

    private void remember(int id, TypeDescriptor type) {
        idByFingerprint.put(ByteString.copyFrom(type.fingerprint()), id);
        byId.put(id, type);
    }

    private TypeRegistryGrpc.TypeRegistryBlockingStub stub() {
        return TypeRegistryGrpc.newBlockingStub(channel).withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS);
    }

    private static SkywayException unreachable(StatusRuntimeException e) {
        return new SkywayException(
                Kind.LINK,
                "the orchestrator's type registry does not answer ("
                        + e.getStatus().getCode() + ": " + e.getStatus().getDescription()
                        + "): does the orchestrator still run?",
                e);
    }
}

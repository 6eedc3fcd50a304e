package io.skyway.agent.registry;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.skyway.core.SkywayException;
import io.skyway.core.SkywayException.Kind;
import io.skyway.core.TypeDescriptor;
import io.skyway.proto.LookupTypesRequest;
import io.skyway.proto.LookupTypesResponse;
import io.skyway.proto.RegisterTypesRequest;
import io.skyway.proto.RegisterTypesResponse;
import io.skyway.proto.TypeRegistryGrpc;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RegistryTypeIdsTest {
    private final List<Integer> registered = new ArrayList<>();
    private final List<Integer> lookedUp = new ArrayList<>();
    private Server server;
    private ManagedChannel channel;
    private RegistryTypeIds ids;

    /** Ids are 1 more than the instance size. */
    private final class Registry extends TypeRegistryGrpc.TypeRegistryImplBase {
        @Override
        public void register(RegisterTypesRequest request, StreamObserver<RegisterTypesResponse> out) {
            registered.add(request.getTypesCount());
            RegisterTypesResponse.Builder r = RegisterTypesResponse.newBuilder();
            request.getTypesList().forEach(t -> r.addIds(t.getInstanceBytes() + 1));
            out.onNext(r.build());
            out.onCompleted();
        }

        @Override
        public void lookup(LookupTypesRequest request, StreamObserver<LookupTypesResponse> out) {
            lookedUp.add(request.getIdsCount());
            if (request.getIdsList().contains(999)) {
                out.onError(Status.NOT_FOUND.withDescription("no type 999").asRuntimeException());
                return;
            }
            LookupTypesResponse.Builder r = LookupTypesResponse.newBuilder();
            request.getIdsList().forEach(id -> r.addTypes(Descriptors.toProto(type(id - 1))));
            out.onNext(r.build());
            out.onCompleted();
        }
    }

    @BeforeEach
    void start() throws Exception {
        server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(new Registry())
                .build()
                .start();
        channel = NettyChannelBuilder.forAddress(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), server.getPort()))
                .usePlaintext()
                .build();
        ids = new RegistryTypeIds(channel);
    }

    @AfterEach
    void stop() {
        channel.shutdownNow();
        server.shutdownNow();
    }

    private static TypeDescriptor type(int bytes) {
        return new TypeDescriptor(
                "com.acme.T" + bytes,
                TypeDescriptor.Kind.INSTANCE,
                bytes,
                0,
                0,
                List.of(new TypeDescriptor.FieldDescriptor("com.acme.T" + bytes, "f", "int", 12)),
                "java.lang.Object",
                new byte[] {(byte) bytes, (byte) (bytes >> 8)});
    }

    @Test
    void aTypeIsAskedForOnce() {
        assertArrayEquals(new int[] {17, 25, 17}, ids.register(List.of(type(16), type(24), type(16))));
        assertArrayEquals(new int[] {25}, ids.register(List.of(type(24))));
        assertEquals("com.acme.T16", ids.lookup(new int[] {17}).get(0).className());
        assertEquals(List.of(2), registered);
        assertEquals(List.of(), lookedUp);
    }

    @Test
    void descriptorsSurviveTheWire() {
        TypeDescriptor t = ids.lookup(new int[] {33, 33}).get(1);
        assertEquals(type(32).fields(), t.fields());
        assertEquals(type(32).superName(), t.superName());
        assertArrayEquals(type(32).fingerprint(), t.fingerprint());
        assertArrayEquals(new int[] {33}, ids.register(List.of(type(32))));
        assertEquals(List.of(1), lookedUp);
        assertEquals(List.of(), registered);
    }

    @Test
    void manyTypesTakeFewCalls() {
        List<TypeDescriptor> many = new ArrayList<>();
        for (int i = 1; i <= 2500; i++) {
            many.add(type(i));
        }
        assertEquals(2500, ids.register(many).length);
        assertEquals(List.of(1000, 1000, 500), registered);
    }

    @Test
    void anUnknownIdMeansAForeignImage() {
        SkywayException e = assertThrows(SkywayException.class, () -> ids.lookup(new int[] {999}));
        assertEquals(Kind.BAD_IMAGE, e.kind());
        assertTrue(e.getMessage().contains("999"), e.getMessage());
    }

    @Test
    void aMissingOrchestratorIsALinkError() throws Exception {
        server.shutdownNow().awaitTermination();
        SkywayException e = assertThrows(SkywayException.class, () -> ids.register(List.of(type(8))));
        assertEquals(Kind.LINK, e.kind());
    }
}

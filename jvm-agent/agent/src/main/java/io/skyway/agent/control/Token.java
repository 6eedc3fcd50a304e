package io.skyway.agent.control;

import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallExecutorSupplier;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** The session's token, in the metadata of every call in both directions. */
public final class Token {
    private static final Metadata.Key<String> KEY = Metadata.Key.of("skyway-token", Metadata.ASCII_STRING_MARSHALLER);

    private final String text;
    private final byte[] bytes;

    public Token(String text) {
        this.text = text;
        this.bytes = text.getBytes(StandardCharsets.UTF_8);
    }

    /** In constant time, so that a wrong token says nothing about the right one. */
    boolean matches(String given) {
        return given != null && MessageDigest.isEqual(bytes, given.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Where a call goes on: one without the token stays on the few threads that look at headers.
     *
     * @param threads for the others
     */
    ServerCallExecutorSupplier executor(Executor threads) {
        return new ServerCallExecutorSupplier() {
            @Override
            public <Q, R> Executor getExecutor(ServerCall<Q, R> call, Metadata headers) {
                return matches(headers.get(KEY)) ? threads : null;
            }
        };
    }

    /**
     * Ends every call without the token with UNAUTHENTICATED.
     *
     * @param known is told the attributes of connections on which there was one
     */
    ServerInterceptor server(Consumer<Attributes> known) {
        return new ServerInterceptor() {
            @Override
            public <Q, R> ServerCall.Listener<Q> interceptCall(
                    ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
                if (matches(headers.get(KEY))) {
                    known.accept(call.getAttributes());
                    return next.startCall(call, headers);
                }
                call.close(
                        Status.UNAUTHENTICATED.withDescription("the metadata has no valid skyway-token"),
                        new Metadata());
                return new ServerCall.Listener<>() {};
            }
        };
    }

    /** Adds the token to every call. */
    ClientInterceptor client() {
        return new ClientInterceptor() {
            @Override
            public <Q, R> ClientCall<Q, R> interceptCall(
                    MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
                return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
                    @Override
                    public void start(Listener<R> listener, Metadata headers) {
                        headers.put(KEY, text);
                        super.start(listener, headers);
                    }
                };
            }
        };
    }
}

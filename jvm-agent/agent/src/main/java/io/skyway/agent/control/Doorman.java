package io.skyway.agent.control;

import io.grpc.Attributes;
import io.grpc.Grpc;
import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ServerChannel;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerSocketChannel;
import java.net.SocketAddress;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Watches the connections to the control port on which no call with the token has come yet: there may be so many, the
 * oldest makes room for the newest, and none may stay for long. gRPC by itself would keep each one for ever.
 */
final class Doorman {
    /** Far more than one event loop accepts between a connection and the first call on it. */
    static final int MOST = 512;

    private static final long PATIENCE_SECONDS = 10;

    /** The oldest first, by the peer's address. */
    private final Map<SocketAddress, Channel> strangers = new LinkedHashMap<>();

    /** A listening channel that this doorman watches. */
    ServerChannel newServerChannel() {
        return new NioServerSocketChannel() {
            @Override
            protected int doReadMessages(List<Object> accepted) throws Exception {
                int n = super.doReadMessages(accepted);
                if (n > 0) {
                    arrived((Channel) accepted.get(accepted.size() - 1), this);
                }
                return n;
            }
        };
    }

    private void arrived(Channel channel, Channel listener) {
        SocketAddress peer = channel.remoteAddress();
        if (peer == null) {
            // Gone again; its first read says so.
            return;
        }
        Channel oldest = null;
        synchronized (strangers) {
            if (strangers.size() >= MOST) {
                oldest = strangers.remove(strangers.keySet().iterator().next());
            }
            strangers.put(peer, channel);
        }
        if (oldest != null) {
            hangUp(oldest);
        }
        Future<?> limit = listener.eventLoop()
                .schedule(
                        () -> {
                            if (forget(peer, channel)) {
                                hangUp(channel);
                            }
                        },
                        PATIENCE_SECONDS,
                        TimeUnit.SECONDS);
        channel.closeFuture().addListener(done -> {
            forget(peer, channel);
            limit.cancel(false);
        });
    }

    /** At once: closing it in the ordinary way waits ten more seconds for an answer to gRPC's farewell. */
    private static void hangUp(Channel channel) {
        channel.eventLoop().execute(() -> channel.unsafe().close(channel.newPromise()));
    }

    private boolean forget(SocketAddress peer, Channel channel) {
        synchronized (strangers) {
            return strangers.remove(peer, channel);
        }
    }

    /** A call with the token has come on the connection with these attributes: it may stay. */
    void known(Attributes connection) {
        SocketAddress peer = connection.get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
        if (peer != null) {
            synchronized (strangers) {
                strangers.remove(peer);
            }
        }
    }
}

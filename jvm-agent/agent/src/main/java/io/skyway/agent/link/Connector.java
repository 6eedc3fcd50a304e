package io.skyway.agent.link;

import io.skyway.agent.link.Handshake.Hello;
import io.skyway.agent.link.Handshake.Reply;
import io.skyway.core.Layout;
import io.skyway.core.SkywayException;
import io.skyway.core.SkywayException.Kind;
import io.skyway.core.SlotPool;
import io.skyway.proto.OpenLinkRequest;
import io.skyway.proto.Transport;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.Future;

/** Connects to a prepared link. */
final class Connector {
    private static final long HANDSHAKE_MILLIS = 10_000;

    private final LinkContext context;
    private final OpenLinkRequest request;
    private final Layout peerLayout;

    Connector(LinkContext context, OpenLinkRequest request, Layout peerLayout) {
        this.context = context;
        this.request = request;
        this.peerLayout = peerLayout;
    }

    /**
     * Makes the link.
     *
     * @throws Failure of kind LAYOUT_MISMATCH with all that differs, or LINK
     */
    SenderLink connect(Runnable whenClosed) {
        checkLayout();
        int segmentBytes = Math.min(context.engine().layout().maxSegmentBytes(), peerLayout.maxSegmentBytes());
        int slotBytes = SlotPool.slotBytesFor(segmentBytes);
        SlotPool shared = sharedPool(slotBytes);
        SocketChannel socket = null;
        try {
            InetAddress host = host();
            socket = SocketChannel.open();
            Greeting greeting = greet(socket, host, segmentBytes, slotBytes, shared == null ? -1 : shared.fd());
            Reply reply = greeting.reply();
            boolean useShared = shared != null && reply.sharedMemory();
            if (!useShared && request.getTransport() == Transport.TRANSPORT_SHARED_MEMORY) {
                throw failure(Kind.LINK, "no shared memory with " + request.getPeerName() + ": " + reply.note(), null);
            }
            SlotPool pool = shared;
            if (!useShared) {
                closePool(shared);
                shared = null;
                pool = SlotPool.anonymous(context.engine(), slotBytes, LinkListener.SLOTS);
            }
            return new SenderLink(
                    context,
                    request.getLinkId(),
                    request.getPeerName(),
                    // A receiver sends no blocks.
                    new FrameChannel(greeting.wire(), 0),
                    pool,
                    segmentBytes,
                    useShared ? Transport.TRANSPORT_SHARED_MEMORY : Transport.TRANSPORT_TCP,
                    whenClosed);
        } catch (IOException e) {
            abandon(socket, shared);
            throw failure(
                    Kind.LINK,
                    "no link to " + request.getPeerName() + " at " + request.getHost() + ":" + request.getPort() + ": "
                            + e.getMessage() + ". Was the link prepared, and is its token right?"
                            + (context.tls() == null
                                    ? ""
                                    : " With TLS, both sides need certificates of the same authority, and the"
                                            + " receiver's must name " + request.getHost()),
                    e);
        } catch (RuntimeException e) {
            abandon(socket, shared);
            throw Failure.of(e, Failure.Side.SENDER);
        }
    }

    private void checkLayout() {
        Layout own = context.engine().layout();
        if (own.fingerprint().equals(peerLayout.fingerprint())) {
            return;
        }
        List<String> differences = own.differences(peerLayout);
        throw failure(
                Kind.LAYOUT_MISMATCH,
                "objects lie differently in this JVM and in " + request.getPeerName() + ":\n  "
                        + String.join("\n  ", differences)
                        + "\nStart both with the same JDK release and the same of these options.",
                null);
    }

    private SlotPool sharedPool(int slotBytes) {
        if (request.getTransport() == Transport.TRANSPORT_TCP) {
            return null;
        }
        try {
            return SlotPool.shared(context.engine(), slotBytes, LinkListener.SLOTS);
        } catch (SkywayException e) {
            if (request.getTransport() == Transport.TRANSPORT_SHARED_MEMORY) {
                throw Failure.of(e, Failure.Side.SENDER);
            }
            return null;
        }
    }

    /** The address, before anything is opened. */
    private InetAddress host() throws IOException {
        InetAddress host = InetAddress.getByName(request.getHost());
        if (context.tls() == null && !host.isLoopbackAddress()) {
            throw failure(
                    Kind.USAGE,
                    "links leave the loopback address only with mutual TLS: " + request.getHost()
                            + " is another host. Start the orchestrator with `skyway up --tls`",
                    null);
        }
        return host;
    }

    private record Greeting(Wire wire, Reply reply) {}

    private Greeting greet(SocketChannel socket, InetAddress host, int segmentBytes, int slotBytes, int fd)
            throws IOException {
        Future<?> deadline = Sockets.deadline(context.ticker(), socket, HANDSHAKE_MILLIS);
        try {
            Sockets.configure(socket);
            socket.connect(new InetSocketAddress(host, request.getPort()));
            Wire wire =
                    context.tls() == null ? Wire.plain(socket) : context.tls().connect(socket, host, request.getPort());
            wire.write(request.getToken().asReadOnlyByteBuffer());
            Hello hello = new Hello(
                    Handshake.VERSION,
                    request.getLinkId(),
                    context.engine().layout().fingerprint(),
                    segmentBytes,
                    ProcessHandle.current().pid(),
                    fd,
                    slotBytes);
            wire.write(hello.encode());
            ByteBuffer answer = Sockets.readMessage(wire);
            Reply reply = Reply.decode(answer);
            if (!reply.refusal().isEmpty()) {
                throw failure(Kind.LINK, request.getPeerName() + " refused the link: " + reply.refusal(), null);
            }
            return new Greeting(wire, reply);
        } finally {
            deadline.cancel(false);
        }
    }

    private static void abandon(SocketChannel socket, SlotPool shared) {
        if (socket != null) {
            Sockets.close(socket);
        }
        closePool(shared);
    }

    private static void closePool(SlotPool pool) {
        if (pool != null) {
            pool.close();
        }
    }

    private static Failure failure(Kind kind, String message, Throwable cause) {
        return Failure.of(kind, Failure.Side.SENDER, message, cause);
    }
}

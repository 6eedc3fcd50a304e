package io.skyway.agent.link;

import io.skyway.agent.link.Handshake.Hello;
import io.skyway.agent.link.Handshake.Reply;
import io.skyway.core.Layout;
import io.skyway.core.SkywayException;
import io.skyway.core.SlotPool;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Waits for the one sender that knows the token. Whoever connects without it learns nothing, and cannot keep the right
 * one from connecting.
 */
final class LinkListener implements Link {
    static final int SLOTS = 64;

    private static final long HANDSHAKE_MILLIS = 10_000;
    /** Each has a thread of its own while it lasts. */
    private static final int MOST_HANDSHAKES = 64;
    /** Enough for the right sender, whose token comes with the connection; with TLS there is arithmetic before. */
    private static final long GRACE_MILLIS = 50;

    private static final long TLS_GRACE_MILLIS = 250;
    /** Connections that the system keeps until they are accepted. */
    private static final int BACKLOG = 256;

    private final LinkContext context;
    private final String id;
    private final String peer;
    private final byte[] token = Handshake.newToken();
    private final ServerSocketChannel server;
    private final Lobby lobby;
    private final Consumer<ReceiverLink> accepted;
    private final Runnable whenClosed;
    private final Future<?> expiry;
    private boolean taken;

    /**
     * Listens on the context's address.
     *
     * @param acceptMillis how long
     * @param accepted gets the link, once
     * @param whenClosed called when the link, or the listening without one, has ended
     * @throws SkywayException of kind LINK when the TLS files cannot be used
     * @throws IOException when this JVM cannot listen there
     */
    LinkListener(
            LinkContext context,
            String id,
            String peer,
            long acceptMillis,
            Consumer<ReceiverLink> accepted,
            Runnable whenClosed)
            throws IOException {
        this.context = context;
        this.id = id;
        this.peer = peer;
        this.accepted = accepted;
        this.whenClosed = whenClosed;
        this.lobby = new Lobby(MOST_HANDSHAKES, context.tls() == null ? GRACE_MILLIS : TLS_GRACE_MILLIS);
        if (context.tls() != null) {
            // Now, when someone can be told what is wrong with the files.
            context.tls().load();
        }
        this.server = ServerSocketChannel.open();
        try {
            server.bind(new InetSocketAddress(context.listenOn(), 0), BACKLOG);
        } catch (IOException e) {
            Sockets.close(server);
            throw e;
        }
        this.expiry = context.ticker()
                .schedule(() -> close("no sender connected in time"), acceptMillis, TimeUnit.MILLISECONDS);
        context.threads().execute(this::accept);
    }

    byte[] token() {
        return token.clone();
    }

    InetSocketAddress address() throws IOException {
        return (InetSocketAddress) server.getLocalAddress();
    }

    private void accept() {
        try {
            while (true) {
                SocketChannel socket = server.accept();
                if (!lobby.enter(socket)) {
                    Sockets.close(socket);
                    return;
                }
                try {
                    context.threads().execute(() -> handshake(socket));
                } catch (RejectedExecutionException e) {
                    lobby.leave(socket);
                    Sockets.close(socket);
                    throw e;
                }
            }
        } catch (ClosedChannelException e) {
            // By the link's beginning, by expiry, or on request.
        } catch (IOException | RejectedExecutionException | InterruptedException e) {
            // No file descriptors are left, or the session ends. Better no link at once than one that never comes.
            close("this JVM cannot accept connections: " + e.getMessage());
        }
    }

    private void handshake(SocketChannel socket) {
        ReceiverLink link = null;
        boolean right = false;
        Future<?> deadline = Sockets.deadline(context.ticker(), socket, HANDSHAKE_MILLIS);
        try {
            Sockets.configure(socket);
            Wire wire =
                    context.tls() == null ? Wire.plain(socket) : context.tls().accept(socket);
            ByteBuffer given = Sockets.read(wire, Handshake.TOKEN_BYTES);
            right = Handshake.sameToken(token, given.array()) && take(socket);
            if (right) {
                link = greet(wire, Hello.decode(Sockets.readMessage(wire)), deadline);
            }
        } catch (IOException | RuntimeException e) {
            // The other end learns of it by the closed connection, which it reports.
        } finally {
            deadline.cancel(false);
            lobby.leave(socket);
            if (link == null) {
                Sockets.close(socket);
                if (right) {
                    // Nobody listens any more, and there is no link that could end.
                    whenClosed.run();
                }
            }
        }
        if (link != null) {
            link.run();
        }
    }

    /** The token is good for one connection. */
    private boolean take(SocketChannel socket) {
        synchronized (this) {
            if (taken) {
                return false;
            }
            taken = true;
        }
        expiry.cancel(false);
        Sockets.close(server);
        lobby.leave(socket);
        // The others wait for what will never come.
        lobby.close();
        return true;
    }

    private ReceiverLink greet(Wire wire, Hello hello, Future<?> deadline) throws IOException {
        String refusal = refusal(hello);
        if (!refusal.isEmpty()) {
            wire.write(new Reply(Handshake.VERSION, refusal, false, "").encode());
            return null;
        }
        SlotPool pool = null;
        String note = "";
        if (hello.fd() >= 0) {
            try {
                pool = SlotPool.open(context.engine(), hello.pid(), hello.fd(), hello.slotBytes());
            } catch (SkywayException e) {
                note = e.getMessage();
            }
        }
        boolean shared = pool != null;
        if (pool == null) {
            pool = SlotPool.anonymous(context.engine(), hello.slotBytes(), SLOTS);
        }
        if (!deadline.cancel(false)) {
            // After the reply the sender would take a link for open whose socket closes in the same moment.
            pool.close();
            throw new IOException("the handshake took too long");
        }
        wire.write(new Reply(Handshake.VERSION, "", shared, note).encode());
        FrameChannel channel = new FrameChannel(wire, shared ? FrameType.ACK.limit : hello.slotBytes());
        ReceiverLink link = new ReceiverLink(context, id, peer, channel, pool, shared, whenClosed);
        accepted.accept(link);
        return link;
    }

    private String refusal(Hello hello) {
        Layout own = context.engine().layout();
        if (hello.version() != Handshake.VERSION) {
            return "the receiver speaks version " + Handshake.VERSION + " of the link protocol, the sender version "
                    + hello.version() + ": use the same agent on both sides";
        }
        if (!hello.linkId().equals(id)) {
            return "this address belongs to another link";
        }
        if (!hello.fingerprint().equals(own.fingerprint())) {
            return "the layouts of the two JVMs differ";
        }
        if (hello.segmentBytes() <= 0
                || hello.segmentBytes() > own.maxSegmentBytes()
                || hello.slotBytes() != SlotPool.slotBytesFor(hello.segmentBytes())) {
            return "segments of " + hello.segmentBytes() + " bytes do not fit the receiver, whose limit is "
                    + own.maxSegmentBytes();
        }
        return "";
    }

    @Override
    public void close(String why) {
        synchronized (this) {
            if (taken) {
                return;
            }
            taken = true;
        }
        expiry.cancel(false);
        Sockets.close(server);
        lobby.close();
        whenClosed.run();
    }
}

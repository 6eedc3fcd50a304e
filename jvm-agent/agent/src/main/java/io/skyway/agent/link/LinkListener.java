package io.skyway.agent.link;

import io.skyway.agent.link.Handshake.Hello;
import io.skyway.agent.link.Handshake.Reply;
import io.skyway.core.Layout;
import io.skyway.core.SkywayException;
import io.skyway.core.SlotPool;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Waits for the one sender that knows the token. Whoever connects without it learns nothing, and cannot keep the right
 * one from connecting.
 */
final class LinkListener implements Link {
    static final int SLOTS = 64;

    private static final long HANDSHAKE_MILLIS = 10_000;
    private static final int MOST_HANDSHAKES = 16;

    private final LinkContext context;
    private final String id;
    private final String peer;
    private final byte[] token = Handshake.newToken();
    private final ServerSocketChannel server;
    private final Semaphore handshakes = new Semaphore(MOST_HANDSHAKES);
    private final Consumer<ReceiverLink> accepted;
    private final Runnable whenClosed;
    private final Future<?> expiry;
    private boolean taken;

    /**
     * Listens on the loopback address.
     *
     * @param acceptMillis how long
     * @param accepted gets the link, once
     * @param whenClosed called when the link, or the listening without one, has ended
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
        this.server = ServerSocketChannel.open();
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
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
                if (handshakes.tryAcquire()) {
                    context.threads().execute(() -> handshake(socket));
                } else {
                    Sockets.close(socket);
                }
            }
        } catch (IOException e) {
            // Closed: by the link's beginning, by expiry, or on request.
        }
    }

    private void handshake(SocketChannel socket) {
        ReceiverLink link = null;
        Future<?> deadline = Sockets.deadline(context.ticker(), socket, HANDSHAKE_MILLIS);
        try {
            Sockets.configure(socket);
            ByteBuffer given = Sockets.read(socket, Handshake.TOKEN_BYTES);
            if (Handshake.sameToken(token, given.array()) && take()) {
                link = greet(socket, Hello.decode(Sockets.readMessage(socket)));
            }
        } catch (IOException | RuntimeException e) {
            // The other end learns of it by the closed connection, which it reports.
        } finally {
            deadline.cancel(false);
            handshakes.release();
            if (link == null) {
                Sockets.close(socket);
            }
        }
        if (link != null) {
            link.run();
        }
    }

    /** The token is good for one connection. */
    private synchronized boolean take() {
        if (taken) {
            return false;
        }
        taken = true;
        expiry.cancel(false);
        Sockets.close(server);
        return true;
    }

    private ReceiverLink greet(SocketChannel socket, Hello hello) throws IOException {
        String refusal = refusal(hello);
        if (!refusal.isEmpty()) {
            Sockets.write(socket, new Reply(Handshake.VERSION, refusal, false, "").encode());
            whenClosed.run();
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
        Sockets.write(socket, new Reply(Handshake.VERSION, "", shared, note).encode());
        FrameChannel channel = new FrameChannel(socket, shared ? FrameType.ACK.limit : hello.slotBytes());
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
        whenClosed.run();
    }
}

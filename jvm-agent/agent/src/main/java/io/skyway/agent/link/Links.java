package io.skyway.agent.link;

import com.google.protobuf.ByteString;
import io.skyway.core.Layout;
import io.skyway.core.SkywayException.Kind;
import io.skyway.proto.OpenLinkRequest;
import io.skyway.proto.PrepareLinkRequest;
import io.skyway.proto.PrepareLinkResponse;
import io.skyway.proto.TransferProgress;
import io.skyway.proto.TransferReport;
import io.skyway.proto.TransferRequest;
import io.skyway.proto.Transport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** All links of this JVM, and the transfers that it sends. */
public final class Links {
    private static final long DEFAULT_ACCEPT_MILLIS = 30_000;
    private static final int MOST_REASONS = 64;

    private final LinkContext context;
    private final ConcurrentHashMap<String, Link> links = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<String, Send> sends = new ConcurrentHashMap<>();
    /** Why links that are gone have ended, the last ones: the other side only sees a closed connection. */
    private final Map<String, String> reasons = Collections.synchronizedMap(new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
            return size() > MOST_REASONS;
        }
    });

    public Links(LinkContext context) {
        this.context = context;
    }

    /**
     * Listens for one link. The response lacks the layout and the pid.
     *
     * @throws Failure of kind USAGE when the id is in use, LINK when this JVM cannot listen or its TLS files are unsound
     */
    public PrepareLinkResponse.Builder prepare(PrepareLinkRequest request) {
        String id = request.getLinkId();
        checkNew(id, Failure.Side.RECEIVER);
        long accept = request.getAcceptTimeoutMillis() > 0 ? request.getAcceptTimeoutMillis() : DEFAULT_ACCEPT_MILLIS;
        try {
            LinkListener listener = new LinkListener(
                    context, id, request.getPeerName(), accept, link -> links.put(id, link), () -> ended(id));
            links.putIfAbsent(id, listener);
            InetSocketAddress address = listener.address();
            return PrepareLinkResponse.newBuilder()
                    .setHost(address.getAddress().getHostAddress())
                    .setPort(address.getPort())
                    .setToken(ByteString.copyFrom(listener.token()));
        } catch (IOException e) {
            throw Failure.of(
                    Kind.LINK,
                    Failure.Side.RECEIVER,
                    "this JVM cannot listen for a link at " + context.listenOn().getHostAddress() + ": "
                            + e.getMessage(),
                    e);
        }
    }

    /**
     * Connects to a prepared link. @return the transport that is in use
     *
     * @throws Failure of kind LAYOUT_MISMATCH, LINK or USAGE
     */
    public Transport open(OpenLinkRequest request, Layout peerLayout) {
        String id = request.getLinkId();
        checkNew(id, Failure.Side.SENDER);
        SenderLink link = new Connector(context, request, peerLayout).connect(() -> ended(id));
        links.put(id, link);
        link.start();
        return link.transport();
    }

    private void checkNew(String id, Failure.Side side) {
        if (id.isEmpty() || links.containsKey(id)) {
            throw Failure.of(Kind.USAGE, side, "\"" + id + "\" cannot be a new link's id: it is empty or in use");
        }
    }

    private void ended(String id) {
        Link link = links.get(id);
        String why = link == null ? null : link.closedBecause();
        if (why != null) {
            reasons.put(id, why);
        }
        links.remove(id);
    }

    /**
     * Closes a link, on either side. Nothing happens when it is not open.
     *
     * @return why this side had ended it before; empty when it had not
     */
    public String close(String id, String why) {
        Link link = links.get(id);
        if (link == null) {
            return reasons.getOrDefault(id, "");
        }
        String before = link.closedBecause();
        link.close(why);
        return before == null ? "" : before;
    }

    /** Closes all links. */
    public void closeAll(String why) {
        new ArrayList<>(links.values()).forEach(link -> link.close(why));
    }

    /**
     * Sends one graph; returns once it is visible on the receiver.
     *
     * @param begun is told how the transfer can be cancelled
     * @param progress called every 100 ms or so, on another thread
     * @throws Failure as it happened on either side
     */
    public TransferReport transfer(TransferRequest request, Consumer<Send> begun, Consumer<TransferProgress> progress) {
        Send send = new Send(request);
        if (request.getTransferId().isEmpty() || sends.putIfAbsent(request.getTransferId(), send) != null) {
            throw Failure.of(
                    Kind.USAGE,
                    Failure.Side.SENDER,
                    "\"" + request.getTransferId() + "\" cannot be a new transfer's id: it is empty or in use");
        }
        Counters counters = context.counters();
        try {
            begun.accept(send);
            SenderLink link = sender(request.getLinkId());
            TransferReport report = new Exchange(context, link, send, progress).run();
            counters.sent.incrementAndGet();
            counters.bytesSent.addAndGet(report.getImageBytes());
            return report;
        } catch (RuntimeException e) {
            counters.failed.incrementAndGet();
            throw e;
        } finally {
            sends.remove(request.getTransferId());
        }
    }

    private SenderLink sender(String id) {
        if (links.get(id) instanceof SenderLink link) {
            return link;
        }
        String why = reasons.get(id);
        throw SenderLink.ended(why == null ? "no link \"" + id + "\" is open from this JVM" : why);
    }

    /**
     * Ends a running transfer, whichever side this is.
     *
     * @return false when it is not running here
     */
    public boolean cancel(String transferId, String why) {
        Send send = sends.get(transferId);
        if (send != null) {
            send.cancel(why);
            return true;
        }
        boolean found = false;
        for (Link link : links.values()) {
            found |= link.cancel(transferId, why);
        }
        return found;
    }
}

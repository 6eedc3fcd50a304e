package io.skyway.agent.link;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.ReentrantLock;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;

/**
 * TLS over a blocking socket. On an engine and not on an SSLSocket: closing one of those waits for a writer that is
 * stuck, while closing the socket channel under an engine ends it, as on a plain link.
 */
final class TlsWire implements Wire {
    /** So that a block does not cost a call of the system for every 16 KiB. */
    private static final int RECORDS_AT_ONCE = 8;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0).asReadOnlyBuffer();

    private final SocketChannel socket;
    private final SSLEngine engine;
    private final ReentrantLock writing = new ReentrantLock();
    /** From the socket, not yet decrypted; the reading thread's. */
    private final ByteBuffer incoming;
    /** Decrypted, not yet read; the reading thread's. */
    private final ByteBuffer plain;
    /** Encrypted, not yet on the socket; guarded by {@link #writing}. */
    private final ByteBuffer outgoing;

    private final int recordBytes;

    private TlsWire(SocketChannel socket, SSLEngine engine) {
        this.socket = socket;
        this.engine = engine;
        this.recordBytes = engine.getSession().getPacketBufferSize();
        this.incoming = ByteBuffer.allocateDirect(RECORDS_AT_ONCE * recordBytes).limit(0);
        this.outgoing = ByteBuffer.allocateDirect(RECORDS_AT_ONCE * recordBytes);
        this.plain = ByteBuffer.allocateDirect(engine.getSession().getApplicationBufferSize())
                .limit(0);
    }

    /**
     * Does the handshake on a connected socket. It takes as long as the peer lets it: close the socket to end it.
     *
     * @throws SSLException when one side does not accept the other's certificate or does not speak TLS; the peer is told
     * @throws IOException when the connection breaks
     */
    static TlsWire open(SocketChannel socket, SSLEngine engine) throws IOException {
        TlsWire wire = new TlsWire(socket, engine);
        try {
            wire.handshake();
        } catch (SSLException e) {
            wire.sendAlert();
            throw e;
        }
        return wire;
    }

    private void handshake() throws IOException {
        engine.beginHandshake();
        while (true) {
            HandshakeStatus status = engine.getHandshakeStatus();
            switch (status) {
                case NEED_WRAP -> write(NOTHING);
                case NEED_TASK -> runTasks();
                case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
                    plain.compact();
                    try {
                        if (unwrap(plain).getStatus() == SSLEngineResult.Status.CLOSED) {
                            throw new EOFException("the connection was closed during the TLS handshake");
                        }
                    } finally {
                        plain.flip();
                    }
                }
                default -> {
                    return;
                }
            }
        }
    }

    /** Tells the peer why. What is in the way of that is of no interest: the handshake has failed already. */
    private void sendAlert() {
        try {
            write(NOTHING);
        } catch (IOException e) {
            // It sees the end of the connection.
        }
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
        while (!plain.hasRemaining()) {
            // A block's bytes go to their place without a detour.
            boolean direct = into.remaining() >= plain.capacity();
            SSLEngineResult result;
            if (direct) {
                result = unwrap(into);
            } else {
                plain.clear();
                try {
                    result = unwrap(plain);
                } finally {
                    plain.flip();
                }
            }
            if (result.getStatus() == SSLEngineResult.Status.CLOSED) {
                return -1;
            }
            if (result.getHandshakeStatus() == HandshakeStatus.NEED_TASK) {
                runTasks();
            }
            if (direct && result.bytesProduced() > 0) {
                return result.bytesProduced();
            }
            if (result.bytesConsumed() == 0 && result.getHandshakeStatus() == HandshakeStatus.NEED_WRAP) {
                // Otherwise the answer to a change of keys travels with the next frame.
                write(NOTHING);
            }
        }
        int n = Math.min(plain.remaining(), into.remaining());
        into.put(plain.slice(plain.position(), n));
        plain.position(plain.position() + n);
        return n;
    }

    /** Decrypts a record. CLOSED also when the connection ends without the peer's saying so: frames have their own end. */
    private SSLEngineResult unwrap(ByteBuffer into) throws IOException {
        while (true) {
            SSLEngineResult result = engine.unwrap(incoming, into);
            switch (result.getStatus()) {
                case BUFFER_UNDERFLOW -> {
                    if (!receive()) {
                        return new SSLEngineResult(SSLEngineResult.Status.CLOSED, result.getHandshakeStatus(), 0, 0);
                    }
                }
                case BUFFER_OVERFLOW -> throw new SSLException("a TLS record is larger than any may be");
                default -> {
                    return result;
                }
            }
        }
    }

    private boolean receive() throws IOException {
        incoming.compact();
        try {
            return socket.read(incoming) >= 0;
        } finally {
            incoming.flip();
        }
    }

    @Override
    public void write(ByteBuffer... from) throws IOException {
        writing.lock();
        try {
            boolean more = true;
            while (more) {
                SSLEngineResult result = engine.wrap(from, outgoing);
                if (result.getHandshakeStatus() == HandshakeStatus.NEED_TASK) {
                    runTasks();
                }
                switch (result.getStatus()) {
                    case BUFFER_OVERFLOW -> flush();
                    case CLOSED -> {
                        flush();
                        if (hasRemaining(from)) {
                            throw new ClosedChannelException();
                        }
                    }
                    default -> {}
                }
                more = hasRemaining(from) || result.getStatus() == SSLEngineResult.Status.BUFFER_OVERFLOW;
                if (more && outgoing.remaining() < recordBytes) {
                    flush();
                }
            }
            flush();
        } finally {
            writing.unlock();
        }
    }

    private static boolean hasRemaining(ByteBuffer[] buffers) {
        return buffers[buffers.length - 1].hasRemaining() || buffers[0].hasRemaining();
    }

    private void flush() throws IOException {
        outgoing.flip();
        try {
            while (outgoing.hasRemaining()) {
                socket.write(outgoing);
            }
        } finally {
            outgoing.clear();
        }
    }

    private void runTasks() {
        for (Runnable task = engine.getDelegatedTask(); task != null; task = engine.getDelegatedTask()) {
            task.run();
        }
    }

    @Override
    public boolean isOpen() {
        return socket.isOpen();
    }

    /** Without a farewell: it could wait for a peer that does not read, and no frame depends on it. */
    @Override
    public void close() {
        Sockets.close(socket);
    }
}

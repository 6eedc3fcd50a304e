package io.skyway.agent.link;

import io.skyway.agent.link.FrameHeader.OutOfStepException;
import java.io.EOFException;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** A link's connection before frames travel over it. */
final class Sockets {
    private static final int BUFFER = 1 << 20;

    private Sockets() {}

    static void configure(SocketChannel socket) throws IOException {
        socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
        socket.setOption(StandardSocketOptions.SO_SNDBUF, BUFFER);
        socket.setOption(StandardSocketOptions.SO_RCVBUF, BUFFER);
    }

    /** Closes the socket when the handshake has not ended in time: cancel the result when it has. */
    static Future<?> deadline(ScheduledExecutorService ticker, SocketChannel socket, long millis) {
        return ticker.schedule(() -> close(socket), millis, TimeUnit.MILLISECONDS);
    }

    static ByteBuffer read(Wire wire, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length);
        while (bytes.hasRemaining()) {
            if (wire.read(bytes) < 0) {
                throw new EOFException("the connection was closed");
            }
        }
        return bytes.flip();
    }

    /** A hello or a reply, without its length. */
    static ByteBuffer readMessage(Wire wire) throws IOException {
        int length = read(wire, Integer.BYTES).getInt();
        // The length counts all that follows it.
        if (length < 0 || length > Handshake.MOST_BYTES) {
            throw new OutOfStepException("a handshake of " + length + " bytes is over the limit");
        }
        return read(wire, length);
    }

    static void close(AutoCloseable socket) {
        try {
            socket.close();
        } catch (Exception e) {
            // Nothing depends on it any more.
        }
    }
}

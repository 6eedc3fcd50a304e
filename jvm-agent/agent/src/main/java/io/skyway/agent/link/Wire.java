package io.skyway.agent.link;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** The bytes under a link's frames, plain or encrypted. Blocking. One thread reads; writers take turns by themselves. */
interface Wire extends AutoCloseable {
    /** Reads at least one byte into a buffer that has room. @return how many; -1 at the end of the stream */
    int read(ByteBuffer into) throws IOException;

    /** Writes all that the buffers hold, in order. */
    void write(ByteBuffer... from) throws IOException;

    boolean isOpen();

    /** Ends waiting reads and writes on both sides. */
    @Override
    void close();

    /** The socket's own bytes. */
    static Wire plain(SocketChannel socket) {
        return new Wire() {
            @Override
            public int read(ByteBuffer into) throws IOException {
                return socket.read(into);
            }

            @Override
            public void write(ByteBuffer... from) throws IOException {
                // The system writes in order, but not always everything.
                if (from.length == 1) {
                    while (from[0].hasRemaining()) {
                        socket.write(from[0]);
                    }
                    return;
                }
                ByteBuffer last = from[from.length - 1];
                do {
                    socket.write(from);
                } while (last.hasRemaining());
            }

            @Override
            public boolean isOpen() {
                return socket.isOpen();
            }

            @Override
            public void close() {
                Sockets.close(socket);
            }
        };
    }
}

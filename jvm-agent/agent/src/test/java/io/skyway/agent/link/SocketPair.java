package io.skyway.agent.link;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** Two connected sockets of this process. */
record SocketPair(SocketChannel a, SocketChannel b) implements AutoCloseable {

    static SocketPair open() throws IOException {
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            SocketChannel a = SocketChannel.open(server.getLocalAddress());
            return new SocketPair(a, server.accept());
        }
    }

    @Override
    public void close() throws IOException {
        a.close();
        b.close();
    }
}

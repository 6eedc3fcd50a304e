package io.skyway.agent.link;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.skyway.core.SkywayException;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class TlsWireTest {
    private static final int BLOCK = 1 << 20;

    @TempDir
    private static Path directory;

    private static Tls ours;
    private static Tls others;

    private SocketPair sockets;

    @BeforeAll
    static void makeCertificates() throws Exception {
        ours = new Tls(Certificates.make(directory.resolve("ours"), "127.0.0.1"));
        others = new Tls(Certificates.make(directory.resolve("others"), "127.0.0.1"));
    }

    @BeforeEach
    void connect() throws Exception {
        sockets = SocketPair.open();
    }

    @AfterEach
    void close() throws Exception {
        sockets.close();
    }

    private static <T> FutureTask<T> start(Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        thread.start();
        return task;
    }

    private static <T> T end(FutureTask<T> task) throws Exception {
        return task.get(60, TimeUnit.SECONDS);
    }

    private Wire connecting(Tls tls) throws IOException {
        return tls.connect(sockets.a(), InetAddress.getLoopbackAddress(), 1);
    }

    private FutureTask<Wire> accepting(Tls tls) {
        return start(() -> {
            try {
                return tls.accept(sockets.b());
            } catch (IOException e) {
                // As the listener does.
                sockets.b().close();
                throw e;
            }
        });
    }

    @Test
    void framesPassInBothDirectionsAtOnce() throws Exception {
        FutureTask<Wire> accepted = accepting(ours);
        FrameChannel a = new FrameChannel(connecting(ours), BLOCK);
        FrameChannel b = new FrameChannel(end(accepted), BLOCK);
        byte[] block = new byte[BLOCK];
        new Random(7).nextBytes(block);
        FutureTask<Void> there = start(() -> send(a, block));
        FutureTask<Void> back = start(() -> send(b, block));
        FutureTask<Void> reading = start(() -> receive(a, block));
        receive(b, block);
        end(reading);
        end(there);
        end(back);
        a.close();
        assertThrows(EOFException.class, b::next);
    }

    private static Void send(FrameChannel channel, byte[] block) throws IOException {
        for (int i = 0; i < 20; i++) {
            channel.write(FrameType.BEGIN, i, new byte[] {1, 2, 3});
            channel.writeBlock(i, ByteBuffer.wrap(block));
            channel.writeAlive(i);
        }
        return null;
    }

    private static Void receive(FrameChannel channel, byte[] block) throws IOException {
        for (int i = 0; i < 20; i++) {
            assertArrayEquals(new byte[] {1, 2, 3}, channel.payload(channel.next()));
            FrameHeader frame = channel.next();
            assertEquals(i, frame.transfer());
            ByteBuffer into = ByteBuffer.allocateDirect(frame.length());
            channel.fill(into);
            assertEquals(ByteBuffer.wrap(block), into.flip());
            assertEquals(FrameType.ALIVE, channel.next().type());
        }
        return null;
    }

    @Test
    void closingEndsAWriterWhosePeerDoesNotRead() throws Exception {
        FutureTask<Wire> accepted = accepting(ours);
        Wire a = connecting(ours);
        end(accepted);
        FutureTask<Void> writing = start(() -> {
            while (true) {
                a.write(ByteBuffer.allocate(BLOCK));
            }
        });
        a.close();
        ExecutionException e = assertThrows(ExecutionException.class, () -> end(writing));
        assertTrue(e.getCause() instanceof IOException, e.toString());
    }

    @Test
    void anotherAuthoritysListenerIsRefused() {
        FutureTask<Wire> accepted = accepting(others);
        assertThrows(SSLException.class, () -> connecting(ours));
        // It is told why.
        ExecutionException e = assertThrows(ExecutionException.class, () -> end(accepted));
        assertTrue(e.getCause() instanceof SSLException, e.toString());
    }

    @Test
    void anotherAuthoritysConnectionIsRefused() throws Exception {
        Path mixed = Files.createDirectory(directory.resolve("mixed"));
        Files.copy(directory.resolve("ours/ca.pem"), mixed.resolve("ca.pem"));
        Files.copy(directory.resolve("others/identity.p12"), mixed.resolve("identity.p12"));
        Files.copy(directory.resolve("others/password"), mixed.resolve("password"));
        FutureTask<Wire> accepted = accepting(ours);
        // Its own handshake may end well: that it was refused comes with the first answer.
        assertThrows(IOException.class, () -> connecting(new Tls(mixed)).read(ByteBuffer.allocate(1)));
        ExecutionException e = assertThrows(ExecutionException.class, () -> end(accepted));
        assertTrue(e.getCause() instanceof SSLException, e.toString());
    }

    @Test
    void aCertificateForAnotherAddressIsRefused() throws Exception {
        Tls elsewhere = new Tls(Certificates.make(directory.resolve("elsewhere"), "192.0.2.1"));
        FutureTask<Wire> accepted = accepting(elsewhere);
        SSLException e = assertThrows(SSLException.class, () -> connecting(elsewhere));
        assertTrue(e.getMessage().contains("127.0.0.1"), e.getMessage());
        assertThrows(ExecutionException.class, () -> end(accepted));
    }

    @Test
    void aPlainPeerIsRefused() throws Exception {
        FutureTask<Wire> accepted = accepting(ours);
        Wire.plain(sockets.a()).write(ByteBuffer.wrap(Handshake.newToken()));
        ExecutionException e = assertThrows(ExecutionException.class, () -> end(accepted));
        assertTrue(e.getCause() instanceof SSLException, e.toString());
    }

    @Test
    void filesThatOthersCanReadAreRefused() throws Exception {
        Path open = Certificates.make(directory.resolve("open"), "127.0.0.1");
        Files.setPosixFilePermissions(open.resolve("identity.p12"), PosixFilePermissions.fromString("rw-r--r--"));
        SkywayException e = assertThrows(SkywayException.class, () -> new Tls(open).load());
        assertTrue(e.getMessage().contains("chmod 600"), e.getMessage());
        SkywayException none = assertThrows(SkywayException.class, () -> new Tls(directory.resolve("none")).load());
        assertTrue(none.getMessage().contains("ca.pem"), none.getMessage());
    }
}

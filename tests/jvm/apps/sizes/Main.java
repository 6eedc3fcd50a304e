package sizes;

import io.skyway.api.Skyway;
import io.skyway.api.SkywayObjectInputStream;
import io.skyway.api.SkywayObjectOutputStream;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;

/** An application that checks what arrives, and that sends small records to another one over an object stream. */
public final class Main {
    record Small(int number, String text, int[] values) {}

    /** Records between two resets of a stream. */
    private static final int PHASE = 1000;

    private Main() {}

    public static void main(String[] args) throws Exception {
        Skyway.onReceive("checked", Parcel.class, Main::check);
        Skyway.onReceive("collect", Object.class, graph -> System.gc());
        if (args.length > 0 && args[0].equals("read")) {
            read();
        } else if (args.length > 0 && args[0].equals("churn")) {
            churn();
        } else if (args.length > 0) {
            write(Integer.parseInt(args[1]), Long.parseLong(args[2]), Double.parseDouble(args[3]));
        }
        new CountDownLatch(1).await();
    }

    private static void check(Parcel parcel) {
        long begun = System.nanoTime();
        parcel.shape().check(parcel.graph(), parcel.size());
        System.out.println("checked " + parcel.shape().name().toLowerCase(Locale.ROOT) + " " + parcel.size() + " "
                + (System.nanoTime() - begun) / 1_000_000);
    }

    /** About 100 MB a second. */
    private static void churn() throws InterruptedException {
        for (byte[] fresh = {}; fresh != null; ) {
            for (int i = 0; i < 50; i++) {
                fresh = new byte[10_000];
            }
            Thread.sleep(5);
        }
    }

    /** Prints its port, and at the end how many records have come and were right. */
    private static void read() throws IOException, ClassNotFoundException {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            System.out.println("port " + server.getLocalPort());
            try (Socket socket = server.accept();
                    SkywayObjectInputStream in =
                            new SkywayObjectInputStream(new BufferedInputStream(socket.getInputStream(), 1 << 16))) {
                int count = 0;
                for (Object o = in.readObject(); o instanceof Small s; o = in.readObject()) {
                    Shape.require(
                            s.number == count
                                    && s.text.equals("record " + count)
                                    && s.values.length == 8
                                    && s.values[7] == count,
                            count);
                    count++;
                }
                System.out.println("read " + count);
            }
        }
    }

    /** Until so many are written, or the time is over; then prints how many that were. */
    private static void write(int port, long count, double seconds) throws IOException {
        long until = System.nanoTime() + (long) (seconds * 1e9);
        int i = 0;
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
                SkywayObjectOutputStream out =
                        new SkywayObjectOutputStream(new BufferedOutputStream(socket.getOutputStream(), 1 << 16))) {
            for (; i < count && System.nanoTime() < until; i++) {
                int[] values = new int[8];
                values[7] = i;
                out.writeObject(new Small(i, "record " + i, values));
                if (i % PHASE == PHASE - 1) {
                    out.reset();
                }
            }
            out.writeObject("the end");
        }
        System.out.println("written " + i);
    }
}

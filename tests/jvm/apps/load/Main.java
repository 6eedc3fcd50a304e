package load;

import com.sun.management.HotSpotDiagnosticMXBean;
import io.skyway.api.Skyway;
import io.skyway.api.SkywayObjectInputStream;
import io.skyway.api.SkywayObjectOutputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import javax.management.ObjectName;

/**
 * An application that does to the virtual machine all that may disturb transfers, while it sends and receives: allocates,
 * forces collections, dumps and walks the heap, fights for locks of objects that leave and of objects that came, loads and
 * unloads classes so that compiled code is thrown away, changes graphs while they leave, and keeps what came, to lock,
 * hash, change, check and send it back much later.
 *
 * <p>Begins when a graph has arrived as {@code start}. Arguments: seed, items in a parcel at most, items that are kept at
 * most, directory for heap dumps. Prints a line of counts every two seconds, and one that begins with {@code DIFFERENCE}
 * for whatever is not as it should be.
 */
public final class Main {
    private static final int PARCELS = 4;
    private static final int LANES = 8;
    private static final int CHURN_BYTES_PER_MILLI = 30_000;

    private final Random seeds;
    private final int largest;
    private final int mostKept;
    private final Path directory;

    /** Guarded by itself. */
    private final ArrayDeque<Parcel> kept = new ArrayDeque<>();

    private final Parcel[] published = new Parcel[PARCELS];
    private volatile Parcel.Item contended;
    private volatile Object[] shifting;

    private final AtomicLong received = new AtomicLong();
    private final AtomicLong checks = new AtomicLong();
    private final AtomicLong changes = new AtomicLong();
    private final AtomicLong locks = new AtomicLong();
    private final AtomicLong collections = new AtomicLong();
    private final AtomicLong dumps = new AtomicLong();
    private final AtomicLong walks = new AtomicLong();
    private final AtomicLong streams = new AtomicLong();

    private Main(String[] args) throws IOException {
        seeds = new Random(Long.parseLong(args[0]));
        largest = Integer.parseInt(args[1]);
        mostKept = Integer.parseInt(args[2]);
        directory = Files.createTempDirectory(Path.of(args[3]), "dumps");
    }

    private interface Body {
        void run(Random random) throws Exception;
    }

    public static void main(String[] args) throws Exception {
        new Main(args).run();
    }

    private void run() throws Exception {
        for (int lane = 0; lane < LANES; lane++) {
            Skyway.onReceive("lane " + lane, Object.class, this::arrived);
        }
        for (int i = 0; i < PARCELS; i++) {
            renew(i, seeds);
        }
        shift(seeds);
        Skyway.publish("returned", published[0]);
        unload(seeds);
        System.out.println("ready");
        while (Skyway.peek("start") == null) {
            Thread.sleep(10);
        }
        start("churn", 1, this::churn);
        start("lock 1", 0, this::lock);
        start("lock 2", 0, this::lock);
        start("collect", 700, r -> {
            System.gc();
            collections.incrementAndGet();
        });
        start("dump", 20_000, this::dump);
        start("walk", 5_000, this::walk);
        start("unload", 200, this::unload);
        start("change", 1, this::shift);
        start("renew", 3_000, r -> renew(r.nextInt(PARCELS), r));
        start("keep 1", 20, this::use);
        start("keep 2", 20, this::use);
        start("stream", 500, this::stream);
        start("count", 2_000, r -> count());
        new CountDownLatch(1).await();
    }

    /** A thread that does something again and again, with pauses of twice so many milliseconds at most. */
    private void start(String name, int millis, Body body) {
        Random random = new Random(seeds.nextLong());
        Thread thread = new Thread(
                () -> {
                    try {
                        while (true) {
                            body.run(random);
                            if (millis > 0) {
                                Thread.sleep(random.nextInt(2 * millis));
                            }
                        }
                    } catch (Throwable e) {
                        // An OutOfMemoryError too: nothing here needs more than the heap has.
                        difference(name, e);
                    }
                },
                name);
        thread.setDaemon(true);
        thread.start();
    }

    private static void difference(String where, Throwable what) {
        System.out.println("DIFFERENCE " + where + ": " + what);
        what.printStackTrace(System.out);
    }

    private void arrived(Object graph) {
        received.incrementAndGet();
        if (!(graph instanceof Parcel parcel)) {
            return;
        }
        try {
            parcel.check();
        } catch (RuntimeException e) {
            difference("on arrival", e);
        }
        checks.incrementAndGet();
        synchronized (kept) {
            kept.add(parcel);
            int items = 0;
            for (Parcel each : kept) {
                items += each.size();
            }
            while (items > mostKept) {
                items -= kept.remove().size();
            }
        }
    }

    private void renew(int i, Random random) {
        Parcel parcel = Parcel.of(random.nextLong(), 1 + random.nextInt(largest));
        published[i] = parcel;
        contended = parcel.item(random);
        Skyway.publish("parcel " + i, parcel);
    }

    private void churn(Random random) {
        byte[][] fresh = new byte[CHURN_BYTES_PER_MILLI / 1_000][];
        for (int i = 0; i < fresh.length; i++) {
            fresh[i] = new byte[random.nextInt(2_000)];
        }
    }

    /** Two threads want the same objects' monitors, and wait on them, so that they are inflated, and then deflated. */
    private void lock(Random random) throws InterruptedException {
        Parcel.Item item = contended;
        for (int i = 0; i < 100; i++) {
            item.touch();
            System.identityHashCode(item.parent);
        }
        synchronized (item) {
            item.wait(1);
        }
        locks.incrementAndGet();
        Parcel parcel = random.nextBoolean() ? published[random.nextInt(PARCELS)] : any(random);
        if (parcel != null) {
            contended = parcel.item(random);
        }
    }

    /** Any of those that are kept; null when there is none. */
    private Parcel any(Random random) {
        synchronized (kept) {
            int skip = kept.isEmpty() ? 0 : random.nextInt(kept.size());
            for (Parcel parcel : kept) {
                if (skip-- == 0) {
                    return parcel;
                }
            }
        }
        return null;
    }

    /** One thread at a time has a parcel, as it may change it. */
    private void use(Random random) {
        Parcel parcel;
        synchronized (kept) {
            parcel = any(random);
            if (parcel == null || !kept.remove(parcel)) {
                return;
            }
        }
        parcel.check();
        for (int i = 0; i < 50; i++) {
            parcel.item(random).touch();
            System.identityHashCode(parcel.item(random));
        }
        if (random.nextInt(3) == 0) {
            parcel.change(random);
            parcel.check();
            changes.incrementAndGet();
        }
        checks.incrementAndGet();
        if (random.nextInt(20) == 0) {
            // Nobody changes it from now on.
            Skyway.publish("returned", parcel);
            return;
        }
        synchronized (kept) {
            kept.add(parcel);
        }
    }

    private void dump(Random random) throws Exception {
        Path file = directory.resolve("heap.hprof");
        try {
            ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                    .dumpHeap(file.toString(), random.nextBoolean());
        } finally {
            Files.deleteIfExists(file);
        }
        dumps.incrementAndGet();
    }

    private void walk(Random random) throws Exception {
        ObjectName name = new ObjectName("com.sun.management:type=DiagnosticCommand");
        String[] options = random.nextBoolean() ? new String[] {"-all"} : new String[0];
        ManagementFactory.getPlatformMBeanServer()
                .invoke(name, "gcClassHistogram", new Object[] {options}, new String[] {String[].class.getName()});
        ManagementFactory.getThreadMXBean().dumpAllThreads(true, true);
        walks.incrementAndGet();
    }

    /** Loads a class once more, runs it in code that was compiled without it, and publishes objects of it. */
    private void unload(Random random) throws Exception {
        byte[] bytes;
        try (InputStream in = Main.class.getResourceAsStream("Unloadable.class")) {
            bytes = in.readAllBytes();
        }
        ClassLoader loader = new ClassLoader(Main.class.getClassLoader()) {
            @Override
            protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
                return name.equals("load.Unloadable") && findLoadedClass(name) == null
                        ? defineClass(name, bytes, 0, bytes.length)
                        : super.loadClass(name, resolve);
            }
        };
        Base plain = new Base();
        long sum = 0;
        for (int i = 0; i < 100_000; i++) {
            sum += plain.next();
        }
        var constructor = loader.loadClass("load.Unloadable").getDeclaredConstructor();
        constructor.setAccessible(true);
        List<Object> graph = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            Base base = (Base) constructor.newInstance();
            sum += base.next();
            graph.add(base);
        }
        graph.add(sum);
        Skyway.publish("unloadable", graph);
    }

    /** A graph whose references change all the time. */
    private void shift(Random random) {
        Object[] cells = shifting;
        if (cells == null || random.nextInt(1_000) == 0) {
            cells = new Object[1_000 + random.nextInt(largest)];
            shifting = cells;
            Skyway.publish("shifting", cells);
        }
        for (int i = 0; i < 200; i++) {
            int cell = random.nextInt(cells.length);
            cells[cell] = switch (random.nextInt(5)) {
                case 0 -> new Object[] {cells[random.nextInt(cells.length)], "shifted"};
                case 1 -> cells[random.nextInt(cells.length)];
                case 2 -> new byte[random.nextInt(500)];
                case 3 -> Parcel.Kind.LARGE;
                default -> null;
            };
        }
    }

    /** Through a stream and back, in this virtual machine. */
    private void stream(Random random) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (SkywayObjectOutputStream out = new SkywayObjectOutputStream(bytes)) {
            out.writeObject(Parcel.of(random.nextLong(), 1 + random.nextInt(200)));
        }
        try (SkywayObjectInputStream in = new SkywayObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            ((Parcel) in.readObject()).check();
        }
        streams.incrementAndGet();
    }

    private void count() {
        System.out.println("counts received=" + received + " checks=" + checks + " changes=" + changes + " locks="
                + locks
                + " forced_collections=" + collections + " dumps=" + dumps + " walks=" + walks + " streams=" + streams
                + " unloaded_classes="
                + ManagementFactory.getClassLoadingMXBean().getUnloadedClassCount());
    }
}

package io.skyway.agent.link;

import io.skyway.proto.GcActivity;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;

/** Collections and their time since it was made. */
public final class GcMeter {
    private final long collections;
    private final long millis;

    /** Starts now. */
    public GcMeter() {
        GcActivity now = total();
        collections = now.getCollections();
        millis = now.getMillis();
    }

    /** Since this meter was made. */
    public GcActivity activity() {
        GcActivity now = total();
        return GcActivity.newBuilder()
                .setCollections(now.getCollections() - collections)
                .setMillis(now.getMillis() - millis)
                .build();
    }

    /** Since the JVM's start. */
    public static GcActivity total() {
        long collections = 0;
        long millis = 0;
        for (GarbageCollectorMXBean bean : Beans.ALL) {
            // -1 means that the bean does not count it.
            collections += Math.max(0, bean.getCollectionCount());
            millis += Math.max(0, bean.getCollectionTime());
        }
        return GcActivity.newBuilder()
                .setCollections(collections)
                .setMillis(millis)
                .build();
    }

    /** The management beans load many classes: not before they are asked for. */
    private static final class Beans {
        static final List<GarbageCollectorMXBean> ALL = ManagementFactory.getGarbageCollectorMXBeans();
    }
}

package io.skyway.bench.workload;

import io.skyway.api.Workload;
import java.util.ArrayList;
import java.util.Random;

/**
 * Records of the Java serializer benchmark in a list: 26 objects and two enum constants each. Every string is an object
 * of its own with characters of its own, as in records that were read from somewhere; one in four titles is not Latin-1.
 */
public final class MediaWorkload implements Workload {
    private static final String[] TITLES = {
        "Javaone Keynote",
        "Ключевой доклад",
        "Conférence d'ouverture",
        "Opening Session",
        "Javaone Résumé",
        "基調講演",
        "Closing Panel",
        "Year in Review"
    };
    private static final String[] PERSONS = {
        "Bill Gates",
        "Steve Jobs",
        "Grace Hopper",
        "Łukasz Żółć",
        "Ada Lovelace",
        "Ken Thompson",
        "Anita Borg",
        "José Sá"
    };

    @Override
    public String name() {
        return "media";
    }

    /** Records. */
    @Override
    public long defaultSize() {
        return 100_000;
    }

    /** @throws IllegalArgumentException when the size is not that of a list */
    @Override
    public Object build(long size, long seed) {
        int count = Workloads.count(name(), size);
        Random random = new Random(seed);
        ArrayList<MediaContent> records = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            records.add(record(i, random));
        }
        return records;
    }

    private static MediaContent record(int i, Random random) {
        String title = TITLES[random.nextInt(TITLES.length)];
        MediaContent content = new MediaContent();
        content.media = media(i, title, random);
        content.images = new ArrayList<>();
        content.images.add(image(i, "large", fresh(title), 1024, 768, Image.Size.LARGE));
        content.images.add(image(i, "small", null, 320, 240, Image.Size.SMALL));
        return content;
    }

    private static Media media(int i, String title, Random random) {
        Media media = new Media();
        media.uri = "http://javaone.com/keynote_" + i + ".mpg";
        media.title = fresh(title);
        media.width = 640;
        media.height = 480;
        media.format = fresh("video/mpg4");
        media.duration = 18_000_000 + random.nextInt(1_000_000);
        media.size = 58_982_400 + random.nextInt(1_000_000);
        media.bitrate = 262_144;
        media.hasBitrate = random.nextBoolean();
        media.persons = new ArrayList<>();
        media.persons.add(fresh(PERSONS[random.nextInt(PERSONS.length)]));
        media.persons.add(fresh(PERSONS[random.nextInt(PERSONS.length)]));
        media.player = random.nextBoolean() ? Media.Player.JAVA : Media.Player.FLASH;
        return media;
    }

    private static Image image(int i, String kind, String title, int width, int height, Image.Size size) {
        Image image = new Image();
        image.uri = "http://javaone.com/keynote_" + kind + "_" + i + ".jpg";
        image.title = title;
        image.width = width;
        image.height = height;
        image.size = size;
        return image;
    }

    /** The copy constructor would share the characters. */
    private static String fresh(String text) {
        return new String(text.toCharArray());
    }
}

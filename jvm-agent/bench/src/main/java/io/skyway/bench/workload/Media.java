package io.skyway.bench.workload;

import java.io.Serializable;
import java.util.ArrayList;

/** The film of a {@link MediaContent}. */
public final class Media implements Serializable {
    private static final long serialVersionUID = 1L;

    /** The program that plays it. */
    public enum Player {
        JAVA,
        FLASH
    }

    public String uri;
    /** May be null. */
    public String title;
    /** Pixels. */
    public int width;
    /** Pixels. */
    public int height;

    public String format;
    /** Milliseconds. */
    public long duration;
    /** Bytes. */
    public long size;
    /** Bits a second; says something only when {@link #hasBitrate}. */
    public int bitrate;

    public boolean hasBitrate;
    public ArrayList<String> persons;
    public Player player;
    /** May be null. */
    public String copyright;
}

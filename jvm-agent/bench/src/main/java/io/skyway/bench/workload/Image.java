package io.skyway.bench.workload;

import java.io.Serializable;

/** A picture of a {@link MediaContent}. */
public final class Image implements Serializable {
    private static final long serialVersionUID = 1L;

    /** How large it is shown. */
    public enum Size {
        SMALL,
        LARGE
    }

    public String uri;
    /** May be null. */
    public String title;
    /** Pixels. */
    public int width;
    /** Pixels. */
    public int height;

    public Size size;
}

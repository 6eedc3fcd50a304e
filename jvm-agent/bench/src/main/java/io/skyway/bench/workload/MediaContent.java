package io.skyway.bench.workload;

import java.io.Serializable;
import java.util.ArrayList;

/** The record of the Java serializer benchmark. */
public final class MediaContent implements Serializable {
    private static final long serialVersionUID = 1L;

    public Media media;
    public ArrayList<Image> images;
}

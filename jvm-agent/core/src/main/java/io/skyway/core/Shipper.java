package io.skyway.core;

/** Whoever takes the blocks of an image while {@link ImageWriter} writes it. */
public interface Shipper {
    /** Called by the walking thread after a window: {@link ImageWriter#take} may have blocks. */
    void betweenWindows();

    /**
     * Called by the walking thread before a window that lasts until the image's end: from now on another thread must
     * take the blocks, or they fill the memory. May be called again.
     */
    void beforeLongWindow();
}

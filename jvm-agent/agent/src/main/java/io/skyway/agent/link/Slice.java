package io.skyway.agent.link;

/** A block as the reading thread hands it to the landing thread. */
record Slice(int slot, int length) {
    /** After the last block. */
    static final Slice END = new Slice(-1, 0);
}

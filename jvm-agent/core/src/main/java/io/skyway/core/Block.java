package io.skyway.core;

/**
 * One finished block of an image, in native memory of a {@link SlotPool}. Send the bytes as they are; they hold their
 * own header, lengths and checksum.
 *
 * @param slot index of the slot in the pool
 * @param address native address of the first byte, in this process
 * @param length bytes
 * @param last true for the image's last block
 */
public record Block(int slot, long address, int length, boolean last) {}

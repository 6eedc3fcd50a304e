package io.skyway.agent.verify;

import java.util.Arrays;

/**
 * Numbers objects by identity, from 0 on, in the order of their first look-up. 20 to 26 bytes an object; looking up an
 * object whose identity hash meets no equal one touches no other object.
 */
final class ObjectTable {
    /** Three quarters of the largest index there can be. */
    static final int MAX_OBJECTS = 3 << 28;

    private static final int CHUNK_SHIFT = 16;
    private static final int CHUNK = 1 << CHUNK_SHIFT;
    private static final long ORDINAL_MASK = 0xffff_ffffL;

    private Object[][] chunks = new Object[16][];
    /** Open addressing, linear probing. Identity hash above, ordinal + 1 below; 0 is free. */
    private long[] index = new long[1 << 12];

    private int size;

    int size() {
        return size;
    }

    Object get(int ordinal) {
        return chunks[ordinal >>> CHUNK_SHIFT][ordinal & (CHUNK - 1)];
    }

    /**
     * The number of an object; a new one when it has none.
     *
     * @throws IllegalStateException when {@link #MAX_OBJECTS} have got one
     */
    int ordinal(Object o) {
        int hash = System.identityHashCode(o);
        int mask = index.length - 1;
        for (int i = spread(hash) & mask; ; i = (i + 1) & mask) {
            long entry = index[i];
            if (entry == 0) {
                index[i] = (long) hash << 32 | (size + 1);
                return add(o);
            }
            if ((int) (entry >>> 32) == hash) {
                int ordinal = (int) (entry & ORDINAL_MASK) - 1;
                if (get(ordinal) == o) {
                    return ordinal;
                }
            }
        }
    }

    private int add(Object o) {
        if (size == MAX_OBJECTS) {
            throw new IllegalStateException("the graph has more than " + MAX_OBJECTS
                    + " objects; its digest cannot be computed. Verify its parts instead");
        }
        int chunk = size >>> CHUNK_SHIFT;
        if (chunk == chunks.length) {
            chunks = Arrays.copyOf(chunks, chunk * 2);
        }
        if (chunks[chunk] == null) {
            chunks[chunk] = new Object[CHUNK];
        }
        chunks[chunk][size & (CHUNK - 1)] = o;
        int ordinal = size++;
        if (size > index.length / 4 * 3) {
            grow();
        }
        return ordinal;
    }

    private void grow() {
        if (index.length == 1 << 30) {
            return;
        }
        long[] larger = new long[index.length * 2];
        int mask = larger.length - 1;
        for (long entry : index) {
            if (entry != 0) {
                int i = spread((int) (entry >>> 32)) & mask;
                while (larger[i] != 0) {
                    i = (i + 1) & mask;
                }
                larger[i] = entry;
            }
        }
        index = larger;
    }

    /** Identity hashes may use fewer bits than the index has. */
    private static int spread(int hash) {
        int product = hash * 0x9E3779B9;
        return product ^ product >>> 15;
    }
}

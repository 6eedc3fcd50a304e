package io.skyway.agent.link;

import io.skyway.core.Block;
import io.skyway.core.Shipper;
import io.skyway.proto.TransferReport;

/**
 * Turns one graph into blocks. {@link #produce} runs on the walking thread; {@link #take} is called by it between two
 * windows, or runs on the shipping thread.
 */
interface BlockSource extends AutoCloseable {
    /**
     * Writes the whole graph; returns when the last block is ready to be taken.
     *
     * @param shipper called when a block may have been finished, though perhaps not for the last one; its time is not
     *     the source's
     * @throws Exception as the graph, or the one who cancelled, has it
     */
    void produce(Shipper shipper) throws Exception;

    /** The next finished block in order; null when there is none within the time. Its slot is the caller's from then on. */
    Block take(long timeoutMillis);

    /** Objects walked so far; 0 when unknown. */
    long objects();

    /** Ends {@link #produce} soon. From any thread, any number of times. */
    void cancel();

    /** Adds what is known of the sending stage. After {@link #produce}. */
    void report(TransferReport.Builder report);

    /** Gives everything back but the slots that were taken. */
    @Override
    void close();
}

package io.skyway.api;

/**
 * Builds a graph to transfer in tests and benchmarks. The agent finds implementations on the application's class path
 * with {@link java.util.ServiceLoader}.
 */
public interface Workload {
    /** A short lower-case name, as used on the command line, e.g. {@code media}. */
    String name();

    /** The size used when none is given; its unit is the workload's own (records, nodes, bytes). */
    long defaultSize();

    /**
     * Builds a graph. The same size and seed give an equal graph.
     *
     * @param size positive; in the unit of {@link #defaultSize}
     * @param seed start of the random numbers, where the workload uses any
     * @return the root
     * @throws Exception if it cannot be built, e.g. because the size is out of range
     */
    Object build(long size, long seed) throws Exception;
}

package io.skyway.agent.link;

/** One end of a link. */
interface Link {
    /** Ends it and whatever it is carrying. Closing it again does nothing. */
    void close(String why);

    /** Why it has ended, or null. */
    default String closedBecause() {
        return null;
    }

    /**
     * Ends a transfer that is arriving on this link.
     *
     * @return false when it is not running here
     */
    default boolean cancel(String transferId, String why) {
        return false;
    }
}

package io.skyway.agent.link;

/** What a frame says. The sender of a link is the side that connects. */
enum FrameType {
    /** Sender: a transfer begins. An image id, then a {@code TransferRequest}. Answered by one RESULT or one ERROR. */
    BEGIN(1, 64 << 10),
    /** Sender: the next block. On shared memory its slot and length, on TCP its bytes. */
    BLOCK(2, Integer.MAX_VALUE),
    /** Sender: all blocks were sent. */
    END(3, 0),
    /** Receiver: done with a block. Its slot (-1 on TCP), then the number of blocks landed so far. */
    ACK(4, 12),
    /** Sender: drop the transfer, because someone asked for it. An {@code ErrorDetail}. */
    CANCEL(5, 1 << 20),
    /** Either side: the transfer failed. An {@code ErrorDetail}. */
    ERROR(6, 1 << 20),
    /** Receiver: the graph is visible. A {@code TransferReport} with what the receiver knows. */
    RESULT(7, 64 << 10),
    /** Either side, during a transfer: still here. */
    ALIVE(8, 0);

    private static final FrameType[] ALL = values();

    final int code;
    /** Most bytes after the header. The limit of a TCP link's blocks is its slot size. */
    final int limit;

    FrameType(int code, int limit) {
        this.code = code;
        this.limit = limit;
    }

    /** The type with this code, or null. */
    static FrameType of(int code) {
        return code >= 1 && code <= ALL.length ? ALL[code - 1] : null;
    }
}

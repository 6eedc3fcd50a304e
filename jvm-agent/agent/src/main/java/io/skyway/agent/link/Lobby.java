package io.skyway.agent.link;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Connections that have not shown the token yet. There is room for so many; whoever comes when it is full takes the
 * place of the one that has been here longest, once that has had its time. So those who say nothing cannot keep out the
 * one who will.
 */
final class Lobby implements AutoCloseable {
    private final int most;
    private final long graceNanos;
    /** The oldest first. */
    private final Map<AutoCloseable, Guest> guests = new LinkedHashMap<>();

    private boolean closed;

    private static final class Guest {
        final long since = System.nanoTime();
        boolean shownOut;
    }

    /**
     * @param most guests at a time
     * @param graceMillis how long a guest is left in peace, however many wait
     */
    Lobby(int most, long graceMillis) {
        this.most = most;
        this.graceNanos = TimeUnit.MILLISECONDS.toNanos(graceMillis);
    }

    /**
     * Waits for room, and makes some by closing the oldest guest.
     *
     * @return false when the lobby is closed
     */
    synchronized boolean enter(AutoCloseable socket) throws InterruptedException {
        while (!closed && guests.size() >= most) {
            long left = graceNanos;
            for (Map.Entry<AutoCloseable, Guest> e : guests.entrySet()) {
                if (!e.getValue().shownOut) {
                    left = e.getValue().since + graceNanos - System.nanoTime();
                    if (left <= 0) {
                        // Its thread sees the closed socket and leaves.
                        e.getValue().shownOut = true;
                        Sockets.close(e.getKey());
                    }
                    break;
                }
            }
            if (guests.size() >= most) {
                wait(Math.max(1, TimeUnit.NANOSECONDS.toMillis(left)));
            }
        }
        if (closed) {
            return false;
        }
        guests.put(socket, new Guest());
        return true;
    }

    /** Makes room. Nothing happens when it has left before. */
    synchronized void leave(AutoCloseable socket) {
        if (guests.remove(socket) != null) {
            notifyAll();
        }
    }

    synchronized int size() {
        return guests.size();
    }

    /** Closes the sockets of all who are here; their threads leave, and nobody enters any more. */
    @Override
    public synchronized void close() {
        closed = true;
        notifyAll();
        guests.forEach((socket, guest) -> {
            guest.shownOut = true;
            Sockets.close(socket);
        });
    }
}

package io.skyway.agent.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LobbyTest {
    private static final long FOR_EVER = 1_000_000_000;

    /** Leaves when it is closed, as a thread does that reads from a socket. */
    private static final class Guest implements AutoCloseable {
        private final Lobby lobby;
        private final ConcurrentLinkedQueue<Guest> closed;

        Guest(Lobby lobby, ConcurrentLinkedQueue<Guest> closed) {
            this.lobby = lobby;
            this.closed = closed;
        }

        @Override
        public void close() {
            closed.add(this);
            CompletableFuture.runAsync(() -> lobby.leave(this));
        }
    }

    @Test
    void theOldestMakesRoom() throws Exception {
        Lobby lobby = new Lobby(3, 0);
        ConcurrentLinkedQueue<Guest> closed = new ConcurrentLinkedQueue<>();
        List<Guest> guests = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            Guest guest = new Guest(lobby, closed);
            guests.add(guest);
            assertTrue(lobby.enter(guest));
            assertTrue(lobby.size() <= 3);
        }
        assertEquals(guests.subList(0, 7), new ArrayList<>(closed));
    }

    @Test
    void whoHasNotHadItsTimeStays() throws Exception {
        Lobby lobby = new Lobby(1, FOR_EVER);
        ConcurrentLinkedQueue<Guest> closed = new ConcurrentLinkedQueue<>();
        Guest first = new Guest(lobby, closed);
        lobby.enter(first);
        Guest second = new Guest(lobby, closed);
        CompletableFuture<Void> entering = CompletableFuture.runAsync(() -> {
            try {
                lobby.enter(second);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        assertFalse(entering.isDone());
        lobby.leave(first);
        entering.get(30, TimeUnit.SECONDS);
        assertTrue(closed.isEmpty());
        assertEquals(1, lobby.size());
    }

    @Test
    void closingShowsAllOut() throws Exception {
        Lobby lobby = new Lobby(8, FOR_EVER);
        ConcurrentLinkedQueue<Guest> closed = new ConcurrentLinkedQueue<>();
        for (int i = 0; i < 8; i++) {
            lobby.enter(new Guest(lobby, closed));
        }
        lobby.close();
        assertEquals(8, closed.size());
        // Also the one who waits for room.
        assertFalse(lobby.enter(new Guest(lobby, closed)));
    }
}

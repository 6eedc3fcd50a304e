package io.skyway.agent.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.skyway.core.SkywayException.Kind;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class InboxTest {
    private final Inbox inbox = new Inbox(null);

    private static Failure failure(String message) {
        return Failure.of(Kind.CANCELLED, Failure.Side.SENDER, message);
    }

    @Test
    void blocksComeInOrder() throws Exception {
        inbox.put(new Slice(1, 10));
        inbox.put(new Slice(2, 20));
        inbox.put(Slice.END);
        assertEquals(new Slice(1, 10), inbox.take());
        assertEquals(new Slice(2, 20), inbox.take());
        assertSame(Slice.END, inbox.take());
    }

    @Test
    void anAbortedTransferLandsNothingMore() {
        inbox.put(new Slice(1, 10));
        Failure first = failure("first");
        inbox.abort(first);
        inbox.abort(failure("second"));
        assertSame(first, assertThrows(Failure.class, inbox::take));
    }

    @Test
    void anAbortWakesTheLandingThread() throws Exception {
        CompletableFuture<Throwable> landing =
                CompletableFuture.supplyAsync(() -> assertThrows(Failure.class, inbox::take));
        Failure why = failure("stop");
        inbox.abort(why);
        assertSame(why, landing.get(30, TimeUnit.SECONDS));
    }

    @Test
    void aFullInboxHoldsUpTheReader() throws Exception {
        CompletableFuture<Void> reading = CompletableFuture.runAsync(() -> {
            for (int i = 0; i < 5000; i++) {
                inbox.put(new Slice(i, 1));
            }
            inbox.put(Slice.END);
        });
        int n = 0;
        while (inbox.take() != Slice.END) {
            n++;
        }
        assertEquals(5000, n);
        reading.get(30, TimeUnit.SECONDS);
    }

    @Test
    void afterTheEndOfTheLandingTheReaderGoesOn() throws Exception {
        CompletableFuture<Void> reading = CompletableFuture.runAsync(() -> {
            for (int i = 0; i < 5000; i++) {
                inbox.put(new Slice(i, 1));
            }
        });
        inbox.close();
        reading.get(30, TimeUnit.SECONDS);
        assertTrue(inbox.isClosed());
    }
}

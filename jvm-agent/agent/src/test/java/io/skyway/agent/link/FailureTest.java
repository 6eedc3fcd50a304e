package io.skyway.agent.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.skyway.core.GraphRefusedException;
import io.skyway.core.Refusal;
import io.skyway.core.SkywayException;
import io.skyway.core.SkywayException.Kind;
import io.skyway.proto.ErrorDetail;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class FailureTest {

    @ParameterizedTest
    @EnumSource
    void everyKindGoesOverTheWire(Kind kind) {
        Failure f = Failure.of(kind, Failure.Side.RECEIVER, "what, where, what to do");
        Failure there = Failure.of(f.detail());
        assertEquals(kind, there.kind());
        assertEquals(f.getMessage(), there.getMessage());
        assertEquals("receiver", there.detail().getSide());
    }

    /** What a full heap makes of any attempt to describe what failed. */
    private static final class Indescribable extends RuntimeException {
        private static final long serialVersionUID = 1L;

        @Override
        public String toString() {
            throw new OutOfMemoryError("Java heap space");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aHeapThatIsTooFullToSaySoIsAFailureToo(Failure.Side side) {
        Failure f = Failure.of(new Indescribable(), side);
        assertEquals(Kind.HEAP_FULL, f.kind());
        assertEquals(side.toString(), f.detail().getSide());
        assertTrue(f.getMessage().contains("larger -Xmx"), f.getMessage());
    }

    @Test
    void theSideThatFailedStays() {
        Failure f = Failure.of(Kind.BAD_IMAGE, Failure.Side.RECEIVER, "x");
        assertSame(f, Failure.of(f, Failure.Side.SENDER));
    }

    @Test
    void refusalsAreKept() {
        Failure f = Failure.of(
                new GraphRefusedException(List.of(new Refusal("root.t", "java.lang.Thread", "it runs here"))),
                Failure.Side.SENDER);
        ErrorDetail d = f.detail();
        assertEquals(ErrorDetail.Kind.GRAPH_REFUSED, d.getKind());
        assertEquals("root.t", d.getRefusals(0).getPath());
    }

    @Test
    void aFullHeapIsNamed() {
        Failure f = Failure.of(new OutOfMemoryError("Java heap space"), Failure.Side.RECEIVER);
        assertEquals(Kind.HEAP_FULL, f.kind());
        assertTrue(f.getMessage().contains("-Xmx"), f.getMessage());
    }

    @Test
    void theSerializersErrorIsItsOwnAndTheLinksIsNot() {
        Failure own = Serializers.failure("kryo", new StackOverflowError(), Failure.Side.SENDER);
        assertEquals(Kind.SERIALIZER_FAILED, own.kind());
        assertTrue(own.getMessage().contains("kryo"), own.getMessage());
        assertTrue(own.getMessage().contains("StackOverflowError"), own.getMessage());

        Throwable wrapped = new IllegalStateException(new SkywayException(Kind.CANCELLED, "stop"));
        assertEquals(
                Kind.CANCELLED,
                Serializers.failure("kryo", wrapped, Failure.Side.SENDER).kind());
    }
}

package io.skyway.agent.control;

import io.skyway.core.Engine;
import io.skyway.core.SkywayException;
import io.skyway.core.SkywayException.Kind;

/**
 * The engine, or why there is none.
 *
 * @param refusal empty when the engine started
 */
public record EngineState(Engine engine, String refusal) {

    public boolean started() {
        return engine != null;
    }

    /** @throws SkywayException of kind ENGINE_REFUSED when there is none */
    public Engine require() {
        if (engine == null) {
            throw new SkywayException(Kind.ENGINE_REFUSED, "this JVM's engine refused to start: " + refusal);
        }
        return engine;
    }
}

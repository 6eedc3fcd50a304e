package io.skyway.agent.start;

import io.skyway.api.internal.Rules;
import io.skyway.core.FidelityRules;
import java.util.function.Consumer;

/** Hands what the application says to the engine. */
final class EngineRules implements Rules.Listener {
    private final FidelityRules rules;

    EngineRules(FidelityRules rules) {
        this.rules = rules;
    }

    @Override
    public void cut(Class<?> declaring, String field) {
        rules.cut(declaring, field);
    }

    @Override
    public void cut(Class<?> type) {
        rules.cut(type);
    }

    @Override
    public void onArrival(Class<?> type, Consumer<Object> update) {
        rules.onArrival(type, update);
    }
}

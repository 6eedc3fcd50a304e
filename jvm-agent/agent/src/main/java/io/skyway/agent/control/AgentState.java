package io.skyway.agent.control;

import io.skyway.agent.link.Counters;
import io.skyway.agent.link.Links;
import io.skyway.agent.roots.Roots;
import java.lang.instrument.Instrumentation;

/**
 * What the services of one session work on.
 *
 * @param links null when the engine refused to start
 */
public record AgentState(Instrumentation instrumentation, Roots roots, Counters counters, Links links) {}

package io.skyway.core;

import java.util.List;

/** Where global type ids come from: the orchestrator's TypeRegistry, or a table of this process. */
public interface TypeIds {
    /**
     * The ids of these types, in order; new ones are assigned. Ids are positive and dense.
     *
     * @throws SkywayException of kind {@code LINK} when the registry cannot be reached
     */
    int[] register(List<TypeDescriptor> types);

    /**
     * The descriptors behind these ids, in order.
     *
     * @throws SkywayException of kind {@code BAD_IMAGE} when an id was never assigned, {@code LINK} when the registry
     *     cannot be reached
     */
    List<TypeDescriptor> lookup(int[] ids);
}

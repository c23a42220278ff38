package dev.perdure;

import org.jspecify.annotations.Nullable;

/**
 * Names the event to wait for or to emit: a {@link Topic}, or a topic with a key ({@link Topic#key}).
 *
 * @param <T> the value of the event
 */
public sealed interface EventTopic<T extends @Nullable Object> permits Topic, KeyedTopic {}

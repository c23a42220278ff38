package dev.perdure;

import dev.perdure.internal.text.Texts;
import org.jspecify.annotations.Nullable;

/**
 * A topic with a key, for events. A run that waits for {@code STOCK.key("eu")} gets only the events that are emitted to
 * {@code STOCK.key("eu")}; a run that waits for {@code STOCK} gets those of every key.
 *
 * @param topic the topic
 * @param key the key
 * @param <T> the value of the event
 */
public record KeyedTopic<T extends @Nullable Object>(Topic<T> topic, String key) implements EventTopic<T> {
    /** Checks the key. */
    public KeyedTopic {
        Texts.requireName("event key", key);
    }

    @Override
    public String toString() {
        return topic + "/" + key;
    }
}

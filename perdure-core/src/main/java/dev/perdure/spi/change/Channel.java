package dev.perdure.spi.change;

/**
 * What a run can wait for besides time: one of the ways by which something reaches it from elsewhere.
 *
 * @param kind how it is addressed
 * @param position for {@link Kind#ANSWER}: the position of the call that it answers; otherwise 0
 * @param name for the others: the topic or the promise's name; otherwise empty
 */
public record Channel(Kind kind, int position, String name) {
    /** How something that arrives is addressed. */
    public enum Kind {
        /** To a topic, any number of times. */
        MESSAGE,
        /** To a promise of that name, once. */
        PROMISE,
        /** To a call that asked for it, once: a child's outcome, an awakeable's value, an event. */
        ANSWER
    }

    /** Messages on a topic. */
    public static Channel message(String topic) {
        return new Channel(Kind.MESSAGE, 0, topic);
    }

    /** A promise. */
    public static Channel promise(String name) {
        return new Channel(Kind.PROMISE, 0, name);
    }

    /** The answer to the call at a position. */
    public static Channel answer(int position) {
        return new Channel(Kind.ANSWER, position, "");
    }

    /** Whether at most one mail ever arrives here. */
    public boolean once() {
        return kind != Kind.MESSAGE;
    }
}

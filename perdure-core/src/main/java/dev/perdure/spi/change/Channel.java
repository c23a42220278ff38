package dev.perdure.spi.change;

/**
 * A channel on which mail reaches a run, and for which the run can wait.
 *
 * @param kind how mail on it is addressed
 * @param position for {@link Kind#ANSWER}: the position of the call that it answers; otherwise 0
 * @param name for the others: the topic or the promise's name; otherwise empty
 */
public record Channel(Kind kind, int position, String name) {
    /** How mail is addressed. */
    public enum Kind {
        /** To a topic, any number of mails. */
        MESSAGE,
        /** To the promise of that name, one mail. */
        PROMISE,
        /** To a call that waits for an answer, one mail: a child's outcome, an awakeable's value, an event. */
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

    /** Whether the channel gets at most one mail. */
    public boolean once() {
        return kind != Kind.MESSAGE;
    }
}

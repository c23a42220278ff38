package dev.perdure.spi.payload;

import dev.perdure.RunId;

/**
 * The place for which a value is made: the input of a run, a position in its journal, a value of a virtual object.
 * The reader of a value names its place again, and a {@link PayloadTransform} may refuse a value that was made for
 * another one. {@link #text} tells two places apart; {@link #toString} describes one to people.
 *
 * @param kind what kind of place it is
 * @param owner the id of the run; of the virtual object its type and key; of an event its name
 * @param name which one it is of this owner; empty if there is only one
 */
public record PayloadPlace(Kind kind, String owner, String name) {
    /** The kinds of places. */
    public enum Kind {
        /** The input of a run. The tasks of a DAG have the input of the DAG's run. */
        INPUT("the input of run '%1$s'"),
        /** A position in the journal of a run. */
        ENTRY("position %2$s of run '%1$s'"),
        /** The result or the failure of a run. */
        RESULT("the result of run '%1$s'"),
        /** The messages of a topic that a run gets. */
        MESSAGE("a message on topic '%2$s' to run '%1$s'"),
        /** The answer to an awakeable of a run, before the run takes it. */
        ANSWER("the answer to position %2$s of run '%1$s'"),
        /** A promise of a run. */
        PROMISE("promise '%2$s' of run '%1$s'"),
        /** An event, for all runs that wait for it. */
        EVENT("event '%1$s'"),
        /** What a run publishes under a topic. */
        PUBLISHED("what run '%1$s' publishes as '%2$s'"),
        /** A value of a virtual object. */
        STATE("state '%2$s' of object '%1$s'"),
        /** An attribute of a run. */
        ATTRIBUTE("attribute '%2$s' of run '%1$s'");

        private final String description;

        Kind(String description) {
            this.description = description;
        }
    }

    /** The input of a run. */
    public static PayloadPlace input(RunId run) {
        return new PayloadPlace(Kind.INPUT, run.value(), "");
    }

    /** The input of a debounced start, which may become that of a run whose id is not known then. */
    public static PayloadPlace debounced() {
        return new PayloadPlace(Kind.INPUT, "", "");
    }

    /** The answer to the awakeable at a position, before the run takes it. */
    public static PayloadPlace answer(RunId run, int position) {
        return new PayloadPlace(Kind.ANSWER, run.value(), Integer.toString(position));
    }

    /** A position in the journal of a run: the answer of the call there. */
    public static PayloadPlace entry(RunId run, int position) {
        return new PayloadPlace(Kind.ENTRY, run.value(), Integer.toString(position));
    }

    /** The result or the failure of a run. */
    public static PayloadPlace result(RunId run) {
        return new PayloadPlace(Kind.RESULT, run.value(), "");
    }

    /** The messages of a topic to a run. */
    public static PayloadPlace message(RunId run, String topic) {
        return new PayloadPlace(Kind.MESSAGE, run.value(), topic);
    }

    /** A promise of a run. */
    public static PayloadPlace promise(RunId run, String promise) {
        return new PayloadPlace(Kind.PROMISE, run.value(), promise);
    }

    /** An event, with every key: a run that waits without a key gets those with one. */
    public static PayloadPlace event(String event) {
        return new PayloadPlace(Kind.EVENT, event, "");
    }

    /** What a run publishes under a topic. */
    public static PayloadPlace published(RunId run, String topic) {
        return new PayloadPlace(Kind.PUBLISHED, run.value(), topic);
    }

    /** A value of a virtual object. */
    public static PayloadPlace state(String type, String key, String name) {
        return new PayloadPlace(Kind.STATE, type + "/" + key, name);
    }

    /** An attribute of a run. */
    public static PayloadPlace attribute(RunId run, String name) {
        return new PayloadPlace(Kind.ATTRIBUTE, run.value(), name);
    }

    /**
     * Whether the value comes from outside. SQL, and processes without keys, write it as it is: the input of a run, a
     * message, a promise, an event, or the answer to an awakeable.
     */
    public boolean comesFromOutside() {
        return switch (kind) {
            case INPUT, MESSAGE, ANSWER, PROMISE, EVENT -> true;
            case ENTRY, RESULT, PUBLISHED, STATE, ATTRIBUTE -> false;
        };
    }

    /** A text that no other place has. It never changes, because values are bound to it, and no locale formats it. */
    public String text() {
        return kind + " " + owner.length() + " " + owner + " " + name;
    }

    @Override
    public String toString() {
        return kind.description.formatted(owner, name);
    }
}

package dev.perdure.spi;

import dev.perdure.HistoryEvent;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunInfo;
import dev.perdure.StartOptions;
import dev.perdure.audit.Operator;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.payload.PayloadPlace;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What an adapter sees of an engine beyond the public API: for modules that offer the engine to other programs, such as
 * the HTTP API. Thread-safe.
 */
public interface EngineView {
    /** An engine that can be seen. */
    interface Source {
        /** What an adapter sees of it. */
        EngineView view();
    }

    /** What a signature is of. */
    enum Kind {
        /** A workflow. */
        WORKFLOW,
        /** A DAG. */
        DAG,
        /** A handler of a virtual object; its name is the object's type, a slash and the handler. */
        HANDLER
    }

    /**
     * A definition that the engine has registered.
     *
     * @param name its name
     * @param kind what it is
     * @param inputType the type of its input; {@code void} or {@link Void} if it takes none
     * @param resultType the type of its result; {@code void} or {@link Void} if it has none
     */
    record Signature(String name, Kind kind, Type inputType, Type resultType) {
        /** Whether it takes an input. */
        public boolean takesInput() {
            return inputType != void.class && inputType != Void.class;
        }
    }

    /**
     * What an adapter sees of this engine.
     *
     * @throws InvalidRequestException if the engine was not started by {@link Perdure#on}
     */
    static EngineView of(Perdure perdure) {
        if (perdure instanceof Source source) {
            return source.view();
        }
        throw new InvalidRequestException(
                "An adapter was given an engine that Perdure.on(…) has not started. Give it the engine itself, not an object around it.");
    }

    /** The store. */
    Store store();

    /** How the engine turns the values of a place into bytes. */
    Codec codec(PayloadPlace place);

    /** A run that the store has found, with its encrypted attributes decrypted, if this engine has their keys. */
    RunInfo decrypted(RunInfo stored);

    /** What callers can start or call here, by name, without the engine's own definitions and the tasks of DAGs. */
    List<Signature> signatures();

    /** The signature of this name, if it is registered here. */
    default Optional<Signature> signature(String name) {
        return signatures().stream()
                .filter(signature -> signature.name().equals(name))
                .findFirst();
    }

    /**
     * Reads JSON as a value of this type, whatever the codec of the engine is. It refuses properties that the type does
     * not have.
     *
     * @throws dev.perdure.error.PayloadException if the JSON is not a value of the type
     */
    @Nullable
    Object readJson(byte[] json, Type type);

    /**
     * Writes a value of this type as JSON, whatever the codec of the engine is.
     *
     * @throws dev.perdure.error.PayloadException if it cannot be written
     */
    byte[] writeJson(@Nullable Object value, Type type);

    /** A run that the store has found, to read more of it without looking it up again. */
    Run<@Nullable Void> run(RunRef found);

    /**
     * A place in the history of a run.
     *
     * @param entry the last entry of the journal before it
     * @param state the number of the last state before it
     * @param answers how many answers of operators are before it
     * @param at when the last event before it happened
     */
    record HistoryPlace(Journals.TimePlace entry, int state, int answers, Instant at) {
        /** The beginning. */
        public static final HistoryPlace FIRST = new HistoryPlace(Journals.TimePlace.FIRST, -1, 0, Instant.EPOCH);
    }

    /**
     * A page of the history of a run.
     *
     * @param events oldest first
     * @param next where the next page begins; empty if this is the last one
     */
    record HistoryPage(List<HistoryEvent> events, Optional<HistoryPlace> next) {}

    /**
     * A page of the history of a run, which has the events of {@link Run#history()} in the same order.
     *
     * @param limit how many events at most; a failed attempt and its progress are not separated
     */
    HistoryPage history(RunRef run, HistoryPlace after, int limit);

    /**
     * Calls a handler of a virtual object by its name, without waiting for it.
     *
     * @param handler the name of the handler, without that of the object's type
     * @throws InvalidRequestException if no such handler is registered here
     */
    Run<@Nullable Void> call(ObjectKey object, String handler, @Nullable Object input, StartOptions options);

    /**
     * Runs tasks of a DAG's run again that has ended, and all tasks that come after them, in the name of an operator.
     * The DAG need not be registered here.
     *
     * @param task the name of the task; empty for those that failed or were cancelled
     * @throws dev.perdure.error.RunActiveException if the run has not ended
     * @throws InvalidRequestException if it has no such task
     */
    void rerun(Operator operator, RunRef run, Optional<String> task);

    /**
     * The run whose awakeable this token answers.
     *
     * @throws dev.perdure.error.UnknownTokenException if no awakeable has the token
     */
    Runs.Found awaiting(String token);

    /** Waits until the run has ended, for this long at most. Empty if it has not. */
    Optional<Runs.Ended> awaitEnd(RunRef run, Duration atMost) throws InterruptedException;

    /**
     * Waits until the run has published a value after this place or has ended, for this long at most. Empty if neither
     * has happened.
     */
    Optional<Mailboxes.Shown> awaitPublished(Mailboxes.Place place, Duration atMost) throws InterruptedException;
}

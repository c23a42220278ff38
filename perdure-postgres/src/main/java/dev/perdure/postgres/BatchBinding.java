package dev.perdure.postgres;

import dev.perdure.postgres.LedgerSql.Part;
import dev.perdure.postgres.PostgresLedger.Sender;
import java.sql.SQLException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Gives the parts of a batch their parameters. */
final class BatchBinding {
    private final Sender sender;
    private final Batch batch;
    private final @Nullable Instant time;
    private final Entries stayEntries;
    private final Entries moveEntries;

    /**
     * For this batch.
     *
     * @param time what time it is, or null if the server knows
     * @param stayEntries what it appends to runs that stay
     */
    BatchBinding(Sender sender, Batch batch, @Nullable Instant time, Entries stayEntries) {
        this.sender = sender;
        this.batch = batch;
        this.time = time;
        this.stayEntries = stayEntries;
        this.moveEntries = new Entries(Batch.changes(batch.moves));
    }

    static IllegalStateException notHere(Part part) {
        return new IllegalStateException("%s is for plain batches.".formatted(part));
    }

    private Parameters fence(Parameters parameters) throws SQLException {
        return parameters.integer(sender.worker()).integer(sender.lane());
    }

    void bind(Part part, Parameters parameters) throws SQLException {
        switch (part) {
            case START_OWN, WAIT_OWN, END_OWN, FREE_CALLS, START_FAMILY, END_FAMILY, END_FAMILY_AND_QUEUE ->
                throw notHere(part);
            case SETTINGS -> parameters.text(LedgerSql.LOCK_TIMEOUT);
            case MAKE_OBJECTS -> {
                batch.objects.bindMade(fence(parameters));
                parameters.integer(sender.worker());
            }
            case LOCK_OBJECTS -> {
                batch.objects.bindClaimed(fence(parameters));
                parameters.longs(batch.lockedHolders()).texts(batch.commandedIds());
                parameters.integer(sender.worker());
            }
            case ENTER -> {
                batch.objects.bindEntering(parameters.time(time).integer(sender.worker()));
                fence(parameters.integer(sender.worker()));
            }
            case STATE -> bindStates(batch.objects, parameters);
            case WHOLE -> {
                batch.trains.bindTrains(parameters.time(time));
                fence(parameters).longs(batch.births.keys());
                batch.trains.bindBeside(parameters);
                batch.trains.bind(parameters);
            }
            case WHOLE_STATE -> bindStates(batch.trains.states, parameters);
            case RELEASE -> {
                parameters.time(time).integer(sender.worker());
                parameters.longs(batch.ends.holdingKeys()).ints(batch.ends.takesOfHolders());
                fence(parameters.texts(batch.endingIds()).integer(sender.worker()));
                parameters.integer(sender.worker()).integer(sender.worker());
            }
            case FOLLOW -> {
                batch.ends.bindFollowing(parameters.time(time));
                fence(parameters).integer(sender.worker()).integer(sender.worker());
            }
            case LOCK -> fence(parameters).longs(batch.lockedKeys()).integer(sender.worker());
            case LOCK_AFTER ->
                fence(parameters)
                        .longs(batch.lockedKeys())
                        .longs(batch.ends.openingKeys())
                        .integer(sender.worker());
            case LOCK_ALL -> {
                fence(parameters).longs(batch.lockedKeys()).texts(batch.lockedIds());
                parameters.longs(batch.lastKeys()).texts(batch.endingIds()).texts(batch.lockedFamilies());
                parameters
                        .longs(batch.ends.holdingKeys())
                        .texts(batch.endingIds())
                        .integer(sender.worker());
            }
            case APPEND -> bindStays(parameters);
            case START -> {
                batch.births.bind(fence(parameters).time(time), sender.worker());
                parameters.integer(sender.worker()).integer(sender.worker());
                parameters.number(batch.births.all.size());
            }
            case TASK -> batch.tasks.bind(parameters.time(time), sender.worker());
            case COMMAND -> bindWishes(batch.commands, parameters.time(time));
            case KILL_TASKS -> {
                batch.commands.bindKills(parameters.time(time));
                fence(parameters.integer(sender.worker()));
            }
            case CANCEL -> bindWishes(batch.cancels, parameters.time(time));
            case EFFECT -> {
                batch.ownEffects.bindActing(parameters);
                fence(parameters).integer(sender.worker());
                batch.ownEffects.bind(parameters, time);
            }
            case DELIVER -> {
                batch.letters.bind(parameters.time(time));
                fence(parameters.integer(sender.worker())).integer(sender.worker());
            }
            case MOVE -> {
                Moves.bind(batch.moves, parameters.time(time), sender.worker());
                fence(parameters.integer(sender.worker()));
                moveEntries.bind(parameters);
            }
            case END -> {
                Moves.bindEnds(batch.moves, parameters.time(time).integer(sender.worker()));
                fence(parameters.integer(sender.worker()));
                moveEntries.bind(parameters);
            }
            case RESTART -> {
                Moves.bindRestarts(batch.restarts, parameters.time(time).integer(sender.worker()));
                fence(parameters);
            }
            case ANSWER -> {
                parameters.time(time).longs(batch.ends.answeringKeys()).texts(batch.endingIds());
                fence(parameters.integer(sender.worker()));
            }
            case RERUN -> {
                batch.reruns.bindRuns(parameters.time(time));
                fence(parameters.integer(sender.worker()));
                batch.reruns.bindTasks(parameters);
            }
            case OPEN ->
                bindOpening(
                        parameters.time(time).longs(batch.ends.openingKeys()).ints(batch.ends.takes()));
            case OPEN_ALL -> {
                parameters.time(time).longs(batch.ends.openingKeys()).ints(batch.ends.takes());
                parameters.texts(batch.endingIds());
                bindOpening(parameters.texts(batch.commands.killedIds().toArray(String[]::new)));
            }
            case HANDED ->
                parameters
                        .longs(batch.ends.takingTasks())
                        .longs(batch.ends.takingHolders())
                        .ints(batch.ends.takesOfTakingHolders())
                        .integer(sender.worker());
            case HANDED_TASKS -> parameters.longs(batch.ends.takingKeys()).integer(sender.worker());
            case KNOWN_STATES -> batch.objects.bindClaimed(parameters);
        }
    }

    private void bindOpening(Parameters parameters) throws SQLException {
        fence(parameters.integer(sender.worker())).integer(sender.worker());
        parameters.integer(sender.worker()).integer(sender.worker());
    }

    private void bindWishes(Wishes wishes, Parameters parameters) throws SQLException {
        wishes.bind(parameters);
        fence(parameters.integer(sender.worker())).integer(sender.worker());
    }

    private void bindStates(BatchObjects objects, Parameters parameters) throws SQLException {
        objects.bindActing(parameters);
        fence(parameters).integer(sender.worker());
        objects.bindValues(parameters);
    }

    private void bindStays(Parameters parameters) throws SQLException {
        fence(parameters.time(time));
        stayEntries.bind(parameters);
    }
}

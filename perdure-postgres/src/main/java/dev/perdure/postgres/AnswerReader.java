package dev.perdure.postgres;

import dev.perdure.RunState;
import dev.perdure.postgres.Batch.Placed;
import dev.perdure.postgres.Births.Birth;
import dev.perdure.postgres.LedgerSql.Part;
import dev.perdure.postgres.PostgresLedger.Sender;
import dev.perdure.postgres.Wishes.Wish;
import dev.perdure.spi.Change;
import dev.perdure.spi.Channel;
import dev.perdure.spi.Control;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Mail;
import dev.perdure.spi.Move;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.RunRef;
import dev.perdure.spi.WorkerId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Understands the rows that the parts of a batch give back: outcomes, and {@link Answers}. */
final class AnswerReader {
    private final Sender sender;
    private final Batch batch;
    private final Entries stayEntries;
    private final Outcome[] outcomes;
    private final Lately mailInMemory;
    private final Answers answers;

    /**
     * For this batch.
     *
     * @param stayEntries what it appended to runs that stay
     * @param outcomes where outcomes go
     * @param mailInMemory whether mail goes to runs in memory
     */
    AnswerReader(Sender sender, Batch batch, Entries stayEntries, Outcome[] outcomes, Lately mailInMemory) {
        this.sender = sender;
        this.batch = batch;
        this.stayEntries = stayEntries;
        this.outcomes = outcomes;
        this.mailInMemory = mailInMemory;
        this.answers = new Answers(batch, sender, outcomes);
    }

    Answers read(Results results, Set<Part> parts) throws SQLException {
        boolean fenced = false;
        for (Part part : parts) {
            switch (part) {
                case START_OWN, WAIT_OWN, END_OWN, FREE_CALLS, START_FAMILY, END_FAMILY, END_FAMILY_AND_QUEUE ->
                    throw BatchBinding.notHere(part);
                case SETTINGS, MAKE_OBJECTS, LOCK_OBJECTS, TASK, FOLLOW, EFFECT, STATE, WHOLE_STATE -> results.skip();
                case WHOLE -> batch.trains.read(results.next(), outcomes);
                case ENTER -> readEntered(results.next());
                case RELEASE -> readReleased(results.next());
                case LOCK, LOCK_AFTER, LOCK_ALL ->
                    fenced = results.one().getInt("lanes") == 0 && sender.worker() != null;
                case APPEND -> readStays(results.next());
                case START -> readStarts(results.one());
                case COMMAND -> readWishes(batch.commands, results.next(), fenced);
                case KILL_TASKS -> readKilled(results.next());
                case CANCEL -> readWishes(batch.cancels, results.next(), fenced);
                case DELIVER -> readLetters(results.next(), fenced);
                case MOVE, END -> readMoves(results.next(), fenced);
                case RESTART -> readRestarts(results.next(), fenced);
                case RERUN -> readReruns(results.next(), fenced);
                case ANSWER -> readAnswers(results.next());
                case OPEN, OPEN_ALL -> readOpened(results.next());
                case HANDED, HANDED_TASKS -> handOver(Claims.read(results.next()));
                case KNOWN_STATES -> batch.objects.readStates(results.next(), outcomes);
            }
        }
        return answers;
    }

    private void readStays(ResultSet rows) throws SQLException {
        if (!rows.next()) {
            PostgresLedger.fence(batch.stays, outcomes);
            return;
        }
        Outcome applied = new Outcome.Applied(Results.time(rows, "at"), RunState.RUNNING);
        batch.stays.forEach(stay -> outcomes[stay.index()] = applied);
        noticeOthers(rows);
    }

    /** Some of the entries were there before. */
    private void noticeOthers(ResultSet row) throws SQLException {
        if (row.getInt("entries") < stayEntries.keys.length) {
            answers.appendedAmongOthers = row.getLong("transaction");
        }
    }

    private void readMoves(ResultSet rows, boolean fenced) throws SQLException {
        if (fenced) {
            PostgresLedger.fence(batch.moves, outcomes);
            return;
        }
        Map<Long, Placed<Change.Advance>> byKey = new HashMap<>();
        batch.moves.forEach(move -> byKey.put(move.change().run().key(), move));
        while (rows.next()) {
            Placed<Change.Advance> move = byKey.get(rows.getLong("key"));
            if (move != null) {
                outcomes[move.index()] = moved(rows, move);
            }
        }
    }

    private Outcome moved(ResultSet row, Placed<Change.Advance> move) throws SQLException {
        if (!row.getBoolean("holds")) {
            answers.lost.add(move);
            answers.found.put(
                    move.change().run().key(),
                    new Answers.Found(
                            Codes.state(row.getInt("state")), row.getLong("epoch"), Results.time(row, "changed_at")));
            return new Outcome.Fenced();
        }
        if (row.getBoolean("woken")) {
            answers.woken.add(move);
            return new Outcome.Woken(Results.time(row, "entered_at"), Control.NONE);
        }
        String at = move.change().move() instanceof Move.Wait ? "entered_at" : "moved_at";
        return new Outcome.Applied(Results.time(row, at), Codes.state(row.getInt("state_now")));
    }

    private void readRestarts(ResultSet rows, boolean fenced) throws SQLException {
        PostgresLedger.fence(batch.restarts, outcomes);
        Map<Long, Placed<Change.Advance>> byKey = new HashMap<>();
        batch.restarts.forEach(restart -> byKey.put(restart.change().run().key(), restart));
        while (!fenced && rows.next()) {
            Placed<Change.Advance> restart = byKey.get(rows.getLong("key"));
            if (restart != null && rows.getBoolean("holds")) {
                outcomes[restart.index()] = new Outcome.Applied(Results.time(rows, "moved_at"), RunState.READY);
            } else if (restart != null && rows.getBoolean("there_before")) {
                outcomes[restart.index()] =
                        new Outcome.AlreadyThere(Results.time(rows, "changed_at"), Codes.state(rows.getInt("state")));
            }
        }
    }

    private void readStarts(ResultSet row) throws SQLException {
        if (sender.worker() != null && !row.getBoolean("lane")) {
            batch.births.all.forEach(birth -> {
                if (birth.asked() != null) {
                    outcomes[birth.asked().index()] = new Outcome.Fenced();
                }
            });
            return;
        }
        Instant at = Results.time(row, "at");
        Set<Long> unused = new HashSet<>();
        do {
            unused.add(row.getLong("key"));
        } while (row.next());
        for (Birth birth : batch.births.all) {
            Placed<Change.Start> start = birth.asked();
            boolean started = !unused.contains(birth.key());
            if (start == null && started) {
                answers.hints.add(new Hints.WorkReady());
            } else if (start != null && started) {
                outcomes[start.index()] = new Outcome.Started(
                        new RunRef(birth.run().id(), birth.key()),
                        birth.owned(),
                        at,
                        batch.tasks.held(birth.key(), at));
            } else if (start != null) {
                answers.taken.add(start);
            }
        }
    }

    /** Those that wait for their turn are not born running, whatever was asked for. */
    private void readEntered(ResultSet rows) throws SQLException {
        Map<Long, Placed<Change.Start>> starts = new HashMap<>();
        batch.births.all.stream()
                .filter(birth -> birth.asked() != null)
                .forEach(birth -> starts.put(birth.key(), Objects.requireNonNull(birth.asked())));
        PostgresLedger.fence(batch.objects.arrivals, outcomes);
        Map<Long, Placed<Change.Advance>> arrivals = new HashMap<>();
        batch.objects.arrivals.forEach(
                arrival -> arrivals.put(arrival.change().run().key(), arrival));
        while (rows.next()) {
            long key = rows.getLong("key");
            boolean waits = rows.getBoolean("waits");
            Placed<Change.Start> start = starts.get(key);
            Placed<Change.Advance> arrival = arrivals.get(key);
            if (waits && start != null && outcomes[start.index()] instanceof Outcome.Started started) {
                outcomes[start.index()] = new Outcome.Started(started.run(), false, started.at());
            }
            if (arrival != null) {
                outcomes[arrival.index()] = arrived(rows, arrival.change(), waits);
            }
            if (waits && rows.getBoolean("awaited")) {
                answers.waiting.add(key);
            }
        }
    }

    private static Outcome arrived(ResultSet row, Change.Advance arrival, boolean waits) throws SQLException {
        if (row.getBoolean("enters")) {
            return new Outcome.Applied(Results.time(row, "moved_at"), waits ? RunState.PENDING : RunState.RUNNING);
        }
        RunState state = Codes.state(row.getInt("state"));
        boolean before = new Answers.Found(state, row.getLong("epoch"), Results.time(row, "changed_at")).mayBe(arrival);
        return before ? new Outcome.AlreadyThere(Results.time(row, "changed_at"), state) : new Outcome.Fenced();
    }

    private void readReleased(ResultSet rows) throws SQLException {
        while (rows.next()) {
            Map<Long, List<Long>> shown = rows.getBoolean("handed") ? answers.handed : answers.next;
            if (rows.getBoolean("handed") || rows.getInt("place") > 0) {
                shown.computeIfAbsent(rows.getLong("ended"), unseen -> new ArrayList<>())
                        .add(rows.getLong("key"));
            } else {
                answers.hints.add(new Hints.WorkReady());
            }
        }
    }

    private void readWishes(Wishes wishes, ResultSet rows, boolean fenced) throws SQLException {
        if (fenced) {
            wishes.all.forEach(wish -> fence(wish.index()));
            return;
        }
        while (rows.next()) {
            Wish wish = wishes.all.get(rows.getInt("ordinal") - 1);
            RunState state = Codes.state(rows.getInt("state_now"));
            if (wish.index() != Letters.UNASKED) {
                outcomes[wish.index()] =
                        new Outcome.Commanded(Results.time(rows, "moved_at"), state, rows.getBoolean("changed"));
            } else if (state == RunState.READY) {
                answers.hints.add(new Hints.WorkReady());
            } else if (state.isTerminal()) {
                answers.hints.add(new Hints.RunEnded(wish.run()));
            }
            signal(rows);
        }
    }

    /** Whoever waits for one of these by its id looks at it sooner or later; its worker has to know now. */
    private void readKilled(ResultSet rows) throws SQLException {
        while (rows.next()) {
            signal(rows);
        }
    }

    private void readReruns(ResultSet rows, boolean fenced) throws SQLException {
        if (fenced) {
            PostgresLedger.fence(batch.reruns.all, outcomes);
            return;
        }
        batch.reruns.read(rows, outcomes);
    }

    private void readOpened(ResultSet rows) throws SQLException {
        while (rows.next()) {
            long key = rows.getLong("key");
            Long premise = rows.getObject("premise", Long.class);
            if (premise == null) {
                answers.hints.add(new Hints.WorkReady());
            } else {
                answers.handed
                        .computeIfAbsent(premise, none -> new ArrayList<>())
                        .add(key);
            }
        }
    }

    private void handOver(Map<Long, Claimed> claims) {
        for (Placed<Change.Advance> move : batch.moves) {
            List<Claimed> handed = claimed(answers.handed, move, claims);
            if (!handed.isEmpty() && outcomes[move.index()] instanceof Outcome.Applied applied) {
                List<Claimed> next = claimed(answers.next, move, claims);
                outcomes[move.index()] = new Outcome.Applied(applied.at(), applied.state(), handed, next);
            }
        }
    }

    private static List<Claimed> claimed(
            Map<Long, List<Long>> keysByEnded, Placed<Change.Advance> move, Map<Long, Claimed> claims) {
        return keysByEnded.getOrDefault(move.change().run().key(), List.of()).stream()
                .map(claims::get)
                .filter(Objects::nonNull)
                .toList();
    }

    private void fence(int index) {
        if (index != Letters.UNASKED) {
            outcomes[index] = new Outcome.Fenced();
        }
    }

    private void signal(ResultSet row) throws SQLException {
        UUID worker = row.getObject("signalled", UUID.class);
        if (worker != null) {
            answers.hints.add(new Hints.WorkerSignalled(new WorkerId(worker)));
        }
    }

    private void readLetters(ResultSet rows, boolean fenced) throws SQLException {
        if (fenced) {
            batch.letters.all.forEach(letter -> fence(letter.index()));
            return;
        }
        while (rows.next()) {
            int index = batch.letters.all.get(rows.getInt("ordinal") - 1).index();
            if (index != Letters.UNASKED) {
                outcomes[index] = reception(rows);
            }
            told(
                    rows,
                    batch.letters.all.size() == 1 ? batch.letters.all.getFirst().mail() : null);
        }
    }

    private static Outcome reception(ResultSet row) throws SQLException {
        Instant at = Results.time(row, "at");
        RunState state = Codes.state(row.getInt("state_now"));
        return switch (row.getInt("reception")) {
            case Codes.NEW -> new Outcome.Applied(at, state);
            case Codes.KNOWN -> new Outcome.AlreadyThere(at, state);
            case Codes.TAKEN -> new Outcome.Undelivered(Outcome.Undelivered.Why.TAKEN);
            case Codes.STALE -> new Outcome.Undelivered(Outcome.Undelivered.Why.BEGAN_ANEW);
            default -> new Outcome.Undelivered(Outcome.Undelivered.Why.ENDED);
        };
    }

    private void readAnswers(ResultSet rows) throws SQLException {
        while (rows.next()) {
            told(rows, loneAnswer(rows));
        }
    }

    /** What a parent gets of the only run that ends, if that is no more than its result. */
    private @Nullable Mail loneAnswer(ResultSet row) throws SQLException {
        boolean lone = batch.size == 1 && batch.moves.size() == 1;
        return lone
                        && batch.moves.getFirst().change().move() instanceof Move.End end
                        && end.state() == RunState.COMPLETED
                ? Mail.value(Channel.answer(row.getInt("position")), row.getObject("token", UUID.class), end.outcome())
                : null;
    }

    /** @param mail what has arrived, if it is the only one; the run gets it without a look into its mailbox */
    private void told(ResultSet row, @Nullable Mail mail) throws SQLException {
        if (row.getBoolean("goes_on")) {
            answers.hints.add(new Hints.WorkReady());
        }
        MailHint hint = MailHint.of(row, sender, mail);
        mailInMemory.was(hint != null);
        if (hint != null) {
            (hint.here() ? answers.hintsHere : answers.hints).add(hint.hint());
        }
    }
}

package dev.perdure.postgres;

import dev.perdure.RunState;
import dev.perdure.postgres.Batch.Entries;
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
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** One batch on its way: sent, answered, and read back where the answer was that something had been there before. */
final class BatchRun {
    private final Database database;
    private final LedgerSql sql;
    private final Sender sender;
    private final Batch batch;
    private final boolean careful;
    private final PostgresHints hints;
    private final ReadBack readBack;
    /** Whether mail goes to runs in memory. */
    private final Lately mailInMemory;

    private final Entries stayEntries;
    private final Entries moveEntries;
    private final Outcome[] outcomes;
    private List<Long> waiting = List.of();
    private boolean foundTaken;

    /** What batches have in common. */
    record Office(Database database, LedgerSql sql, ReadBack readBack, PostgresHints hints, Lately mailInMemory) {}

    /** @param careful whether something in it may be there already: see {@link LedgerSql} */
    BatchRun(Office office, Sender sender, Batch batch, boolean careful) {
        this.database = office.database();
        this.sql = office.sql();
        this.sender = sender;
        this.batch = batch;
        this.careful = careful;
        this.hints = office.hints();
        this.readBack = office.readBack();
        this.mailInMemory = office.mailInMemory();
        this.stayEntries = new Entries(Batch.changes(batch.stays));
        this.moveEntries = new Entries(Batch.changes(batch.moves));
        this.outcomes = PostgresLedger.none(batch.size);
    }

    /** Whether an id that it was to start a run under is another's, or the run was there before. */
    boolean foundTaken() {
        return foundTaken;
    }

    List<Outcome> outcomes() {
        PostgresLedger.fence(batch.wholes, outcomes);
        Answers answers = database.call(this::send);
        answers.readBack(readBack);
        waiting = List.copyOf(answers.waiting);
        foundTaken = !answers.taken.isEmpty();
        answers.hints.forEach(hints::tell);
        answers.hintsHere.forEach(hints::tellHere);
        return List.of(outcomes);
    }

    /** Calls of virtual objects that wait for their turn since this batch, and that somebody waits for. */
    List<Long> waiting() {
        return waiting;
    }

    /** What the server said that asks for a second look. */
    private final class Answers {
        @Nullable
        Long appendedAmongOthers;

        final List<Placed<Change.Advance>> woken = new ArrayList<>();
        final List<Placed<Change.Advance>> lost = new ArrayList<>();
        final Map<Long, Found> found = new HashMap<>();
        final List<Placed<Change.Start>> taken = new ArrayList<>();
        final Set<Hints.Hint> hints = new LinkedHashSet<>();
        /** For this worker itself. */
        final Set<Hints.Hint> hintsHere = new LinkedHashSet<>();
        /** Keys of runs that the worker now holds, by the run whose end let them begin. */
        final Map<Long, List<Long>> handed = new HashMap<>();
        /** Keys of calls that wait behind those, in their order. */
        final Map<Long, List<Long>> next = new HashMap<>();
        /** Keys of calls that wait for their turn, and that somebody waits for. */
        final List<Long> waiting = new ArrayList<>();

        void readBack(ReadBack readBack) {
            if (appendedAmongOthers != null) {
                Map<Integer, Instant> before = readBack.before(appendedAmongOthers, stayEntries);
                before.forEach((stay, at) ->
                        outcomes[batch.stays.get(stay).index()] = new Outcome.AlreadyThere(at, RunState.RUNNING));
            }
            for (Placed<Change.Advance> placed : lost) {
                Found row = found.get(placed.change().run().key());
                if (row != null && row.mayBe(placed.change()) && readBack.hasAll(placed.change())) {
                    outcomes[placed.index()] = new Outcome.AlreadyThere(row.changedAt(), row.state());
                }
            }
            for (Placed<Change.Advance> placed : woken) {
                if (outcomes[placed.index()] instanceof Outcome.Woken(Instant at, Control none)) {
                    outcomes[placed.index()] = new Outcome.Woken(
                            at, readBack.control(placed.change().run()));
                }
            }
            if (!taken.isEmpty()) {
                readBack.existing(taken, sender, outcomes);
            }
            List<Placed<Change.Whole>> fenced = batch.wholes.stream()
                    .filter(whole -> outcomes[whole.index()] instanceof Outcome.Fenced)
                    .toList();
            if (!fenced.isEmpty()) {
                readBack.wholes(fenced, outcomes);
            }
        }
    }

    /**
     * A run that was not held as the batch believed.
     *
     * @param state where it is
     * @param epoch its epoch
     * @param changedAt since when
     */
    record Found(RunState state, long epoch, Instant changedAt) {
        /** Whether this transition may be what brought it there. */
        boolean mayBe(Change.Advance advance) {
            return epoch == Batch.epoch(advance)
                    && switch (advance.move()) {
                        case Move.Stay() -> false;
                        case Move.Wait wait -> state == wait.state();
                        case Move.Yield() -> state == RunState.READY;
                        case Move.Recover recover -> false;
                        case Move.Restart restart -> false;
                        case Move.Pause pause -> state == RunState.PAUSED;
                        case Move.Arrive() -> state == RunState.PENDING;
                        case Move.End end -> state == end.state();
                    };
        }
    }

    private Answers send(Connection connection) throws SQLException {
        Set<Part> parts = parts();
        try (PreparedStatement statement = Database.prepare(connection, sql.shape(parts, careful))) {
            Parameters parameters = new Parameters(statement);
            Instant time = database.time();
            for (Part part : parts) {
                bind(part, parameters, time);
            }
            statement.execute();
            return read(new Results(statement), parts);
        }
    }

    /** What the batch needs, in the order in which it is sent. */
    private Set<Part> parts() {
        Set<Part> parts = EnumSet.noneOf(Part.class);
        boolean moves = !batch.moves.isEmpty() || !batch.restarts.isEmpty() || !batch.objects.arrivals.isEmpty();
        addIf(batch.objects.makes(), parts, Part.MAKE_OBJECTS);
        addIf(batch.touchesObjects(), parts, Part.LOCK_OBJECTS);
        addIf(batch.touchesOnlyWhatComesAfter(), parts, Part.LOCK_AFTER);
        addIf(batch.touchesOthers() && !batch.touchesOnlyWhatComesAfter(), parts, Part.LOCK_ALL);
        addIf(moves && !batch.touchesOthers(), parts, Part.LOCK);
        addIf(!batch.stays.isEmpty(), parts, Part.APPEND);
        addIf(batch.starts(), parts, Part.START);
        addIf(!batch.tasks.isEmpty(), parts, Part.TASK);
        addIf(batch.objects.enters(), parts, Part.ENTER);
        addIf(batch.objects.changesStates(), parts, Part.STATE);
        addIf(batch.follows(), parts, Part.FOLLOW);
        addIf(batch.releases(), parts, Part.RELEASE);
        addIf(!batch.commands.isEmpty(), parts, Part.COMMAND);
        addIf(!batch.commands.kills().isEmpty(), parts, Part.KILL_TASKS);
        addIf(!batch.cancels.isEmpty(), parts, Part.CANCEL);
        addIf(!batch.ownEffects.isEmpty(), parts, Part.EFFECT);
        addIf(!batch.letters.isEmpty(), parts, Part.DELIVER);
        addIf(!batch.moves.isEmpty(), parts, batch.onlyEnds() ? Part.END : Part.MOVE);
        addIf(!batch.restarts.isEmpty(), parts, Part.RESTART);
        addIf(!batch.reruns.isEmpty(), parts, Part.RERUN);
        addIf(!batch.trains.isEmpty(), parts, Part.WHOLE);
        addIf(batch.trains.states.changesStates(), parts, Part.WHOLE_STATE);
        addIf(batch.answers(), parts, Part.ANSWER);
        addIf(batch.opens(), parts, batch.endingIds().length == 0 ? Part.OPEN : Part.OPEN_ALL);
        addIf(batch.takingKeys().length > 0, parts, batch.releases() ? Part.HANDED : Part.HANDED_TASKS);
        addIf(batch.objects.mayHold() && batch.takingKeys().length == 0, parts, Part.KNOWN_STATES);
        addIf(!parts.equals(EnumSet.of(Part.APPEND)), parts, Part.SETTINGS);
        return parts;
    }

    private static void addIf(boolean wanted, Set<Part> parts, Part part) {
        if (wanted) {
            parts.add(part);
        }
    }

    private static IllegalStateException notHere(Part part) {
        return new IllegalStateException("%s is for plain batches.".formatted(part));
    }

    private Parameters fence(Parameters parameters) throws SQLException {
        return parameters.integer(sender.worker()).integer(sender.lane());
    }

    private void bind(Part part, Parameters parameters, @Nullable Instant time) throws SQLException {
        switch (part) {
            case START_OWN, END_OWN, FREE_CALLS -> throw notHere(part);
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
                parameters.longs(batch.holdingKeys()).ints(batch.takesOfHolders());
                fence(parameters.texts(batch.endingIds()).integer(sender.worker()));
                parameters.integer(sender.worker()).integer(sender.worker());
            }
            case FOLLOW -> {
                batch.bindFollowing(parameters.time(time));
                fence(parameters).integer(sender.worker()).integer(sender.worker());
            }
            case LOCK -> fence(parameters).longs(batch.lockedKeys()).integer(sender.worker());
            case LOCK_AFTER ->
                fence(parameters)
                        .longs(batch.lockedKeys())
                        .longs(batch.openingKeys())
                        .integer(sender.worker());
            case LOCK_ALL -> {
                fence(parameters).longs(batch.lockedKeys()).texts(batch.lockedIds());
                parameters.longs(batch.lastKeys()).texts(batch.endingIds()).texts(batch.lockedFamilies());
                parameters.longs(batch.holdingKeys()).texts(batch.endingIds()).integer(sender.worker());
            }
            case APPEND -> bindStays(parameters, time);
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
                batch.bindMoves(parameters.time(time), sender.worker());
                fence(parameters.integer(sender.worker()));
                moveEntries.bind(parameters);
            }
            case END -> {
                batch.bindEnds(parameters.time(time).integer(sender.worker()));
                fence(parameters.integer(sender.worker()));
                moveEntries.bind(parameters);
            }
            case RESTART -> {
                batch.bindRestarts(parameters.time(time).integer(sender.worker()));
                fence(parameters);
            }
            case ANSWER -> {
                parameters.time(time).longs(batch.endingKeys()).texts(batch.endingIds());
                fence(parameters.integer(sender.worker()));
            }
            case RERUN -> {
                batch.reruns.bindRuns(parameters.time(time));
                fence(parameters.integer(sender.worker()));
                batch.reruns.bindTasks(parameters);
            }
            case OPEN ->
                bindOpening(parameters.time(time).longs(batch.openingKeys()).ints(batch.takes()));
            case OPEN_ALL -> {
                parameters.time(time).longs(batch.openingKeys()).ints(batch.takes());
                parameters.texts(batch.endingIds());
                bindOpening(parameters.texts(batch.commands.killedIds().toArray(String[]::new)));
            }
            case HANDED ->
                parameters
                        .longs(batch.takingTasks())
                        .longs(batch.takingHolders())
                        .ints(batch.takesOfTakingHolders())
                        .integer(sender.worker());
            case HANDED_TASKS -> parameters.longs(batch.takingKeys()).integer(sender.worker());
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

    private void bindStays(Parameters parameters, @Nullable Instant time) throws SQLException {
        fence(parameters.time(time));
        stayEntries.bind(parameters);
    }

    private Answers read(Results results, Set<Part> parts) throws SQLException {
        Answers answers = new Answers();
        boolean fenced = false;
        for (Part part : parts) {
            switch (part) {
                case START_OWN, END_OWN, FREE_CALLS -> throw notHere(part);
                case SETTINGS, MAKE_OBJECTS, LOCK_OBJECTS, TASK, FOLLOW, EFFECT, STATE, WHOLE_STATE -> results.skip();
                case WHOLE -> batch.trains.read(results.next(), outcomes);
                case ENTER -> readEntered(results.next(), answers);
                case RELEASE -> readReleased(results.next(), answers);
                case LOCK, LOCK_AFTER, LOCK_ALL ->
                    fenced = results.one().getInt("lanes") == 0 && sender.worker() != null;
                case APPEND -> readStays(results.next(), answers);
                case START -> readStarts(results.one(), answers);
                case COMMAND -> readWishes(batch.commands, results.next(), fenced, answers);
                case KILL_TASKS -> readKilled(results.next(), answers);
                case CANCEL -> readWishes(batch.cancels, results.next(), fenced, answers);
                case DELIVER -> readLetters(results.next(), fenced, answers);
                case MOVE, END -> readMoves(results.next(), fenced, answers);
                case RESTART -> readRestarts(results.next(), fenced);
                case RERUN -> readReruns(results.next(), fenced);
                case ANSWER -> readAnswers(results.next(), answers);
                case OPEN, OPEN_ALL -> readOpened(results.next(), answers);
                case HANDED, HANDED_TASKS -> handOver(answers, Claims.read(results.next()));
                case KNOWN_STATES -> batch.objects.readStates(results.next(), outcomes);
            }
        }
        return answers;
    }

    private void readStays(ResultSet rows, Answers answers) throws SQLException {
        if (!rows.next()) {
            PostgresLedger.fence(batch.stays, outcomes);
            return;
        }
        Outcome applied = new Outcome.Applied(Results.time(rows, "at"), RunState.RUNNING);
        batch.stays.forEach(stay -> outcomes[stay.index()] = applied);
        noticeOthers(rows, answers);
    }

    /** Some of the entries were there before. */
    private void noticeOthers(ResultSet row, Answers answers) throws SQLException {
        if (row.getInt("entries") < stayEntries.keys.length) {
            answers.appendedAmongOthers = row.getLong("transaction");
        }
    }

    private void readMoves(ResultSet rows, boolean fenced, Answers answers) throws SQLException {
        if (fenced) {
            PostgresLedger.fence(batch.moves, outcomes);
            return;
        }
        Map<Long, Placed<Change.Advance>> byKey = new HashMap<>();
        batch.moves.forEach(move -> byKey.put(move.change().run().key(), move));
        while (rows.next()) {
            Placed<Change.Advance> move = byKey.get(rows.getLong("key"));
            if (move != null) {
                outcomes[move.index()] = moved(rows, move, answers);
            }
        }
    }

    private static Outcome moved(ResultSet row, Placed<Change.Advance> move, Answers answers) throws SQLException {
        if (!row.getBoolean("holds")) {
            answers.lost.add(move);
            answers.found.put(
                    move.change().run().key(),
                    new Found(Codes.state(row.getInt("state")), row.getLong("epoch"), Results.time(row, "changed_at")));
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

    private void readStarts(ResultSet row, Answers answers) throws SQLException {
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
    private void readEntered(ResultSet rows, Answers answers) throws SQLException {
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
        boolean before = new Found(state, row.getLong("epoch"), Results.time(row, "changed_at")).mayBe(arrival);
        return before ? new Outcome.AlreadyThere(Results.time(row, "changed_at"), state) : new Outcome.Fenced();
    }

    private void readReleased(ResultSet rows, Answers answers) throws SQLException {
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

    private void readWishes(Wishes wishes, ResultSet rows, boolean fenced, Answers answers) throws SQLException {
        if (fenced) {
            wishes.all.forEach(wish -> fence(wish.index()));
            return;
        }
        while (rows.next()) {
            Wish wish = wishes.all.get(rows.getInt("ordinal") - 1);
            RunState state = Codes.state(rows.getInt("state_now"));
            if (wish.index() != Letters.UNASKED) {
                outcomes[wish.index()] = new Outcome.Applied(Results.time(rows, "moved_at"), state);
            } else if (state == RunState.READY) {
                answers.hints.add(new Hints.WorkReady());
            } else if (state.isTerminal()) {
                answers.hints.add(new Hints.RunEnded(wish.run()));
            }
            signal(rows, answers);
        }
    }

    /** Whoever waits for one of these by its id looks at it sooner or later; its worker has to know now. */
    private static void readKilled(ResultSet rows, Answers answers) throws SQLException {
        while (rows.next()) {
            signal(rows, answers);
        }
    }

    private void readReruns(ResultSet rows, boolean fenced) throws SQLException {
        if (fenced) {
            PostgresLedger.fence(batch.reruns.all, outcomes);
            return;
        }
        batch.reruns.read(rows, outcomes);
    }

    private static void readOpened(ResultSet rows, Answers answers) throws SQLException {
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

    private void handOver(Answers answers, Map<Long, Claimed> claims) {
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

    private static void signal(ResultSet row, Answers answers) throws SQLException {
        UUID worker = row.getObject("signalled", UUID.class);
        if (worker != null) {
            answers.hints.add(new Hints.WorkerSignalled(new WorkerId(worker)));
        }
    }

    private void readLetters(ResultSet rows, boolean fenced, Answers answers) throws SQLException {
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
                    answers,
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
            default -> new Outcome.Undelivered(Outcome.Undelivered.Why.ENDED);
        };
    }

    private void readAnswers(ResultSet rows, Answers answers) throws SQLException {
        while (rows.next()) {
            told(rows, answers, loneAnswer(rows));
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
    private void told(ResultSet row, Answers answers, @Nullable Mail mail) throws SQLException {
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

package dev.perdure.postgres;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.postgres.Births.Birth;
import dev.perdure.spi.Change;
import dev.perdure.spi.Due;
import dev.perdure.spi.Effect;
import dev.perdure.spi.Entry;
import dev.perdure.spi.Move;
import dev.perdure.spi.NewRun;
import dev.perdure.spi.Payload;
import dev.perdure.spi.RunRef;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.LongPredicate;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A batch sorted by what has to be done, in the order in which it has to be done: what is moved by key and what is
 * started by id, so that two batches never wait for each other.
 */
final class Batch {
    /**
     * A change and its place in the batch as it was given.
     *
     * @param index its place
     * @param change the change
     */
    record Placed<C extends Change>(int index, C change) {}

    final List<Placed<Change.Advance>> stays = new ArrayList<>();
    final List<Placed<Change.Advance>> moves = new ArrayList<>();
    final List<Placed<Change.Advance>> restarts = new ArrayList<>();
    final Births births;
    final NewTasks tasks = new NewTasks();
    final Reruns reruns = new Reruns();
    final Wishes commands = new Wishes();
    final Wishes cancels = new Wishes();
    final OwnEffects ownEffects = new OwnEffects();
    final BatchObjects objects = new BatchObjects();
    final Letters letters = new Letters();
    final List<Placed<Change.Whole>> wholes = new ArrayList<>();
    final Wholes trains = new Wholes();
    final int size;

    Batch(List<Change> changes, Keys keys) {
        this.size = changes.size();
        List<Birth> unborn = new ArrayList<>();
        for (int i = 0; i < changes.size(); i++) {
            switch (changes.get(i)) {
                case Change.Advance advance -> {
                    movesOf(advance.move()).add(new Placed<>(i, advance));
                    advance.effects().forEach(effect -> add(advance, effect, unborn));
                }
                case Change.Start start -> unborn.add(Birth.of(new Placed<>(i, start)));
                case Change.Whole whole -> wholes.add(new Placed<>(i, whole));
                case Change.Command command -> commands.asked(i, command);
                case Change.Rerun rerun -> reruns.all.add(new Placed<>(i, rerun));
                case Change.Deliver deliver -> letters.asked(i, deliver);
            }
        }
        moves.sort(Comparator.comparingLong(placed -> placed.change().run().key()));
        this.births = born(unborn, keys);
        objects.born(births.all);
        trains.add(wholes, holdersThatEnd(), keys);
    }

    private List<Placed<Change.Advance>> movesOf(Move move) {
        return switch (move) {
            case Move.Stay() -> stays;
            case Move.Restart restart -> restarts;
            case Move.Wait wait -> moves;
            case Move.Yield() -> moves;
            case Move.Recover recover -> moves;
            case Move.Pause pause -> moves;
            case Move.Arrive() -> objects.arrivals;
            case Move.End end -> moves;
        };
    }

    private void add(Change.Advance sender, Effect effect, List<Birth> unborn) {
        switch (effect) {
            case Effect.Start start -> {
                NewRun run = start.run();
                unborn.add(Birth.of(start, sender));
                if (run.parent() != null && run.parent().answers()) {
                    letters.taken(sender, run.id(), run.seed(), run.parent().position());
                }
            }
            case Effect.Deliver deliver -> letters.sent(sender, deliver.to(), deliver.mail());
            case Effect.Cancel cancel -> cancels.cancel(sender, cancel.run(), cancel.reason());
            case Effect.Take take -> ownEffects.take(sender, take);
            case Effect.Publish publish -> ownEffects.publish(sender, publish);
            case Effect.Awakeable awakeable -> ownEffects.awakeable(sender, awakeable);
            case Effect.Subscribe subscribe -> ownEffects.subscribe(sender, subscribe);
            case Effect.SetState set -> objects.set(sender, set);
            case Effect.ClearState clear -> objects.clear(sender, clear);
            case Effect.ClearAllState() -> objects.clearAll(sender);
        }
    }

    /** Keys are given in the order of the batch as it was given, so that age goes by arrival. */
    private Births born(List<Birth> unborn, Keys keys) {
        long[] numbers = keys.take(unborn.stream().mapToInt(Batch::size).sum());
        List<Birth> born = new ArrayList<>(unborn.size());
        int next = 0;
        for (Birth one : unborn) {
            Birth birth = one.withNumber(numbers[next]);
            Placed<Change.Start> asked = birth.asked();
            if (!birth.tasks().isEmpty()) {
                long[] ofTasks = Arrays.copyOfRange(numbers, next + 1, next + size(birth));
                birth = birth.withAfter(tasks.add(birth, ofTasks));
            }
            born.add(birth);
            next += size(birth);
            if (asked != null) {
                long key = birth.key();
                asked.change().mails().forEach(mail -> letters.born(key, mail));
            }
        }
        return new Births(born);
    }

    /** How many runs are born with it, itself included. */
    private static int size(Birth birth) {
        return 1 + birth.tasks().size();
    }

    /** The columns of the entries that advances append, the outcome of one that ends among them. */
    static final class Entries {
        final long[] keys;
        final int[] positions;
        final short[] notes;
        final short[] kinds;
        final short[] statuses;
        final String[] names;
        final byte[][] payloads;
        /** Which of the advances an entry belongs to. */
        final int[] owners;

        private int filled;

        Entries(List<Change.Advance> advances) {
            int size = 0;
            for (Change.Advance advance : advances) {
                size += advance.entries().size() + (advance.move() instanceof Move.End ? 1 : 0);
            }
            this.keys = new long[size];
            this.positions = new int[size];
            this.notes = new short[size];
            this.kinds = new short[size];
            this.statuses = new short[size];
            this.names = new String[size];
            this.payloads = new byte[size][];
            this.owners = new int[size];
            for (int i = 0; i < advances.size(); i++) {
                add(i, advances.get(i));
            }
        }

        private void add(int owner, Change.Advance advance) {
            for (Entry entry : advance.entries()) {
                notes[filled] = (short) entry.note();
                kinds[filled] = Codes.of(entry.kind());
                statuses[filled] = Codes.of(entry.status());
                add(owner, advance.run().key(), entry.position(), entry.name(), entry.payload());
            }
            if (advance.move() instanceof Move.End end) {
                add(owner, advance.run().key(), Codes.OUTCOME, "", end.outcome());
            }
        }

        private void add(int owner, long key, int position, String name, Payload payload) {
            keys[filled] = key;
            positions[filled] = position;
            names[filled] = name;
            payloads[filled] = payload.bytes();
            owners[filled] = owner;
            filled++;
        }

        void bind(Parameters parameters) throws SQLException {
            parameters.longs(keys).ints(positions).shorts(notes);
            parameters.shorts(kinds).shorts(statuses).texts(names).bytes(payloads);
        }
    }

    /** Why the columns are not wide enough for it, or null. Checked before it gets into a batch. */
    static @Nullable String unstorable(Change change) {
        if (change instanceof Change.Advance advance) {
            for (Entry entry : advance.entries()) {
                if (entry.position() <= Codes.INPUT || entry.position() == Codes.OUTCOME) {
                    return "An entry has the position %d; positions are from 1.".formatted(entry.position());
                }
                if (entry.note() < 0 || entry.note() > Short.MAX_VALUE) {
                    return "Position %d has a note %d; at most %d are kept under one position."
                            .formatted(entry.position(), entry.note(), Short.MAX_VALUE);
                }
            }
        }
        return null;
    }

    static <C extends Change> List<C> changes(List<Placed<C>> placed) {
        return placed.stream().map(Placed::change).toList();
    }

    void bindMoves(Parameters parameters, @Nullable Integer worker) throws SQLException {
        int count = moves.size();
        long[] epochs = new long[count];
        @Nullable Integer[] owners = new Integer[count];
        short[] kinds = new short[count];
        short[] states = new short[count];
        @Nullable Long[] delays = new Long[count];
        @Nullable Long[] dues = new Long[count];
        @Nullable Integer[] seen = new Integer[count];
        @Nullable String[] reasons = new String[count];
        @Nullable Integer[] needed = new Integer[count];
        @Nullable String[] positions = new String[count];
        @Nullable String[] names = new String[count];
        for (int i = 0; i < count; i++) {
            Change.Advance advance = moves.get(i).change();
            epochs[i] = epoch(advance);
            owners[i] = worker;
            switch (advance.move()) {
                case Move.Stay() -> throw new IllegalStateException("To stay is not to move.");
                case Move.Restart restart -> throw new IllegalStateException("A restart has a statement of its own.");
                case Move.Arrive() -> throw new IllegalStateException("An arrival has a statement of its own.");
                case Move.Wait wait -> {
                    kinds[i] = Codes.WAIT;
                    states[i] = Codes.of(wait.state());
                    seen[i] = wait.seenWakes();
                    needed[i] = wait.awaited().needed();
                    positions[i] = AwaitedText.positions(wait.awaited());
                    names[i] = AwaitedText.names(wait.awaited());
                    switch (wait.due()) {
                        case Due.In in -> delays[i] = Micros.of(in.delay());
                        case Due.At at -> dues[i] = Micros.of(at.time());
                        case Due.Never() -> {}
                    }
                }
                case Move.Yield() -> {
                    kinds[i] = Codes.YIELD;
                    states[i] = Codes.of(RunState.READY);
                }
                case Move.Recover recover -> {
                    kinds[i] = Codes.RECOVER;
                    reasons[i] = Text.storable(recover.reason());
                }
                case Move.Pause pause -> {
                    kinds[i] = Codes.PAUSE;
                    states[i] = Codes.of(RunState.PAUSED);
                    seen[i] = pause.seenWakes();
                    reasons[i] = Text.storable(pause.reason());
                }
                case Move.End end -> {
                    kinds[i] = Codes.END;
                    states[i] = Codes.of(end.state());
                    reasons[i] = Text.storableOrNull(end.reason());
                }
            }
        }
        parameters.longs(moveKeys()).longs(epochs).ints(owners).shorts(kinds).shorts(states);
        parameters.longs(delays).longs(dues).ints(seen).texts(reasons);
        parameters.ints(needed).texts(positions).texts(names);
    }

    boolean onlyEnds() {
        return moves.stream().allMatch(placed -> placed.change().move() instanceof Move.End);
    }

    void bindEnds(Parameters parameters) throws SQLException {
        int count = moves.size();
        long[] epochs = new long[count];
        short[] states = new short[count];
        @Nullable String[] reasons = new String[count];
        for (int i = 0; i < count; i++) {
            Change.Advance advance = moves.get(i).change();
            epochs[i] = epoch(advance);
            if (advance.move() instanceof Move.End end) {
                states[i] = Codes.of(end.state());
                reasons[i] = Text.storableOrNull(end.reason());
            }
        }
        parameters.longs(moveKeys()).longs(epochs).shorts(states).texts(reasons);
    }

    long[] moveKeys() {
        return keys(moves);
    }

    private static long[] keys(List<Placed<Change.Advance>> advances) {
        return advances.stream()
                .mapToLong(placed -> placed.change().run().key())
                .toArray();
    }

    void bindRestarts(Parameters parameters) throws SQLException {
        int count = restarts.size();
        long[] epochs = new long[count];
        long[] seeds = new long[count];
        byte[][] inputs = new byte[count][];
        for (int i = 0; i < count; i++) {
            Change.Advance advance = restarts.get(i).change();
            epochs[i] = advance.epoch();
            if (advance.move() instanceof Move.Restart restart) {
                seeds[i] = restart.seed();
                inputs[i] = restart.input().bytes();
            }
        }
        parameters.longs(keys(restarts)).longs(epochs).longs(seeds).bytes(inputs);
    }

    /** The runs to be locked by key: those that move, and parents that may have to hear that an id is taken. */
    long[] lockedKeys() {
        LongStream parents = letters.all.stream()
                .filter(letter -> letter.rival() != null)
                .mapToLong(letter -> Objects.requireNonNull(letter.key()));
        LongStream own = LongStream.concat(LongStream.of(moveKeys()), LongStream.of(keys(restarts)));
        return LongStream.concat(LongStream.concat(own, parents), LongStream.of(objects.arrivingKeys()))
                .toArray();
    }

    /** The runs to be locked by id. */
    String[] lockedIds() {
        return Stream.of(commands.ids(), cancels.ids(), letters.ids(), reruns.ids())
                .flatMap(List::stream)
                .toArray(String[]::new);
    }

    boolean starts() {
        return !births.all.isEmpty();
    }

    /** Whether it touches runs beside those that it moves. */
    boolean touchesOthers() {
        return !commands.isEmpty()
                || !cancels.isEmpty()
                || !letters.isEmpty()
                || !reruns.isEmpty()
                || answers()
                || opens()
                || releases();
    }

    /** Whether all that it touches beside them are runs that come after them. */
    boolean touchesOnlyWhatComesAfter() {
        return opens()
                && commands.isEmpty()
                && cancels.isEmpty()
                && letters.isEmpty()
                && reruns.isEmpty()
                && !answers()
                && !releases();
    }

    /** The runs whose tasks are to be locked as well, by id. */
    String[] lockedFamilies() {
        return Stream.concat(commands.killedIds().stream(), reruns.ids().stream())
                .toArray(String[]::new);
    }

    /** Whether something may end by this batch whose outcome somebody waits for. */
    boolean answers() {
        return endingKeys().length > 0 || endingIds().length > 0;
    }

    long[] endingKeys() {
        return ending(Keys::answers).mapToLong(advance -> advance.run().key()).toArray();
    }

    private Stream<Change.Advance> ending(LongPredicate keys) {
        return moves.stream()
                .map(Placed::change)
                .filter(advance -> keys.test(advance.run().key()))
                .filter(advance -> advance.move() instanceof Move.End || advance.move() instanceof Move.Recover);
    }

    /** Whether it may change who holds a virtual object, or who waits for it. */
    boolean touchesObjects() {
        return objects.claims() || releases();
    }

    /** Whether something may end by this batch that holds a virtual object, or waits for it. */
    boolean releases() {
        return holdingKeys().length > 0 || !commands.isEmpty() || !cancels.isEmpty();
    }

    long[] holdingKeys() {
        return ending(Keys::holds).mapToLong(advance -> advance.run().key()).toArray();
    }

    private Map<RunId, Change.Advance> holdersThatEnd() {
        return wholes.isEmpty()
                ? Map.of()
                : ending(Keys::holds)
                        .filter(advance -> advance.move() instanceof Move.End)
                        .collect(Collectors.toMap(advance -> advance.run().id(), Function.identity()));
    }

    /** How many of the calls that wait the worker takes on, for each of {@link #holdingKeys}. */
    int[] takesOfHolders() {
        return takes(Keys::holds);
    }

    /** Whether calls of virtual objects end ahead of their turns. */
    boolean follows() {
        return ending(Keys::holds).anyMatch(Batch::follows);
    }

    private static boolean follows(Change.Advance advance) {
        return follower(advance) != null;
    }

    private static @Nullable RunRef follower(Change.Advance advance) {
        return advance.move() instanceof Move.End end ? end.follows() : null;
    }

    /**
     * The epoch that the run has in this batch. One that is taken on in it, to end ahead of its turn, skips an epoch: so it is
     * never mistaken for one that had its turn, and that may have begun from another state.
     */
    static long epoch(Change.Advance advance) {
        return follows(advance) ? advance.epoch() + 1 : advance.epoch();
    }

    /** Those of {@link #holdingKeys} that end, and whom they follow if they are ahead of their turns. */
    void bindFollowing(Parameters parameters) throws SQLException {
        List<Change.Advance> ends = ending(Keys::holds)
                .filter(advance -> advance.move() instanceof Move.End)
                .toList();
        @Nullable Long[] before = new Long[ends.size()];
        for (int i = 0; i < before.length; i++) {
            RunRef follows = follower(ends.get(i));
            before[i] = follows == null ? null : Long.valueOf(follows.key());
        }
        parameters
                .longs(ends.stream().mapToLong(end -> end.run().key()).toArray())
                .longs(ends.stream().mapToLong(Batch::epoch).toArray())
                .longs(before);
    }

    /** The runs whose objects are to be locked, by key. */
    long[] lockedHolders() {
        return LongStream.concat(LongStream.of(holdingKeys()), LongStream.of(objects.arrivingKeys()))
                .toArray();
    }

    /** The runs whose objects are to be locked, by id. */
    String[] commandedIds() {
        return Stream.concat(commands.ids().stream(), cancels.ids().stream()).toArray(String[]::new);
    }

    /** Whether something may end by this batch that others come after. */
    boolean opens() {
        return openingKeys().length > 0 || endingIds().length > 0;
    }

    long[] openingKeys() {
        return ending(Keys::precedes).mapToLong(advance -> advance.run().key()).toArray();
    }

    /** How many of those that come after it the worker takes on, for each of {@link #openingKeys}. */
    int[] takes() {
        return takes(Keys::precedes);
    }

    private int[] takes(LongPredicate keys) {
        return ending(keys).mapToInt(Batch::takes).toArray();
    }

    /** Those of {@link #openingKeys} and {@link #holdingKeys} that the worker goes on from. */
    long[] takingKeys() {
        return taking().mapToLong(advance -> advance.run().key()).toArray();
    }

    /** Those of them that others come after. */
    long[] takingTasks() {
        return LongStream.of(takingKeys()).filter(Keys::precedes).toArray();
    }

    /** Those of them that held an object. */
    long[] takingHolders() {
        return LongStream.of(takingKeys()).filter(Keys::holds).toArray();
    }

    /** With how many, for each of {@link #takingHolders}. */
    int[] takesOfTakingHolders() {
        return taking().filter(advance -> Keys.holds(advance.run().key()))
                .mapToInt(Batch::takes)
                .toArray();
    }

    private Stream<Change.Advance> taking() {
        return ending(key -> Keys.precedes(key) || Keys.holds(key)).filter(advance -> takes(advance) > 0);
    }

    private static int takes(Change.Advance advance) {
        return advance.move() instanceof Move.End end ? end.takes() : 0;
    }

    /** The runs that may end by key, and let others know or begin. */
    long[] lastKeys() {
        return LongStream.concat(LongStream.of(endingKeys()), LongStream.of(openingKeys()))
                .toArray();
    }

    String[] endingIds() {
        return Stream.concat(commands.endingIds().stream(), cancels.endingIds().stream())
                .toArray(String[]::new);
    }
}

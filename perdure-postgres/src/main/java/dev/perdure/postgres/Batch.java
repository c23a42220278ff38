package dev.perdure.postgres;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Change;
import dev.perdure.spi.Due;
import dev.perdure.spi.Entry;
import dev.perdure.spi.Move;
import dev.perdure.spi.NewRun;
import dev.perdure.spi.Payload;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
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

    /** Far beyond any wait, near enough for every PostgreSQL timestamp. */
    private static final Duration LONGEST = Duration.ofDays(365L * 7_000);

    private static final Instant LATEST = Instant.parse("9999-01-01T00:00:00Z");

    final List<Placed<Change.Advance>> stays = new ArrayList<>();
    final List<Placed<Change.Advance>> moves = new ArrayList<>();
    final List<Placed<Change.Start>> starts = new ArrayList<>();
    final List<Placed<Change.Command>> commands = new ArrayList<>();
    final int size;

    Batch(List<Change> changes) {
        this.size = changes.size();
        for (int i = 0; i < changes.size(); i++) {
            switch (changes.get(i)) {
                case Change.Advance advance
                when advance.move() instanceof Move.Stay -> stays.add(new Placed<>(i, advance));
                case Change.Advance advance -> moves.add(new Placed<>(i, advance));
                case Change.Start start -> starts.add(new Placed<>(i, start));
                case Change.Command command -> commands.add(new Placed<>(i, command));
            }
        }
        moves.sort(Comparator.comparingLong(placed -> placed.change().run().key()));
        starts.sort(Comparator.comparing(placed -> placed.change().run().id()));
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
        for (int i = 0; i < count; i++) {
            Change.Advance advance = moves.get(i).change();
            epochs[i] = advance.epoch();
            owners[i] = worker;
            switch (advance.move()) {
                case Move.Stay() -> throw new IllegalStateException("To stay is not to move.");
                case Move.Wait wait -> {
                    kinds[i] = Codes.WAIT;
                    states[i] = Codes.of(wait.state());
                    seen[i] = wait.seenWakes();
                    switch (wait.due()) {
                        case Due.In in -> delays[i] = micros(in.delay());
                        case Due.At at -> dues[i] = micros(at.time());
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
            epochs[i] = advance.epoch();
            if (advance.move() instanceof Move.End end) {
                states[i] = Codes.of(end.state());
                reasons[i] = Text.storableOrNull(end.reason());
            }
        }
        parameters.longs(moveKeys()).longs(epochs).shorts(states).texts(reasons);
    }

    long[] moveKeys() {
        return moves.stream().mapToLong(placed -> placed.change().run().key()).toArray();
    }

    String[] commandIds() {
        return commands.stream().map(placed -> placed.change().run().value()).toArray(String[]::new);
    }

    void bindStarts(Parameters parameters, long[] keys, @Nullable Integer worker) throws SQLException {
        int count = starts.size();
        String[] ids = new String[count];
        String[] definitions = new String[count];
        long[] seeds = new long[count];
        String[] queues = new String[count];
        int[] priorities = new int[count];
        @Nullable String[] versions = new String[count];
        @Nullable Long[] timeouts = new Long[count];
        @Nullable Integer[] owners = new Integer[count];
        byte[][] inputs = new byte[count][];
        for (int i = 0; i < count; i++) {
            Change.Start start = starts.get(i).change();
            NewRun run = start.run();
            ids[i] = run.id().value();
            definitions[i] = run.definition();
            seeds[i] = run.seed();
            queues[i] = run.queue();
            priorities[i] = run.priority();
            versions[i] = run.version();
            timeouts[i] = run.timeout() == null ? null : micros(run.timeout());
            owners[i] = start.owner() == null ? null : worker;
            inputs[i] = run.input().bytes();
        }
        parameters
                .longs(keys)
                .texts(ids)
                .texts(definitions)
                .longs(seeds)
                .texts(queues)
                .ints(priorities);
        parameters.texts(versions).longs(timeouts).ints(owners).bytes(inputs);
    }

    void bindCommands(Parameters parameters) throws SQLException {
        int count = commands.size();
        short[] wishes = new short[count];
        String[] reasons = new String[count];
        for (int i = 0; i < count; i++) {
            wishes[i] = Codes.of(commands.get(i).change().order());
            reasons[i] = Text.storable(commands.get(i).change().reason());
        }
        parameters.texts(commandIds()).shorts(wishes).texts(reasons);
    }

    /** The keys of the runs to be, in the order of the batch as it was given, so that age goes by arrival. */
    long[] keysFor(long[] numbers) {
        List<Placed<Change.Start>> byArrival =
                starts.stream().sorted(Comparator.comparingInt(Placed::index)).toList();
        long[] keyAt = new long[size];
        for (int i = 0; i < byArrival.size(); i++) {
            RunId id = byArrival.get(i).change().run().id();
            keyAt[byArrival.get(i).index()] = Keys.key(numbers[i], id);
        }
        return starts.stream().mapToLong(placed -> keyAt[placed.index()]).toArray();
    }

    static long micros(Duration duration) {
        Duration bounded = duration.compareTo(LONGEST) > 0 ? LONGEST : duration;
        long micros = bounded.toSeconds() * 1_000_000 + bounded.toNanosPart() / 1_000;
        // A timer never fires early: what PostgreSQL cannot hold is rounded up.
        return bounded.toNanosPart() % 1_000 == 0 ? micros : micros + 1;
    }

    private static long micros(Instant time) {
        Instant bounded = time.isAfter(LATEST) ? LATEST : time;
        long micros = ChronoUnit.MICROS.between(Instant.EPOCH, bounded);
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS).isBefore(bounded) ? micros + 1 : micros;
    }
}

package dev.perdure.postgres.write.change;

import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.reaction.TouchedRuns;
import dev.perdure.postgres.write.change.NewRuns.RunToStart;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A batch, sorted into kinds of changes, in the order in which they are applied: moves by key and starts by id, so that
 * two batches never wait for each other.
 */
public final class Batch {
    /**
     * A change and its index in the batch.
     *
     * @param index its index
     * @param change the change
     */
    public record Placed<C extends Change>(int index, C change) {}

    public final List<Placed<Change.Advance>> stays = new ArrayList<>();
    public final List<Placed<Change.Advance>> moves = new ArrayList<>();
    public final List<Placed<Change.Advance>> restarts = new ArrayList<>();
    /** Of the moves. */
    public final Endings ends = new Endings(moves);

    public final NewRuns births;
    public final NewTasks tasks = new NewTasks();
    public final Reruns reruns = new Reruns();
    public final RunCommands commands = new RunCommands();
    public final RunCommands cancels = new RunCommands();
    public final OwnEffects ownEffects = new OwnEffects();
    public final Described described = new Described();
    public final BatchObjects objects = new BatchObjects();
    public final MailDeliveries deliveries = new MailDeliveries();
    public final Elsewhere elsewhere = new Elsewhere();
    public final List<Placed<Change.CompletedCall>> completedCallChanges = new ArrayList<>();
    public final CompletedCalls completedCalls = new CompletedCalls();
    /** The runs that may fail, be paused or cancelled. */
    public final TouchedRuns touched;

    public final int size;

    public Batch(List<Change> changes, Keys keys) {
        this.size = changes.size();
        this.touched = TouchedRuns.of(changes);
        List<RunToStart> unborn = new ArrayList<>();
        for (int i = 0; i < changes.size(); i++) {
            switch (changes.get(i)) {
                case Change.Advance advance -> {
                    movesOf(advance.move()).add(new Placed<>(i, advance));
                    advance.effects().forEach(effect -> add(advance, effect, unborn));
                }
                case Change.Start start -> unborn.add(RunToStart.of(new Placed<>(i, start)));
                case Change.CompletedCall completed -> completedCallChanges.add(new Placed<>(i, completed));
                case Change.Command command -> commands.asked(i, command);
                case Change.Rerun rerun -> reruns.all.add(new Placed<>(i, rerun));
                case Change.Deliver deliver -> deliveries.asked(i, deliver);
                case Change.Retry retry -> throw new IllegalArgumentException("A transaction of its own: " + retry);
                case Change.Retell retell -> throw new IllegalArgumentException("A transaction of its own: " + retell);
                case Change.Fork fork -> throw new IllegalArgumentException("A transaction of its own: " + fork);
                case Change.Reassign reassign ->
                    throw new IllegalArgumentException("A transaction of its own: " + reassign);
                case Change.Repair repair -> throw new IllegalArgumentException("A transaction of its own: " + repair);
            }
        }
        moves.sort(Comparator.comparingLong(placed -> placed.change().run().key()));
        this.births = born(unborn, keys);
        objects.born(births.all);
        elsewhere.born(births.all);
        completedCalls.add(completedCallChanges, completedCallChanges.isEmpty() ? Map.of() : ends.holders(), keys);
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

    private void add(Change.Advance sender, Effect effect, List<RunToStart> unborn) {
        switch (effect) {
            case Effect.Start start -> {
                NewRun run = start.run();
                unborn.add(RunToStart.of(start, sender));
                if (run.parent() != null && run.parent().answers()) {
                    deliveries.taken(sender, run, run.parent());
                }
            }
            case Effect.Deliver deliver -> deliveries.sent(sender, deliver.to(), deliver.mail());
            case Effect.Cancel cancel -> cancels.cancel(sender, cancel.run(), cancel.reason());
            case Effect.Take take -> ownEffects.take(sender, take);
            case Effect.Publish publish -> ownEffects.publish(sender, publish);
            case Effect.Awakeable awakeable -> ownEffects.awakeable(sender, awakeable);
            case Effect.Subscribe subscribe -> ownEffects.subscribe(sender, subscribe);
            case Effect.SetState set -> objects.set(sender, set);
            case Effect.ClearState clear -> objects.clear(sender, clear);
            case Effect.ClearAllState() -> objects.clearAll(sender);
            case Effect.SetAttribute set -> described.set(sender, set);
            case Effect.SetStatus set -> described.set(sender, set);
            case Effect.Send send -> elsewhere.send(sender, send);
        }
    }

    /** Keys are assigned in the original order of the batch, so that age follows arrival. */
    private NewRuns born(List<RunToStart> unborn, Keys keys) {
        long[] numbers = keys.take(unborn.stream().mapToInt(Batch::size).sum());
        List<RunToStart> born = new ArrayList<>(unborn.size());
        int next = 0;
        for (RunToStart one : unborn) {
            RunToStart birth = one.withNumber(numbers[next]);
            if (!birth.tasks().isEmpty()) {
                long[] ofTasks = Arrays.copyOfRange(numbers, next + 1, next + size(birth));
                birth = birth.withAfter(tasks.add(birth, ofTasks));
            }
            born.add(birth);
            next += size(birth);
            long key = birth.key();
            birth.mails().forEach(mail -> deliveries.born(key, mail));
        }
        return new NewRuns(born);
    }

    /** How many runs start with it, including itself. */
    private static int size(RunToStart birth) {
        return 1 + birth.tasks().size();
    }

    /** Why its values do not fit into the columns, or null. Checked before it becomes part of a batch. */
    public static @Nullable String unstorable(Change change) {
        if (change instanceof Change.Advance advance) {
            for (Entry entry : advance.entries()) {
                if (entry.position() <= Codes.INPUT || entry.position() == Codes.OUTCOME) {
                    return "An entry has the position %s; positions are from 1.".formatted(entry.position());
                }
                if (entry.note() < 0 || entry.note() > Short.MAX_VALUE) {
                    return "Position %s has a note %s; at most %s are kept under one position."
                            .formatted(entry.position(), entry.note(), Short.MAX_VALUE);
                }
            }
        }
        return null;
    }

    public static <C extends Change> List<C> changes(List<Placed<C>> placed) {
        return placed.stream().map(Placed::change).toList();
    }

    /** The runs to lock by key: those that move or change what they say about themselves, and parents that may have to be told that an id is taken. */
    public long[] lockedKeys() {
        LongStream parents = deliveries.all.stream()
                .filter(delivery -> delivery.rival() != null)
                .mapToLong(delivery -> Objects.requireNonNull(delivery.key()));
        LongStream own = LongStream.concat(LongStream.of(Moves.keys(moves)), LongStream.of(Moves.keys(restarts)));
        LongStream others = LongStream.concat(parents, LongStream.of(objects.arrivingKeys()));
        LongStream speaking = described.keys().stream().mapToLong(Long::longValue);
        return LongStream.concat(LongStream.concat(own, others), speaking)
                .distinct()
                .toArray();
    }

    /** The runs that may have attributes since this batch. */
    public long[] attributed() {
        LongStream born = births.all.stream()
                .filter(birth -> !birth.run().description().attributes().isEmpty())
                .mapToLong(RunToStart::key);
        LongStream speaking = described.keys().stream().mapToLong(Long::longValue);
        return LongStream.concat(LongStream.concat(born, speaking), completedCalls.attributed())
                .sorted()
                .toArray();
    }

    /** The runs to lock by id. */
    public String[] lockedIds() {
        return Stream.of(commands.ids(), cancels.ids(), deliveries.ids(), reruns.ids())
                .flatMap(List::stream)
                .toArray(String[]::new);
    }

    public boolean onlyEnds() {
        return moves.stream().allMatch(placed -> placed.change().move() instanceof Move.End);
    }

    /** Whether it changes rows of runs that its worker holds. */
    public boolean moves() {
        return !moves.isEmpty() || !restarts.isEmpty() || !objects.arrivals.isEmpty() || !described.isEmpty();
    }

    /** Whether it only appends to journals. */
    public boolean onlyAppends() {
        return stays.size() == size
                && stays.stream().allMatch(stay -> stay.change().effects().isEmpty());
    }

    public boolean starts() {
        return !births.all.isEmpty();
    }

    /** Whether it touches other runs than those that it moves. */
    public boolean touchesOthers() {
        return !commands.isEmpty()
                || !cancels.isEmpty()
                || !deliveries.isEmpty()
                || !reruns.isEmpty()
                || answers()
                || opens()
                || releases();
    }

    /** Whether all other runs that it touches come after the runs that it moves. */
    public boolean touchesOnlyWhatComesAfter() {
        return opens()
                && commands.isEmpty()
                && cancels.isEmpty()
                && deliveries.isEmpty()
                && reruns.isEmpty()
                && !answers()
                && !releases();
    }

    /** The runs whose tasks have to be locked too, by id. */
    public String[] lockedDags() {
        return Stream.concat(Stream.of(passedOnIds()), reruns.ids().stream()).toArray(String[]::new);
    }

    /** The runs with tasks that may get the commands of this batch with them. */
    public String[] passedOnIds() {
        return Stream.concat(commands.passedOnIds().stream(), cancels.passedOnIds().stream())
                .toArray(String[]::new);
    }

    /** Whether this batch may end a run for whose outcome another run waits. */
    public boolean answers() {
        return ends.answeringKeys().length > 0 || endingIds().length > 0;
    }

    /** Whether it may change which call holds a virtual object, or which calls wait for it. */
    public boolean touchesObjects() {
        return objects.claims() || releases();
    }

    /** Whether this batch may end a call that holds a virtual object or waits for it. */
    public boolean releases() {
        return ends.holdingKeys().length > 0 || !commands.isEmpty() || !cancels.isEmpty();
    }

    /** The runs whose objects have to be locked, by key. */
    public long[] lockedHolders() {
        return LongStream.concat(LongStream.of(ends.holdingKeys()), LongStream.of(objects.arrivingKeys()))
                .toArray();
    }

    /** The runs whose objects have to be locked, by id. */
    public String[] commandedIds() {
        return Stream.concat(commands.ids().stream(), cancels.ids().stream()).toArray(String[]::new);
    }

    /** Whether this batch may end a run that other runs come after. */
    public boolean opens() {
        return ends.openingKeys().length > 0 || endingIds().length > 0;
    }

    /** The runs, by key, that may end and for which other runs wait. */
    public long[] lastKeys() {
        return LongStream.concat(LongStream.of(ends.answeringKeys()), LongStream.of(ends.openingKeys()))
                .toArray();
    }

    public String[] endingIds() {
        return Stream.concat(commands.endingIds().stream(), cancels.endingIds().stream())
                .toArray(String[]::new);
    }
}

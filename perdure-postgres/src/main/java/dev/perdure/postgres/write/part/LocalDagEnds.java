package dev.perdure.postgres.write.part;

import dev.perdure.RunState;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Columns;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Part;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Text;
import dev.perdure.postgres.lane.Sending;
import dev.perdure.postgres.write.change.LocalDag.Member;
import dev.perdure.postgres.write.change.LocalDags;
import dev.perdure.postgres.write.change.Moves;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Origin;
import dev.perdure.spi.change.Premise;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The ends in a batch with beliefs, and the runs that come after them. */
public final class LocalDagEnds {
    private final List<Ending> endings = new ArrayList<>();
    private final Map<Long, Next> next = new HashMap<>();
    private @Nullable Instant at;
    private boolean queued;

    /**
     * An end.
     *
     * @param task the task that ends, or null if the run is no task
     */
    record Ending(
            int index,
            Change.Advance advance,
            Move.End end,
            @Nullable Member task) {
        long key() {
            return advance.run().key();
        }
    }

    /** A run that comes after runs that end. */
    static final class Next {
        final Member run;
        int closed;
        boolean sameQueue = true;
        /** The one of those after which the worker may take it over. */
        @Nullable
        Ending premise;

        boolean begun;
        long epoch;
        long mails;
        boolean asked;

        @Nullable
        Instant deadline;

        Next(Member run) {
            this.run = run;
        }

        boolean taken() {
            return premise != null && sameQueue;
        }

        /** The run as the worker needs it, or null if not all of that is known here. */
        @Nullable
        Claimed claimed() {
            List<Premise> premises = new ArrayList<>(run.after.size());
            for (Member before : run.after) {
                if (before.ended == null) {
                    return null;
                }
                premises.add(before.ended);
            }
            Control control = new Control(0, mails, null, null, null);
            return asked
                    ? null
                    : new Claimed(
                            run.ref,
                            epoch,
                            run.run.definition(),
                            run.run.input(),
                            run.run.seed(),
                            control,
                            deadline,
                            0,
                            premises,
                            run.run.object(),
                            Origin.of(run.run, run.dag.startedAt()));
        }
    }

    /**
     * Adds an end.
     *
     * @param task the task that ends, or null if the run is no task
     */
    public void add(int index, Change.Advance advance, @Nullable Member task) {
        endings.add(new Ending(index, advance, (Move.End) advance.move(), task));
    }

    public boolean isEmpty() {
        return endings.isEmpty();
    }

    /**
     * Called when all have been added.
     *
     * @param skills the definitions that the worker can run
     */
    public void close(Predicate<NewRun> skills) {
        endings.sort(Comparator.comparingLong(Ending::key));
        for (Ending ending : endings) {
            Member task = ending.task();
            if (task != null) {
                follow(ending, task, skills);
            }
        }
    }

    private void follow(Ending ending, Member task, Predicate<NewRun> skills) {
        int place = 0;
        for (Member run : task.before) {
            Next one = next.computeIfAbsent(run.ref.key(), unseen -> new Next(run));
            one.closed++;
            one.sameQueue &= run.run.queue().equals(task.run.queue());
            if (place++ < ending.end().takes() && one.premise == null && skills.test(run.run)) {
                one.premise = ending;
            }
        }
    }

    /** Whether one of the runs that come after them is not taken over by the worker. */
    boolean mayQueue() {
        return next.values().stream().anyMatch(one -> !one.taken());
    }

    /** A row to change: a run that ends, or a run that comes after it. */
    record Row(long key, @Nullable Ending ends, @Nullable Next next) {
        RunState found() {
            return ends != null ? RunState.RUNNING : RunState.PENDING;
        }
    }

    static final Columns<Row> TOUCHED = Columns.<Row>of()
            .bigint("key", Row::key)
            .smallint("found", row -> Codes.of(row.found()))
            .bigint(
                    "epoch",
                    row -> row.ends() == null ? 0 : row.ends().advance().epoch())
            .smallint(
                    "state",
                    row -> row.ends() == null ? 0 : Codes.of(row.ends().end().state()))
            .text(
                    "reason",
                    row -> row.ends() == null
                            ? null
                            : Text.storableOrNull(row.ends().end().reason()))
            .integer("closed", row -> row.next() == null ? 0 : row.next().closed)
            .bool("taken", row -> row.next() != null && row.next().taken());

    static final Columns<Member> CLAIMABLE = Columns.<Member>of()
            .bigint("key", member -> member.ref.key())
            .integer("priority", member -> member.run.priority())
            .text("queue", member -> member.run.queue())
            .text("definition", member -> member.run.definition())
            .text("version", member -> member.run.version())
            .text("placement", member -> member.run.placement().text())
            .text("queue_key", member -> member.run.queueKey());

    public Part part(LocalDagSql sql, Sending sending) {
        return new Part(
                mayQueue() ? sql.endAndQueue : sql.end,
                parameters -> bind(sending.fence(parameters), sending.worker()),
                results -> read(results.next()));
    }

    private void bind(Parameters parameters, @Nullable Integer worker) throws SQLException {
        List<Row> rows = new ArrayList<>(endings.size() + next.size());
        endings.forEach(ending -> rows.add(new Row(ending.key(), ending, null)));
        next.forEach((key, one) -> rows.add(new Row(key, null, one)));
        rows.sort(Comparator.comparingLong(Row::key));
        TOUCHED.bind(parameters, rows).longs(rows.stream().mapToLong(Row::key).toArray());
        Moves.OUTCOMES.bind(parameters, endings.stream().map(Ending::advance).toList());
        parameters.integer(worker).longs(endings.stream().mapToLong(Ending::key).toArray());
        if (mayQueue()) {
            CLAIMABLE.bind(
                    parameters,
                    next.values().stream()
                            .filter(one -> !one.taken())
                            .map(one -> one.run)
                            .toList());
        }
        parameters.number(rows.size());
    }

    /** A row with the time, and with a run that begins, if there is one. No row if the lane is gone. */
    private void read(ResultSet row) throws SQLException {
        while (row.next()) {
            at = at == null ? Results.time(row, "at") : at;
            Next begun = next.get(row.getLong("key"));
            if (begun != null && begun.taken()) {
                begun.begun = true;
                begun.epoch = row.getLong("epoch");
                begun.mails = row.getLong("mails");
                begun.asked = row.getBoolean("asked");
                begun.deadline = Results.timeOrNull(row, "deadline");
            } else if (begun != null) {
                queued = true;
            }
        }
    }

    /** Whether a run is ready now that any worker can claim. */
    public boolean queued() {
        return queued;
    }

    /**
     * Sets the outcomes of the ends.
     *
     * @param lookUp looks up what is not known here about runs that the worker holds
     */
    public void ended(Outcome[] outcomes, Function<long[], Map<Long, Claimed>> lookUp) {
        Instant time = at;
        if (time == null) {
            endings.forEach(ending -> outcomes[ending.index()] = new Outcome.Fenced());
            return;
        }
        for (Ending ending : endings) {
            if (ending.task() != null) {
                LocalDags.noteEnd(ending.task(), ending.end());
            }
        }
        Map<Ending, List<Claimed>> handed = handed(lookUp);
        for (Ending ending : endings) {
            List<Claimed> claims = handed.getOrDefault(ending, List.of());
            outcomes[ending.index()] = new Outcome.Applied(time, ending.end().state(), claims, List.of());
        }
    }

    private Map<Ending, List<Claimed>> handed(Function<long[], Map<Long, Claimed>> lookUp) {
        Map<Long, Claimed> claims = new HashMap<>();
        List<Next> begun = next.values().stream()
                .filter(one -> one.begun)
                .sorted(Comparator.comparingLong(one -> one.run.ref.key()))
                .toList();
        for (Next one : begun) {
            Claimed claim = one.claimed();
            if (claim != null) {
                claims.put(one.run.ref.key(), claim);
            }
        }
        long[] unknown = begun.stream()
                .mapToLong(one -> one.run.ref.key())
                .filter(key -> !claims.containsKey(key))
                .toArray();
        claims.putAll(lookUp.apply(unknown));
        Map<Ending, List<Claimed>> handed = new HashMap<>();
        for (Next one : begun) {
            Claimed claim = claims.get(one.run.ref.key());
            if (claim != null && one.premise != null) {
                handed.computeIfAbsent(one.premise, unseen -> new ArrayList<>()).add(claim);
            }
        }
        return handed;
    }
}

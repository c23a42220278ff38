package dev.perdure.postgres;

import dev.perdure.postgres.Batch.Placed;
import dev.perdure.postgres.Family.Member;
import dev.perdure.spi.Change;
import dev.perdure.spi.NewRun;
import dev.perdure.spi.Outcome;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The starts of runs with tasks in a {@link FamilyBatch}. */
final class FamilyStarts {
    private final List<Placed<Change.Start>> starts = new ArrayList<>();
    private final List<Birth> births = new ArrayList<>();
    private @Nullable Instant at;

    private record Birth(int index, Family family) {}

    /** Whether it is nothing but a start of a run with tasks, of which no other run knows, by a worker that goes on with them. */
    static boolean isOne(Change.Start start) {
        NewRun run = start.run();
        return start.owner() != null
                && !start.tasks().isEmpty()
                && start.mails().isEmpty()
                && run.delay() == null
                && run.parent() == null
                && run.object() == null;
    }

    void add(int index, Change.Start start) {
        starts.add(new Placed<>(index, start));
    }

    void giveKeys(Keys keys) {
        for (Placed<Change.Start> placed : starts) {
            Change.Start start = placed.change();
            long key = Keys.key(keys.take(), start.run().id(), false);
            long[] ofTasks = keys.take(start.tasks().size());
            births.add(new Birth(placed.index(), new Family(key, start.run(), start.tasks(), ofTasks)));
        }
    }

    boolean isEmpty() {
        return starts.isEmpty();
    }

    /** By id, so that two batches that want the same do not wait for each other. */
    void bind(Parameters parameters) throws SQLException {
        List<Member> all = new ArrayList<>();
        for (Birth birth : births) {
            all.add(birth.family().head);
            all.addAll(birth.family().tasks);
        }
        all.sort(Comparator.comparing(member -> member.run.id()));
        int count = all.size();
        int[] begins = new int[count];
        @Nullable Long[] bounds = new Long[count];
        @Nullable Long[] parents = new Long[count];
        long[] edges = new long
                [all.stream()
                        .mapToInt(member -> member.after.size() + member.before.size())
                        .sum()];
        int[] afterFrom = new int[count];
        int[] afterTo = new int[count];
        int[] beforeTo = new int[count];
        int edge = 0;
        List<Member> withInput = new ArrayList<>();
        List<Member> begun = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Member member = all.get(i);
            Member head = member.family.head;
            boolean isTask = member != head;
            begins[i] = isTask && member.begins() ? 1 : 0;
            bounds[i] = Micros.ofNullable(begins[i] == 1 ? shorter(member.run, head.run) : head.run.timeout());
            parents[i] = isTask ? Long.valueOf(head.ref.key()) : null;
            afterFrom[i] = edge + 1;
            for (Member premise : member.after) {
                edges[edge++] = premise.ref.key();
            }
            afterTo[i] = edge;
            for (Member next : member.before) {
                edges[edge++] = next.ref.key();
            }
            beforeTo[i] = edge;
            if (!isTask || member.ownInput() != null) {
                withInput.add(member);
            }
            if (begins[i] == 1) {
                begun.add(member);
            }
        }
        NewRunColumns columns =
                new NewRunColumns(all.stream().map(member -> member.run).toList());
        columns.bindIdentity(parameters.longs(edges).longs(Family.keys(all)));
        parameters.ints(begins).longs(bounds).longs(parents);
        parameters.ints(afterFrom).ints(afterTo).ints(beforeTo);
        parameters
                .longs(Family.keys(withInput))
                .bytes(withInput.stream()
                        .map(member -> member.run.input().bytes())
                        .toArray(byte[][]::new));
        parameters.longs(Family.keys(begun));
    }

    private static @Nullable Duration shorter(NewRun one, NewRun other) {
        Duration ones = one.timeout();
        Duration others = other.timeout();
        return ones == null || (others != null && others.compareTo(ones) < 0) ? others : ones;
    }

    /** A row with the time at which it was done, or none if the lane is gone. */
    void read(ResultSet row) throws SQLException {
        at = row.next() ? Results.time(row, "at") : null;
    }

    void started(Outcome[] outcomes, Families families) {
        for (Birth birth : births) {
            if (at == null) {
                outcomes[birth.index()] = new Outcome.Fenced();
            } else {
                Family family = birth.family();
                families.born(family);
                outcomes[birth.index()] = new Outcome.Started(family.head.ref, false, at, NewTasks.held(family, at));
            }
        }
    }
}

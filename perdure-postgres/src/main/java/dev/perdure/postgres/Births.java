package dev.perdure.postgres;

import dev.perdure.postgres.Batch.Placed;
import dev.perdure.spi.Change;
import dev.perdure.spi.Effect;
import dev.perdure.spi.NewRun;
import dev.perdure.spi.ObjectCall;
import dev.perdure.spi.Parent;
import dev.perdure.spi.Task;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The runs that a batch starts, by id, so that two batches never wait for each other. */
final class Births {
    /**
     * A run to be started.
     *
     * @param key its key, if it comes to be
     * @param run the run
     * @param owned whether it is born running
     * @param asked the change that asks for it, or null when a transition starts it
     * @param starter that transition, or null
     * @param tasks what is born with it
     * @param after the keys of the tasks that it comes after, or null if it has none
     */
    record Birth(
            long key,
            NewRun run,
            boolean owned,
            @Nullable Placed<Change.Start> asked,
            Change.@Nullable Advance starter,
            List<Task> tasks,
            @Nullable List<Long> after) {
        static Birth of(Placed<Change.Start> asked) {
            Change.Start start = asked.change();
            boolean owned = start.owner() != null && start.tasks().isEmpty();
            return new Birth(0, start.run(), owned, asked, null, start.tasks(), null);
        }

        static Birth of(Effect.Start start, Change.Advance starter) {
            return new Birth(0, start.run(), false, null, starter, start.tasks(), null);
        }

        Birth withNumber(long number) {
            Parent parent = run.parent();
            boolean answers = parent != null && parent.answers();
            long key = Keys.key(number, run.id(), answers);
            return new Birth(holds() ? Keys.holdersKey(key) : key, run, owned, asked, starter, tasks, after);
        }

        private boolean holds() {
            return run.object() != null && run.object().hold() != ObjectCall.Hold.SHARED;
        }

        Birth withAfter(List<Long> leaves) {
            return new Birth(key, run, owned, asked, starter, tasks, leaves);
        }

        /** Whether the worker of the batch gets those of its tasks that begin at once. */
        boolean ownsTasks() {
            return asked != null && asked.change().owner() != null;
        }
    }

    final List<Birth> all;

    Births(List<Birth> births) {
        this.all = births.stream()
                .sorted(Comparator.comparing(birth -> birth.run().id()))
                .toList();
    }

    long[] keys() {
        return all.stream().mapToLong(Birth::key).toArray();
    }

    void bind(Parameters parameters, @Nullable Integer worker) throws SQLException {
        int count = all.size();
        @Nullable Integer[] owners = new Integer[count];
        @Nullable Long[] delays = new Long[count];
        @Nullable String[] after = new String[count];
        for (int i = 0; i < count; i++) {
            Birth birth = all.get(i);
            owners[i] = birth.owned() ? worker : null;
            // Of a run with tasks these wait for it.
            delays[i] = birth.after() == null ? Micros.ofNullable(birth.run().delay()) : null;
            after[i] = birth.after() == null ? null : NewTasks.array(birth.after().stream());
        }
        NewRunColumns columns = new NewRunColumns(all.stream().map(Birth::run).toList());
        columns.bindIdentity(parameters.longs(keys()));
        columns.bindInput(parameters.ints(owners)).longs(delays).texts(after);
        bindOrigins(parameters);
    }

    private void bindOrigins(Parameters parameters) throws SQLException {
        @Nullable Long[] parents = new Long[all.size()];
        @Nullable Integer[] positions = new Integer[all.size()];
        for (int i = 0; i < all.size(); i++) {
            Parent parent = all.get(i).run().parent();
            parents[i] = parent == null ? null : parent.run().key();
            positions[i] = parent == null || !parent.answers() ? null : parent.position();
        }
        parameters.longs(parents).ints(positions);
        Rights.bind(parameters, all, Birth::starter);
    }
}

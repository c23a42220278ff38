package dev.perdure.postgres;

import dev.perdure.postgres.Batch.Placed;
import dev.perdure.spi.Change;
import dev.perdure.spi.NewRun;
import dev.perdure.spi.Parent;
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
     */
    record Birth(
            long key,
            NewRun run,
            boolean owned,
            @Nullable Placed<Change.Start> asked,
            Change.@Nullable Advance starter) {
        static Birth of(Placed<Change.Start> asked) {
            NewRun run = asked.change().run();
            return new Birth(0, run, asked.change().owner() != null, asked, null);
        }

        static Birth of(NewRun run, Change.Advance starter) {
            return new Birth(0, run, false, null, starter);
        }

        Birth withNumber(long number) {
            Parent parent = run.parent();
            boolean answers = parent != null && parent.answers();
            return new Birth(Keys.key(number, run.id(), answers), run, owned, asked, starter);
        }
    }

    final List<Birth> all;

    Births(List<Birth> births) {
        this.all = births.stream()
                .sorted(Comparator.comparing(birth -> birth.run().id()))
                .toList();
    }

    void bind(Parameters parameters, @Nullable Integer worker) throws SQLException {
        int count = all.size();
        String[] ids = new String[count];
        String[] definitions = new String[count];
        long[] seeds = new long[count];
        String[] queues = new String[count];
        int[] priorities = new int[count];
        @Nullable String[] versions = new String[count];
        @Nullable Long[] timeouts = new Long[count];
        @Nullable Integer[] owners = new Integer[count];
        byte[][] inputs = new byte[count][];
        @Nullable Long[] delays = new Long[count];
        for (int i = 0; i < count; i++) {
            NewRun run = all.get(i).run();
            ids[i] = run.id().value();
            definitions[i] = run.definition();
            seeds[i] = run.seed();
            queues[i] = run.queue();
            priorities[i] = run.priority();
            versions[i] = run.version();
            timeouts[i] = run.timeout() == null ? null : Micros.of(run.timeout());
            owners[i] = all.get(i).owned() ? worker : null;
            inputs[i] = run.input().bytes();
            delays[i] = run.delay() == null ? null : Micros.of(run.delay());
        }
        parameters
                .longs(all.stream().mapToLong(Birth::key).toArray())
                .texts(ids)
                .texts(definitions)
                .longs(seeds)
                .texts(queues)
                .ints(priorities);
        parameters.texts(versions).longs(timeouts).ints(owners).bytes(inputs).longs(delays);
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

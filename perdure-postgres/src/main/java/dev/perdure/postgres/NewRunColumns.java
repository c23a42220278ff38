package dev.perdure.postgres;

import dev.perdure.spi.NewRun;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The columns of runs to be started that are the same for all that starts them. */
final class NewRunColumns {
    private final String[] ids;
    private final String[] definitions;
    private final long[] seeds;
    private final String[] queues;
    private final int[] priorities;
    private final @Nullable String[] versions;
    private final @Nullable Long[] timeouts;
    private final byte[][] inputs;

    NewRunColumns(List<NewRun> runs) {
        int count = runs.size();
        this.ids = new String[count];
        this.definitions = new String[count];
        this.seeds = new long[count];
        this.queues = new String[count];
        this.priorities = new int[count];
        this.versions = new String[count];
        this.timeouts = new Long[count];
        this.inputs = new byte[count][];
        for (int i = 0; i < count; i++) {
            NewRun run = runs.get(i);
            ids[i] = run.id().value();
            definitions[i] = run.definition();
            seeds[i] = run.seed();
            queues[i] = run.queue();
            priorities[i] = run.priority();
            versions[i] = run.version();
            timeouts[i] = Micros.ofNullable(run.timeout());
            inputs[i] = run.input().bytes();
        }
    }

    Parameters bindIdentity(Parameters parameters) throws SQLException {
        parameters.texts(ids).texts(definitions).longs(seeds).texts(queues).ints(priorities);
        return parameters.texts(versions).longs(timeouts);
    }

    Parameters bindInput(Parameters parameters) throws SQLException {
        return parameters.bytes(inputs);
    }
}

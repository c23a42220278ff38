package dev.perdure.postgres.write.change;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.postgres.jdbc.AuditText;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.write.change.Batch.Placed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The runs that a batch gives another life. */
public final class Reruns {
    public final List<Placed<Change.Rerun>> all = new ArrayList<>();

    public boolean isEmpty() {
        return all.isEmpty();
    }

    List<String> ids() {
        return all.stream().map(rerun -> rerun.change().run().value()).toList();
    }

    public void bindRuns(Parameters parameters) throws SQLException {
        parameters
                .texts(ids().toArray(String[]::new))
                .longs(all.stream().mapToLong(rerun -> rerun.change().seed()).toArray())
                .texts(all.stream()
                        .map(rerun -> AuditText.of(rerun.change().audit()))
                        .toArray(String[]::new));
    }

    public void bindTasks(Parameters parameters) throws SQLException {
        List<Integer> ordinals = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            ordinals.addAll(Collections.nCopies(all.get(i).change().tasks().size(), i + 1));
        }
        parameters
                .ints(ordinals.stream().mapToInt(Integer::intValue).toArray())
                .texts(tasks().stream().map(RunId::value).toArray(String[]::new));
    }

    private List<RunId> tasks() {
        return all.stream().flatMap(rerun -> rerun.change().tasks().stream()).toList();
    }

    public void read(ResultSet rows, Outcome[] outcomes) throws SQLException {
        List<RunId> tasks = tasks();
        while (rows.next()) {
            Placed<Change.Rerun> rerun = all.get(rows.getInt("ordinal") - 1);
            outcomes[rerun.index()] = outcome(rows, rerun.change().run(), tasks);
        }
    }

    private static Outcome outcome(ResultSet row, RunId run, List<RunId> tasks) throws SQLException {
        RunState state = Codes.state(row.getInt("state"));
        return switch (row.getInt("verdict")) {
            case Codes.FIT -> new Outcome.Applied(Results.time(row, "at"), Codes.state(row.getInt("state_now")));
            case Codes.DONE_BEFORE -> new Outcome.AlreadyThere(Results.time(row, "changed_at"), state);
            case Codes.REMOVED -> Outcome.Refused.removed(run);
            case Codes.ACTIVE -> Outcome.Refused.active(run, state);
            default -> unfit(row, run, tasks.get(row.getInt("culprit") - 1));
        };
    }

    private static Outcome unfit(ResultSet row, RunId run, RunId task) throws SQLException {
        Integer state = row.getObject("culprit_state", Integer.class);
        return state == null ? Outcome.Refused.noTaskOf(task, run) : Outcome.Refused.active(task, Codes.state(state));
    }
}

package dev.perdure.postgres.removal;

import dev.perdure.RunId;
import dev.perdure.postgres.jdbc.AuditText;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Part;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Script;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Removals;
import dev.perdure.spi.change.Change;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Deletes a run on behalf of an operator, by the batches of retention.
 *
 * <p>How it works: a batch is a transaction. If the run and what belongs to it fit into one, they are gone with it.
 * Otherwise they are a tree that batches walk through ({@link Trees}); the run itself goes last. The audit entry is written by the
 * first batch that removes something. So a delete that is sent again after a crash goes on with a run that is
 * closed, and leaves a run alone that was started under the same id since. Retention goes on with it, too.
 */
final class RunDeletion {
    private final RemovalSql sql;
    private final Script script;
    private final RunId run;
    private final Change.Seen seen;
    private final Audit audit;

    RunDeletion(RemovalSql sql, Script script, RunId run, Change.Seen seen, Audit audit) {
        this.sql = sql;
        this.script = script;
        this.run = run;
        this.seen = seen;
        this.audit = audit;
    }

    /** Makes a batch of so many runs. Returns null if more is to be deleted. */
    @Nullable
    Outcome batch(Connection connection, @Nullable Instant time, int most) throws SQLException {
        Instant now = now(connection, time);
        OldRun found = find(connection);
        if (found == null) {
            return new Outcome.UnknownRun();
        }
        Removals.Holders holders = new Removals.Holders(
                found.kept() ? parent(connection, found.key()) : null, found.named(), found.isCopied(now));
        String refusal = Removals.refusal(run, found.kind().state(), holders);
        if (refusal != null) {
            return new Outcome.Refused(refusal);
        }
        Expiry expiry = new Expiry(null, now);
        Trees trees = new Trees(connection, sql, script, now);
        Tree tree = trees.find(found.key());
        RemovalBatch batch = new RemovalBatch(connection, sql, script, expiry, most);
        if (tree == null && batch.take(found) != RemovalBatch.Fit.NEVER) {
            return delete(connection, batch, found, now);
        }
        if (tree == null || !tree.asked()) {
            trees.add(found.key(), true);
            tree = trees.find(found.key());
        }
        Trees.Progress progress = trees.step(Objects.requireNonNull(tree), expiry, most);
        if (progress.stage() == Tree.Stage.REMOVING) {
            record(connection, found, now);
        }
        return switch (progress.result()) {
            case GOES_ON -> null;
            case DONE -> new Outcome.Applied(now, found.kind().state());
            case STAYS -> new Outcome.Refused(Removals.livesBelow(run));
            case LOCKED -> locked(run);
        };
    }

    /** Deletes a run for which one batch is enough. */
    private @Nullable Outcome delete(Connection connection, RemovalBatch batch, OldRun found, Instant now)
            throws SQLException {
        if (batch.isEmpty()) {
            return new Outcome.Refused(Removals.livesBelow(run));
        }
        boolean finished = batch.delete(null);
        if (finished && batch.removed() == 0) {
            return locked(run);
        }
        record(connection, found, now);
        return finished ? new Outcome.Applied(now, found.kind().state()) : null;
    }

    static Outcome locked(RunId run) {
        return new Outcome.Refused(
                "Another transaction changes the run '%s' at this moment. Delete it again.".formatted(run));
    }

    private void record(Connection connection, OldRun found, Instant now) throws SQLException {
        Part entry = new Part(
                sql.deleted,
                parameters -> parameters.text(AuditText.of(audit)).time(now).number(found.key()));
        script.send(connection, List.of(entry));
    }

    private Instant now(Connection connection, @Nullable Instant time) throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, sql.clock)) {
            new Parameters(statement).time(time);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return Results.time(row, "now");
            }
        }
    }

    private @Nullable OldRun find(Connection connection) throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, sql.find)) {
            new Parameters(statement)
                    .text(run.value())
                    .time(seen.createdAt())
                    .time(seen.changedAt())
                    .text(audit.id().toString());
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? OldRun.of(row) : null;
            }
        }
    }

    private String parent(Connection connection, long key) throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, sql.parent)) {
            new Parameters(statement).number(key);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getString("id");
            }
        }
    }
}

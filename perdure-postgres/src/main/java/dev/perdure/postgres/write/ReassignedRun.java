package dev.perdure.postgres.write;

import dev.perdure.RunState;
import dev.perdure.postgres.jdbc.AuditText;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Part;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;

/**
 * Moves a run to another queue or version, under the lock of its row and only if no worker holds it. A claim that has
 * taken the run before has changed its row, and one that comes later waits for neither lock: it skips what is locked.
 */
final class ReassignedRun {
    private final WriteContext context;
    private final ReassignSql sql;
    private final RetrySql retrySql;

    ReassignedRun(WriteContext context, Schema schema) {
        this.context = context;
        this.sql = new ReassignSql(schema);
        this.retrySql = new RetrySql(schema);
    }

    Outcome apply(Connection connection, Change.Reassign reassign) throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, sql.lock)) {
            new Parameters(statement).text(reassign.run().value());
            statement.execute();
        }
        try (PreparedStatement statement = Database.prepare(connection, sql.find)) {
            new Parameters(statement)
                    .time(context.database().time())
                    .text(reassign.run().value())
                    .text(reassign.queue())
                    .text(reassign.version())
                    .text(reassign.audit().id().toString())
                    .time(reassign.seen().createdAt());
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? apply(connection, reassign, row) : new Outcome.UnknownRun();
            }
        }
    }

    private Outcome apply(Connection connection, Change.Reassign reassign, ResultSet row) throws SQLException {
        RunState state = Codes.state(row.getInt("state"));
        if (row.getBoolean("done")) {
            return new Outcome.AlreadyThere(Results.time(row, "changed_at"), state);
        }
        String refusal =
                reassign.refusal(state, row.getLong("epoch") > 0, row.getBoolean("of_dag"), row.getBoolean("calls"));
        if (refusal != null) {
            return new Outcome.Refused(refusal);
        }
        long key = row.getLong("key");
        Instant at = Results.time(row, "at");
        Part move = new Part(
                sql.move,
                parameters -> parameters
                        .number(key)
                        .text(reassign.queue())
                        .text(reassign.version())
                        .time(at));
        Part entry = new Part(
                retrySql.audit,
                parameters ->
                        parameters.text(AuditText.of(reassign.audit())).time(at).number(key));
        context.script().send(connection, List.of(move, entry));
        return new Outcome.Applied(at, state);
    }
}

package dev.perdure.postgres.payload;

import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Query;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadReference;
import dev.perdure.spi.payload.Payloads;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Large payloads in tables of their own. Each chunk is written and read by a statement of its own, which has the
 * connection only for itself, so four large values on their way do not keep others from committing.
 */
public final class PostgresPayloads implements Payloads {
    private final Database database;
    private final PayloadSql sql;

    public PostgresPayloads(Database database, Schema schema, String settings) {
        this.database = database;
        this.sql = new PayloadSql(schema, settings);
    }

    private static byte[] bytes(PayloadReference reference) {
        return reference.payload().bytes();
    }

    private static byte[][] bytes(Collection<PayloadReference> references) {
        return references.stream().map(PostgresPayloads::bytes).toArray(byte[][]::new);
    }

    private static PayloadReference reference(ResultSet row) throws SQLException {
        return PayloadReference.of(new Payload(row.getBytes("reference"))).orElseThrow();
    }

    private static UUID upload(ResultSet row) throws SQLException {
        return row.getObject("upload", UUID.class);
    }

    // ---- writing

    @Override
    public void write(UUID upload, int number, byte[] chunk) {
        update(
                sql.write,
                parameters -> parameters
                        .object(upload)
                        .integer(number)
                        .time(database.time())
                        .bytes(chunk));
    }

    @Override
    public boolean finish(UUID upload, PayloadReference reference) {
        List<UUID> named = new Query(database)
                .all(
                        sql.finish,
                        parameters -> parameters
                                .object(upload)
                                .object(upload)
                                .integer(reference.chunks())
                                .bytes(bytes(reference))
                                .object(upload)
                                .time(database.time()),
                        PostgresPayloads::upload);
        if (named.isEmpty()) {
            return keep(reference);
        }
        if (!named.getFirst().equals(upload)) {
            discard(upload);
        }
        return true;
    }

    @Override
    public void discard(UUID upload) {
        update(sql.discard, parameters -> parameters.object(upload).object(upload));
    }

    @Override
    public boolean keep(PayloadReference reference) {
        return !new Query(database)
                .all(sql.keep, parameters -> parameters.bytes(bytes(reference)), PostgresPayloads::upload)
                .isEmpty();
    }

    private void update(String statement, Query.Binding binding) {
        database.call(connection -> update(connection, statement, binding));
    }

    private static boolean update(Connection connection, String statement, Query.Binding binding) throws SQLException {
        try (PreparedStatement prepared = Database.prepare(connection, statement)) {
            binding.bind(new Parameters(prepared));
            return prepared.execute();
        }
    }

    // ---- reading

    @Override
    public Optional<byte[]> read(PayloadReference reference, int number) {
        return new Query(database)
                        .all(
                                sql.read,
                                parameters -> parameters.integer(number).bytes(bytes(reference)),
                                row -> row.getBytes("bytes"))
                        .stream()
                        .findFirst();
    }

    @Override
    public List<PayloadReference> list(@Nullable PayloadReference after, int limit) {
        return new Query(database)
                .all(
                        sql.list,
                        parameters -> parameters
                                .bytes(after == null ? new byte[0] : bytes(after))
                                .integer(limit),
                        PostgresPayloads::reference);
    }

    @Override
    public Set<PayloadReference> referred(Collection<PayloadReference> references) {
        return new HashSet<>(new Query(database)
                .byIndex(sql.referred, parameters -> parameters.bytes(bytes(references)), PostgresPayloads::reference));
    }

    // ---- removing

    @Override
    public boolean takeTurn(Duration rest) {
        return new Query(database)
                .all(
                        sql.takeTurn,
                        parameters -> parameters
                                .time(database.time())
                                .text(rest.toString())
                                .time(database.time()),
                        row -> row.getBoolean("taken"))
                .getFirst();
    }

    @Override
    public int remove(Collection<PayloadReference> unreferred, Collection<PayloadReference> referred, Duration after) {
        return database.inTransaction(connection -> {
            update(connection, sql.retain, parameters -> parameters.bytes(bytes(referred)));
            update(
                    connection,
                    sql.release,
                    parameters -> parameters.time(database.time()).bytes(bytes(unreferred)));
            List<UUID> gone = uploads(
                    connection,
                    sql.remove,
                    parameters -> parameters
                            .bytes(bytes(unreferred))
                            .time(database.time())
                            .text(after.toString()));
            if (!gone.isEmpty()) {
                update(connection, sql.removeChunks, parameters -> parameters.uuids(gone.toArray(UUID[]::new)));
            }
            return gone.size();
        });
    }

    @Override
    public int removeUploads(Duration after) {
        return database.inTransaction(connection -> {
            List<UUID> old = uploads(
                    connection,
                    sql.oldUploads,
                    parameters -> parameters.time(database.time()).text(after.toString()));
            if (old.isEmpty()) {
                return 0;
            }
            try (PreparedStatement statement = Database.prepare(connection, sql.removeUploads)) {
                new Parameters(statement).uuids(old.toArray(UUID[]::new));
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    return row.getInt(1);
                }
            }
        });
    }

    private static List<UUID> uploads(Connection connection, String statement, Query.Binding binding)
            throws SQLException {
        try (PreparedStatement prepared = Database.prepare(connection, statement)) {
            binding.bind(new Parameters(prepared));
            try (ResultSet rows = prepared.executeQuery()) {
                List<UUID> found = new ArrayList<>();
                while (rows.next()) {
                    found.add(upload(rows));
                }
                return found;
            }
        }
    }
}

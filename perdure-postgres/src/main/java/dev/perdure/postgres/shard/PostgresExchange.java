package dev.perdure.postgres.shard;

import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Query;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.spi.shard.Exchange;
import dev.perdure.spi.shard.ShardMap;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;

/** A PostgreSQL database as one of several shards. */
public final class PostgresExchange implements Exchange {
    private static final String MEMBERSHIP = "SELECT name, version, owners FROM ${schema}.shard";

    private static final String JOIN = """
            INSERT INTO ${schema}.shard (name, version, owners) VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING name
            """;

    private final Query query;
    private final String membership;
    private final String join;

    public PostgresExchange(Database database, Schema schema) {
        this.query = new Query(database);
        this.membership = schema.sql(MEMBERSHIP);
        this.join = schema.sql(JOIN);
    }

    @Override
    public Optional<Membership> membership() {
        return query.all(membership, parameters -> {}, PostgresExchange::read).stream()
                .findFirst();
    }

    private static Membership read(ResultSet row) throws SQLException {
        return new Membership(row.getString("name"), new ShardMap(row.getInt("version"), Results.texts(row, "owners")));
    }

    /** A concurrent insert wins or loses as a whole, so what is read afterwards is what all processes see. */
    @Override
    public Membership join(Membership first) {
        query.all(
                join,
                parameters -> parameters
                        .text(first.name())
                        .integer(first.map().version())
                        .texts(first.map().owners()),
                row -> row.getString("name"));
        return membership().orElseThrow();
    }
}

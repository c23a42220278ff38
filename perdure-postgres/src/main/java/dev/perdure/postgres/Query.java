package dev.perdure.postgres;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Asks one question and reads all rows of the answer. */
final class Query {
    /** Reads a row. */
    @FunctionalInterface
    interface Reader<T> {
        T read(ResultSet row) throws SQLException;
    }

    /** Binds the parameters. */
    @FunctionalInterface
    interface Binding {
        void bind(Parameters parameters) throws SQLException;
    }

    private final Database database;

    Query(Database database) {
        this.database = database;
    }

    <T> List<T> all(String statementText, Binding binding, Reader<T> reader) {
        return database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, statementText)) {
                binding.bind(new Parameters(statement));
                try (ResultSet rows = statement.executeQuery()) {
                    List<T> all = new ArrayList<>();
                    while (rows.next()) {
                        all.add(reader.read(rows));
                    }
                    return all;
                }
            }
        });
    }
}

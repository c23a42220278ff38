package dev.perdure.postgres.jdbc;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Runs one query and reads all rows of the answer. */
public final class Query {
    /** Reads a row. */
    @FunctionalInterface
    public interface Reader<T> {
        T read(ResultSet row) throws SQLException;
    }

    /** Binds the parameters. */
    @FunctionalInterface
    public interface Binding {
        void bind(Parameters parameters) throws SQLException;
    }

    private final Database database;

    public Query(Database database) {
        this.database = database;
    }

    public <T> List<T> all(String statementText, Binding binding, Reader<T> reader) {
        return database.call(asking(statementText, binding, rows -> read(rows, reader)));
    }

    /** The same for a thread that guards a lease: it waits for no other call but those that have a connection already. */
    public <T> List<T> allFirst(String statementText, Binding binding, Reader<T> reader) {
        return database.callFirst(asking(statementText, binding, rows -> read(rows, reader)));
    }

    /** The same for rows of many runs, or of many things with names: those that cannot be read are left out. */
    public <T> List<T> readable(String statementText, Binding binding, Reader<T> reader) {
        return database.call(
                asking(statementText, binding, rows -> database.unreadable().all(rows, reader)));
    }

    private static <T> Database.Work<List<T>> asking(String statementText, Binding binding, Reader<List<T>> answer) {
        return connection -> {
            try (PreparedStatement statement = Database.prepare(connection, statementText)) {
                binding.bind(new Parameters(statement));
                try (ResultSet rows = statement.executeQuery()) {
                    return answer.read(rows);
                }
            }
        };
    }

    /** The same for a statement behind the settings of batches, which keep its plan on indexes. */
    public <T> List<T> byIndex(String settingsAndStatement, Binding binding, Reader<T> reader) {
        return database.call(askingByIndex(settingsAndStatement, binding, rows -> read(rows, reader)));
    }

    /** The same without rows that cannot be read. */
    public <T> List<T> readableByIndex(String settingsAndStatement, Binding binding, Reader<T> reader) {
        return database.call(askingByIndex(
                settingsAndStatement, binding, rows -> database.unreadable().all(rows, reader)));
    }

    private static <T> Database.Work<List<T>> askingByIndex(
            String settingsAndStatement, Binding binding, Reader<List<T>> answer) {
        return connection -> {
            try (PreparedStatement statement = Database.prepare(connection, settingsAndStatement)) {
                binding.bind(new Parameters(statement).text(Database.LOCK_TIMEOUT));
                statement.execute();
                Results results = new Results(statement);
                results.skip();
                return answer.read(results.next());
            }
        };
    }

    private static <T> List<T> read(ResultSet rows, Reader<T> reader) throws SQLException {
        List<T> all = new ArrayList<>();
        while (rows.next()) {
            all.add(reader.read(rows));
        }
        return all;
    }
}

package dev.perdure.benchmarks.server;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * A connection with which the benchmark observes the server during a measurement. It only reads, and its cost does not
 * count.
 */
public final class Observer implements AutoCloseable {
    private static final String NAME = "benchmark observer";

    private final Connection connection;

    public Observer(BenchDatabase database) throws SQLException {
        this.connection = database.connect(NAME);
    }

    /** The number that a query returns. */
    public long number(String query) throws SQLException {
        return numbers(query).getFirst().longValue();
    }

    /** The numbers in the one row that a query returns. */
    public List<Double> numbers(String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            List<Double> numbers = new ArrayList<>();
            for (int column = 1; column <= row.getMetaData().getColumnCount(); column++) {
                numbers.add(row.getDouble(column));
            }
            return numbers;
        }
    }

    /** The pids of the server processes of all observers, this one included. */
    public List<Long> observers() throws SQLException {
        List<Long> pids = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(
                        "SELECT pid FROM pg_stat_activity WHERE application_name = '%s'".formatted(NAME))) {
            while (rows.next()) {
                pids.add(rows.getLong(1));
            }
        }
        return pids;
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}

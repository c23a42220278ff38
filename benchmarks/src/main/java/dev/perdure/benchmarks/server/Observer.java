package dev.perdure.benchmarks.server;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** A connection by which the benchmark looks on while something is measured. What it costs the server is not counted. It only reads. */
public final class Observer implements AutoCloseable {
    private static final String NAME = "benchmark observer";

    private final Connection connection;

    public Observer(Site site) throws SQLException {
        this.connection = site.connect(NAME);
    }

    /** The one number that a query gives. */
    public long number(String query) throws SQLException {
        return numbers(query).getFirst().longValue();
    }

    /** The numbers in the one row that a query gives. */
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

    /** The processes of the server that serve observers, this one's and others'. */
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

package dev.perdure.postgres.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One statement of a batch: its text, its parameters, and how its answer is read. */
public record Part(String sql, Binding binding, Reading reading) {
    /** Binds the parameters of a statement. */
    @FunctionalInterface
    public interface Binding {
        void to(Parameters parameters) throws SQLException;
    }

    /** Reads the answer of a statement, which is the next of these results. */
    @FunctionalInterface
    public interface Reading {
        void from(Results results) throws SQLException;
    }

    /** A part whose answer is not read. */
    public Part(String sql, Binding binding) {
        this(sql, binding, Results::skip);
    }

    /** A part that returns the time at which it was done, or no row if the lane is gone. */
    public static Part timed(String sql, Binding binding, Consumer<@Nullable Instant> done) {
        return new Part(sql, binding, results -> {
            ResultSet row = results.next();
            done.accept(row.next() ? Results.time(row, "at") : null);
        });
    }
}

package dev.perdure.postgres;

import java.sql.SQLException;

/** One statement of a batch: its text, what it is given, and what its answer means. */
record Part(String sql, Binding binding, Reading reading) {
    /** Gives a statement its parameters. */
    @FunctionalInterface
    interface Binding {
        void to(Parameters parameters) throws SQLException;
    }

    /** Reads the answer of a statement, which is the next of these results. */
    @FunctionalInterface
    interface Reading {
        void from(Results results) throws SQLException;
    }

    /** A part whose answer says nothing that anybody has to know. */
    Part(String sql, Binding binding) {
        this(sql, binding, Results::skip);
    }
}

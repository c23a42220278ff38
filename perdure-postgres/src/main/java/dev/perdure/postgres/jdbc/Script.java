package dev.perdure.postgres.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** Sends parts as one execute: one round trip, one transaction, one commit. */
public final class Script {
    /** The texts of scripts, by the texts of their parts. There is one per kind of batch, a few dozen in all. */
    private final ConcurrentMap<List<String>, String> texts = new ConcurrentHashMap<>();

    public void send(Connection connection, List<Part> parts) throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, text(parts))) {
            Parameters parameters = new Parameters(statement);
            for (Part part : parts) {
                part.binding().to(parameters);
            }
            statement.execute();
            Results results = new Results(statement);
            for (Part part : parts) {
                part.reading().from(results);
            }
        }
    }

    private String text(List<Part> parts) {
        List<String> each = new ArrayList<>(parts.size());
        for (Part part : parts) {
            each.add(part.sql());
        }
        return texts.computeIfAbsent(each, unseen -> String.join(";\n", unseen));
    }
}

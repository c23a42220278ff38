package dev.perdure.postgres.work;

import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.spi.Dispatch.Poll;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * Which ready runs a worker may take: pairs of a definition and the version that a row of {@code ready} has. A worker
 * that drains a definition takes only those of its runs that are pinned.
 *
 * @param definitions the definitions
 * @param versions the versions that belong to them
 */
record Suiting(List<String> definitions, List<String> versions) {
    static Suiting of(Poll request, List<String> versions) {
        List<String> definitions = new ArrayList<>();
        List<String> theirs = new ArrayList<>();
        for (String definition : request.definitions()) {
            boolean drained = request.version().drained().contains(definition);
            for (String version : versions) {
                if (!drained || Placements.isPinned(version)) {
                    definitions.add(definition);
                    theirs.add(version);
                }
            }
        }
        return new Suiting(definitions, theirs);
    }

    Parameters bind(Parameters parameters) throws SQLException {
        return parameters.texts(definitions).texts(versions);
    }

    /** Binds the parameters of {@link DispatchSql#PINNED}. */
    static Parameters bindPins(Parameters parameters, Poll request) throws SQLException {
        return parameters
                .texts(request.version().pinned())
                .text(request.version().name());
    }
}

package dev.perdure.postgres.reaction;

import dev.perdure.RunState;
import dev.perdure.postgres.jdbc.AuditText;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Micros;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Part;
import dev.perdure.postgres.jdbc.Query;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Script;
import dev.perdure.postgres.jdbc.Text;
import dev.perdure.reaction.Occasion;
import dev.perdure.reaction.ReactionInfo;
import dev.perdure.spi.Audit;
import dev.perdure.spi.ReactionRules;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The reactions, and the search for late runs. Nothing of it is cached, so a change holds at once everywhere. */
public final class PostgresReactions implements ReactionRules {
    private static final List<RunState> STATES = List.of(RunState.FAILED, RunState.PAUSED, RunState.CANCELLED);

    private final Database database;
    private final ReactionSql sql;
    private final String settings;
    private final Query query;
    private final Script script = new Script();

    /**
     * The reactions of a database.
     *
     * @param settings the settings of batches, which keep plans on indexes
     */
    public PostgresReactions(Database database, ReactionSql sql, String settings) {
        this.database = database;
        this.sql = sql;
        this.settings = settings;
        this.query = new Query(database);
    }

    @Override
    public void declare(Collection<ReactionInfo> reactions) {
        for (ReactionInfo reaction : reactions) {
            String[] definitions = reaction.definitions().stream().sorted().toArray(String[]::new);
            update(
                    sql.declare,
                    parameters -> parameters
                            .text(reaction.name())
                            .shorts(states(reaction.occasions()))
                            .object(Micros.ofNullable(reaction.late().orElse(null)))
                            .texts(definitions.length == 0 ? null : definitions)
                            .text(reaction.starts())
                            .text(reaction.queue())
                            .time(database.time()));
        }
    }

    private static Short[] states(Set<Occasion> occasions) {
        return STATES.stream()
                .filter(state -> Occasion.of(state).filter(occasions::contains).isPresent())
                .map(Codes::of)
                .toArray(Short[]::new);
    }

    @Override
    public boolean apply(Order order, @Nullable Audit audit) {
        return switch (order) {
            case Order.Pause(String reaction, String reason) -> pause(reaction, Text.storable(reason), audit);
            case Order.Resume(String reaction) -> pause(reaction, null, audit);
            case Order.Delete(String reaction) ->
                update(sql.delete, parameters -> AuditText.bind(parameters.text(reaction), audit, database.time()));
        };
    }

    private boolean pause(String reaction, @Nullable String reason, @Nullable Audit audit) {
        return update(
                sql.pause,
                parameters -> AuditText.bind(parameters.text(reason).text(reaction), audit, database.time()));
    }

    private boolean update(String statement, Part.Binding binding) {
        return database.call(connection -> {
            try (PreparedStatement prepared = Database.prepare(connection, statement)) {
                binding.to(new Parameters(prepared));
                try (ResultSet row = prepared.executeQuery()) {
                    row.next();
                    return row.getLong(1) > 0;
                }
            }
        });
    }

    @Override
    public List<ReactionInfo> list() {
        return query.readable(sql.list, parameters -> {}, PostgresReactions::read);
    }

    private static ReactionInfo read(ResultSet row) throws SQLException {
        Set<Occasion> occasions = EnumSet.noneOf(Occasion.class);
        for (Object code : (Object[]) row.getArray("states").getArray()) {
            Occasion.of(Codes.state(((Number) code).intValue())).ifPresent(occasions::add);
        }
        Optional<Duration> late = Optional.ofNullable(Micros.durationOrNull(row, "late"));
        late.ifPresent(after -> occasions.add(Occasion.LATE));
        return new ReactionInfo(
                row.getString("name"),
                occasions,
                late,
                row.getArray("definitions") == null ? Set.of() : Set.copyOf(Results.texts(row, "definitions")),
                row.getString("starts"),
                row.getString("queue"),
                Optional.ofNullable(row.getString("paused")));
    }

    /**
     * What a look at late runs has found.
     *
     * @param requested whether a reaction has requested runs
     * @param next when the next run would be late, or null
     */
    public record Looked(boolean requested, @Nullable Instant next) {}

    /** Requests runs for runs that are late now. */
    public Looked findLate() {
        boolean[] requested = new boolean[1];
        @Nullable Instant[] next = new Instant[1];
        List<Part> parts = List.of(
                new Part(settings, parameters -> parameters.text(Database.LOCK_TIMEOUT)),
                new Part(
                        sql.late,
                        parameters -> parameters.time(database.time()),
                        results -> requested[0] = results.one().getLong(1) > 0),
                new Part(
                        sql.nextLate,
                        parameters -> {},
                        results -> next[0] = Results.timeOrNull(results.one(), "next")));
        database.call(connection -> {
            script.send(connection, parts);
            return null;
        });
        return new Looked(requested[0], next[0]);
    }
}

package dev.perdure.postgres.version;

import dev.perdure.postgres.jdbc.AuditText;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Query;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Runs;
import dev.perdure.spi.VersionRules;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.version.VersionInfo;
import dev.perdure.version.WorkerInfo;
import dev.perdure.version.WorkerInfo.Heap;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Which versions of workers drain, and which runs are pinned to them. */
public final class PostgresVersions implements VersionRules {
    private final Database database;
    private final Query query;
    private final VersionSql sql;

    public PostgresVersions(Database database, Schema schema) {
        this.database = database;
        this.query = new Query(database);
        this.sql = new VersionSql(schema);
    }

    @Override
    public void apply(Order order, @Nullable Audit audit) {
        query.all(
                order.drains() ? sql.drain : sql.resume,
                parameters -> {
                    parameters.text(order.version()).text(order.definition());
                    if (order.drains()) {
                        parameters.time(database.time());
                    }
                    AuditText.bind(parameters, audit, database.time());
                },
                row -> row.getLong(1));
    }

    @Override
    public Set<String> drains(String version) {
        return Set.copyOf(query.all(sql.drains, parameters -> parameters.text(version), row -> row.getString(1)));
    }

    @Override
    public void obeys(WorkerId worker, Set<String> drains) {
        query.all(sql.obeys, parameters -> parameters.texts(drains).object(worker.value()), row -> row.getLong(1));
    }

    @Override
    public boolean isDrained(String version) {
        return query.all(sql.isDrained, parameters -> parameters.text(version), row -> row.getBoolean("drained"))
                .getFirst();
    }

    @Override
    public List<WorkerInfo> workers() {
        return query.readable(sql.workers, parameters -> {}, PostgresVersions::worker);
    }

    private static WorkerInfo worker(ResultSet row) throws SQLException {
        List<String> definitions = Results.texts(row, "definitions").stream()
                .filter(name -> !name.startsWith(Runs.OF_THE_ENGINE))
                .sorted()
                .toList();
        List<String> drains = Results.texts(row, "drains");
        return new WorkerInfo(
                row.getObject("id", UUID.class),
                Optional.ofNullable(row.getString("version")),
                definitions,
                Results.texts(row, "queues").stream().sorted().toList(),
                Results.pairs(row, "labels"),
                Results.time(row, "expires_at"),
                row.getInt("held"),
                heap(row),
                drains.contains(ALL)
                        ? definitions
                        : definitions.stream().filter(drains::contains).toList());
    }

    /** Unknown until the worker first renews its lease. */
    private static Optional<Heap> heap(ResultSet row) throws SQLException {
        long used = row.getLong("heap_used");
        return row.wasNull() ? Optional.empty() : Optional.of(new Heap(used, row.getLong("heap_max")));
    }

    /**
     * A definition of a version, with what the version as a whole has.
     *
     * @param workers how many live workers have the version
     * @param told whether the whole version is told to drain
     * @param allObey whether all its workers obey that
     */
    private record Part(String version, VersionInfo.Definition definition, int workers, boolean told, boolean allObey) {
        static Part of(ResultSet row) throws SQLException {
            return new Part(
                    row.getString("version"),
                    new VersionInfo.Definition(
                            row.getString("definition"),
                            row.getLong("runs"),
                            row.getInt("workers"),
                            row.getBoolean("draining"),
                            row.getBoolean("drained")),
                    row.getInt("version_workers"),
                    row.getBoolean("told"),
                    row.getBoolean("all_obey"));
        }
    }

    @Override
    public List<VersionInfo> list() {
        return query.readable(sql.list, parameters -> {}, Part::of).stream()
                .collect(Collectors.groupingBy(Part::version, TreeMap::new, Collectors.toList()))
                .values()
                .stream()
                .map(PostgresVersions::info)
                .toList();
    }

    private static VersionInfo info(List<Part> parts) {
        Part any = parts.getFirst();
        long runs = parts.stream().mapToLong(part -> part.definition().runs()).sum();
        List<VersionInfo.Definition> definitions = parts.stream()
                .map(Part::definition)
                .filter(definition -> !definition.name().startsWith(Runs.OF_THE_ENGINE))
                .toList();
        return new VersionInfo(
                any.version(),
                VersionInfo.state(any.workers(), runs, any.told(), any.allObey()),
                any.workers(),
                runs,
                definitions);
    }
}

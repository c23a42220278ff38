package dev.perdure.torture;

import dev.perdure.Perdure;
import dev.perdure.RunFilter;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.torture.setup.Address;
import dev.perdure.torture.setup.Workers;
import dev.perdure.torture.work.Workload;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** The time after the faults: all work ends, and nothing of it stays behind. */
final class Rest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration BETWEEN = Duration.ofMillis(250);
    private static final Duration TO_RELEASE = Duration.ofSeconds(10);
    private static final int PAGE = 1_000;
    private static final List<String> CANCELLED_BY_FAULTS = List.of("hasty-", "poison-");

    private static final String UNFINISHED = """
            SELECT (SELECT count(*) FROM perdure.run WHERE state < 6) + (SELECT count(*) FROM perdure.inbox)
            """;
    private static final String LEFT_BEHIND = """
            SELECT format('The table %s has %s rows although no run is left.', name, rows)
            FROM (VALUES ('held', (SELECT count(*) FROM perdure.held)),
                         ('ready', (SELECT count(*) FROM perdure.ready)),
                         ('timer', (SELECT count(*) FROM perdure.timer))) AS t (name, rows)
            WHERE rows > 0
            """;
    private static final String LEFT_BY_WORKERS = """
            SELECT format('%s %s are left although every worker has left.', rows, name)
            FROM (VALUES ('lanes', (SELECT count(*) FROM perdure.lane JOIN perdure.worker ON worker.number = worker
                                    WHERE labels ? 'process')),
                         ('locks', (SELECT count(*) FROM pg_locks JOIN pg_class ON pg_class.oid = relation
                                    WHERE relnamespace = 'perdure'::regnamespace AND pid <> pg_backend_pid())),
                         ('open transactions', (SELECT count(*) FROM pg_stat_activity
                                                WHERE xact_start IS NOT NULL AND backend_type = 'client backend'
                                                AND pid <> pg_backend_pid())),
                         ('prepared transactions', (SELECT count(*) FROM pg_prepared_xacts)),
                         ('messages that a completed run has not taken',
                          (SELECT count(*) FROM perdure.mail JOIN perdure.run USING (key, partition)
                           WHERE NOT taken AND state = 6 AND run.id SIMILAR TO '(rallies|families)-%'))) AS t (name, rows)
            WHERE rows > 0
            """;
    private static final String TWO_OUTCOMES = """
            SELECT format('Run %s has left the state %s, which is an end.', id, state) FROM perdure.events e
            WHERE state IN ('COMPLETED', 'FAILED', 'CANCELLED')
              AND number < (SELECT max(number) FROM perdure.events WHERE id = e.id)
            """;

    private final Perdure client;
    private final List<Address> databases;
    private final Workers workers;
    private final List<Workload> workloads;

    /**
     * The rest of this work.
     *
     * @param databases those of the engine, without a proxy
     */
    Rest(Perdure client, List<Address> databases, Workers workers, List<Workload> workloads) {
        this.client = client;
        this.databases = List.copyOf(databases);
        this.workers = workers;
        this.workloads = List.copyOf(workloads);
    }

    /** Waits until all has ended; gives what has not. */
    List<String> await() throws SQLException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        return ask(statement -> {
            while (number(statement) > 0) {
                if (System.nanoTime() > end) {
                    return List.of("%d runs have not ended %d s after the last fault."
                            .formatted(number(statement), PATIENCE.toSeconds()));
                }
                LockSupport.parkNanos(BETWEEN.toNanos());
            }
            return List.of();
        });
    }

    /** Lets the workers leave; gives what does not hold of all runs, and what is left. */
    List<String> leave() throws Exception {
        List<String> violations = new ArrayList<>();
        violations.addAll(ask(statement -> texts(statement, LEFT_BEHIND)));
        violations.addAll(ask(statement -> texts(statement, TWO_OUTCOMES)));
        violations.addAll(wrongEnds());
        violations.addAll(workers.end());
        violations.addAll(ask(Rest::leftByWorkers));
        return violations;
    }

    /** What is asked with a statement. */
    private interface Question {
        List<String> with(Statement statement) throws SQLException;
    }

    private List<String> ask(Question question) throws SQLException {
        List<String> answers = new ArrayList<>();
        for (Address address : databases) {
            try (Connection connection =
                            DriverManager.getConnection(address.jdbcUrl(), address.user(), address.password());
                    Statement statement = connection.createStatement()) {
                answers.addAll(question.with(statement));
            }
        }
        return answers;
    }

    /** What is left for longer than the client, which reads now and then, has a lock. */
    private static List<String> leftByWorkers(Statement statement) throws SQLException {
        long end = System.nanoTime() + TO_RELEASE.toNanos();
        List<String> left = texts(statement, LEFT_BY_WORKERS);
        while (!left.isEmpty() && System.nanoTime() < end) {
            LockSupport.parkNanos(BETWEEN.toNanos());
            left = texts(statement, LEFT_BY_WORKERS);
        }
        return left;
    }

    private static long number(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery(UNFINISHED)) {
            row.next();
            return row.getLong(1);
        }
    }

    private static List<String> texts(Statement statement, String sql) throws SQLException {
        List<String> texts = new ArrayList<>();
        try (ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                texts.add(rows.getString(1));
            }
        }
        return texts;
    }

    private List<String> wrongEnds() {
        List<String> violations = new ArrayList<>();
        RunFilter filter = RunFilter.all()
                .state(RunState.PAUSED, RunState.FAILED, RunState.CANCELLED)
                .limit(PAGE);
        List<RunInfo> page = client.runs(filter).list();
        while (!page.isEmpty()) {
            page.stream()
                    .filter(run -> !mayBeCancelled(run) && !mayFail(run))
                    .forEach(
                            run -> violations.add("Run '%s' is %s: %s".formatted(run.id(), run.state(), run.reason())));
            page = client.runs(filter.after(page.getLast())).list();
        }
        return violations;
    }

    private boolean mayFail(RunInfo run) {
        return run.state() == RunState.FAILED
                && workloads.stream()
                        .anyMatch(workload -> workload.mayFail(run.id().value()));
    }

    private boolean mayBeCancelled(RunInfo run) {
        String id = run.id().value();
        boolean byFault = CANCELLED_BY_FAULTS.stream().anyMatch(id::startsWith)
                || (id.startsWith("crowd-") && id.contains("-sleeper-"));
        return run.state() == RunState.CANCELLED
                && (byFault
                        || workloads.stream()
                                .filter(workload -> id.startsWith(workload.name() + "-"))
                                .anyMatch(workload -> workload.mayBeCancelled(id)));
    }
}

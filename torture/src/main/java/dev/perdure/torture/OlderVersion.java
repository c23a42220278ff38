package dev.perdure.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.RunId;
import dev.perdure.TypeRef;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.torture.setup.Absence;
import dev.perdure.torture.setup.OutsideLedger.Line;
import dev.perdure.torture.setup.Site;
import dev.perdure.torture.work.Steps;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * Workers of an older version, and a migration in the midst of their work. They create the schema as that version has
 * it, and run what is started from SQL, whose functions are the same in both. Then this version opens the store, which
 * migrates the schema, while starts and older workers go on.
 */
final class OlderVersion {
    private static final Duration BESIDE = Duration.ofSeconds(5);
    private static final Duration BETWEEN = Duration.ofMillis(50);
    private static final Duration LONGEST = Duration.ofSeconds(2);
    private static final String PREFIX = "before-";
    private static final String START = "SELECT perdure.start_run('steps', ?, '0')";

    private final HikariDataSource pool;
    private volatile boolean stopping;
    private volatile int started;
    private volatile Duration longest = Duration.ZERO;
    private volatile String trouble = "";

    private OlderVersion(HikariDataSource pool) {
        this.pool = pool;
    }

    /** The classes of a checkout in which {@code ./perdure torture} was built. */
    static Path classes(Path checkout) {
        return checkout.resolve("torture").resolve("target").resolve("classes");
    }

    private static String classPath(Path checkout) {
        Path classes = classes(checkout);
        return classes + File.pathSeparator + classes.resolveSibling("lib") + File.separator + "*";
    }

    /** Starts the workers of the checkout, lets them work, and migrates beside them. */
    static OlderVersion migrated(Path checkout, Site site, HikariDataSource pool)
            throws IOException, InterruptedException {
        site.workers().start(classPath(checkout), List.of("workloads=" + classes(checkout)));
        OlderVersion older = new OlderVersion(pool);
        Thread starts = Thread.ofVirtual().start(older::start);
        LockSupport.parkNanos(BESIDE.toNanos());
        PostgresStore.on(pool).open().close();
        LockSupport.parkNanos(BESIDE.toNanos());
        older.stopping = true;
        starts.join();
        return older;
    }

    private void start() {
        try (Connection connection = pool.getConnection();
                PreparedStatement start = connection.prepareStatement(START)) {
            while (!stopping) {
                start.setString(1, PREFIX + started);
                long begun = System.nanoTime();
                start.execute();
                Duration taken = Duration.ofNanos(System.nanoTime() - begun);
                longest = taken.compareTo(longest) > 0 ? taken : longest;
                started++;
                LockSupport.parkNanos(BETWEEN.toNanos());
            }
        } catch (SQLException refused) {
            trouble = "A start from SQL was refused: " + refused.getMessage();
        }
    }

    /** For a person to read. */
    String text() {
        return "%,d runs were started from SQL while the schema was migrated; one start took at most %,d ms"
                .formatted(started, longest.toMillis());
    }

    /** What does not hold of the runs that were started meanwhile. */
    List<String> violations(Perdure client, Map<String, List<Line>> lines, List<Absence> absences) {
        List<String> violations = new ArrayList<>();
        if (!trouble.isEmpty()) {
            violations.add(trouble);
        }
        if (longest.compareTo(LONGEST) > 0) {
            violations.add("A start waited for %,d ms while the schema was migrated.".formatted(longest.toMillis()));
        }
        for (int number = 0; number < started; number++) {
            String id = PREFIX + number;
            violations.addAll(Steps.violations(
                    client.run(RunId.of(id), TypeRef.of(Steps.Values.class)),
                    lines.getOrDefault(id, List.of()),
                    absences));
        }
        return violations;
    }
}

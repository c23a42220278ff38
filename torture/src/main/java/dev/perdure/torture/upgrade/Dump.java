package dev.perdure.torture.upgrade;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.embedded.EmbeddedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.torture.setup.Address;
import dev.perdure.torture.setup.WorkerProcess;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import javax.sql.DataSource;

/**
 * A database of this version as a file of SQL, to be migrated by later ones: the script of the migrations, and each row
 * as an {@code INSERT}. The embedded server comes without {@code pg_dump}.
 */
public final class Dump {
    private static final String SCHEMA = "perdure";

    /** For each table, a query that gives its rows as statements. */
    private static final String QUERIES = """
            SELECT format('SELECT format(%L, concat_ws(%L, %s)) FROM perdure.%I',
                          format('INSERT INTO perdure.%I (%s) OVERRIDING SYSTEM VALUE VALUES (%%s);', relname,
                                 string_agg(quote_ident(attname), ', ' ORDER BY attnum)),
                          ', ', string_agg(format('quote_nullable(%I::text)', attname), ', ' ORDER BY attnum), relname)
            FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
            WHERE relnamespace = 'perdure'::regnamespace AND relkind = 'r'
              AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
            GROUP BY relname ORDER BY relname
            """;
    /** The migrations have put rows into some tables. */
    private static final String EMPTY = """
            SELECT format('DELETE FROM perdure.%I;', relname) FROM pg_class
            WHERE relnamespace = 'perdure'::regnamespace AND relkind = 'r' ORDER BY relname
            """;

    private static final String SEQUENCES = """
            SELECT format('SELECT setval(%L, %s);', schemaname || '.' || sequencename, last_value)
            FROM pg_sequences WHERE schemaname = 'perdure' AND last_value IS NOT NULL ORDER BY sequencename
            """;

    private Dump() {}

    /** Starts a server and a worker, lets runs come into every state, kills the worker, and writes the database. */
    public static void make(Path file) throws Exception {
        try (EmbeddedPostgres server = EmbeddedPostgres.start(EmbeddedPostgres.options())) {
            Address address = new Address(server.jdbcUrl(), server.user(), server.password());
            try (HikariDataSource pool = address.pool();
                    PostgresStore store = PostgresStore.on(pool).open();
                    Perdure client = Perdure.on(store).client()) {
                UpgradeRuns runs = new UpgradeRuns(client);
                try (WorkerProcess worker = WorkerProcess.start(UpgradeWorker.class, address.arguments())) {
                    worker.ready();
                    runs.begin();
                    worker.kill();
                }
                runs.startLater();
                try (Connection connection = pool.getConnection();
                        Statement statement = connection.createStatement()) {
                    statement.execute("SELECT perdure.start_run('upgrade-later', 'from-sql', '\"from-sql\"')");
                }
                write(pool, file);
            }
        }
    }

    private static void write(DataSource database, Path file) throws IOException, SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                Writer out = new OutputStreamWriter(
                        new GZIPOutputStream(Files.newOutputStream(file)), StandardCharsets.UTF_8)) {
            out.write(PostgresStore.migrations(SCHEMA));
            out.write("\nSET session_replication_role = replica;\n"); // rows come in any order
            for (String each : texts(statement, EMPTY)) {
                out.write(each + "\n");
            }
            for (String query : texts(statement, QUERIES)) {
                for (String each : texts(statement, query)) {
                    out.write(each + "\n");
                }
            }
            for (String each : texts(statement, SEQUENCES)) {
                out.write(each + "\n");
            }
            out.write("SET session_replication_role = DEFAULT;\n");
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

    /** Restores a dump into a database that has no such schema. */
    public static void restore(InputStream dump, DataSource database) throws IOException, SQLException {
        String sql = new String(new GZIPInputStream(dump).readAllBytes(), StandardCharsets.UTF_8);
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.setEscapeProcessing(false);
            statement.execute(sql);
        }
    }
}

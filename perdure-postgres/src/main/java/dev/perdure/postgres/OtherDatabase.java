package dev.perdure.postgres;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Micros;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.setup.Migrations;
import dev.perdure.postgres.setup.PatientTransactions;
import dev.perdure.postgres.setup.Preflight;
import dev.perdure.postgres.transaction.BothBooks;
import dev.perdure.postgres.transaction.CompletionBook;
import dev.perdure.postgres.transaction.JournalBook;
import dev.perdure.postgres.transaction.Tidying;
import dev.perdure.postgres.transaction.TransactionBodies;
import dev.perdure.postgres.transaction.TransactionBook;
import dev.perdure.spi.Transacted;
import dev.perdure.spi.TransactionTicket;
import dev.perdure.spi.Transactor;
import dev.perdure.spi.change.Entry;
import java.sql.Connection;
import java.time.Duration;
import javax.sql.DataSource;

/**
 * Transaction steps in a PostgreSQL other than Perdure's own. A small table there records, in the transaction of the
 * body, that a step was done and with which result. So the step takes effect exactly once there too, whatever happens
 * before the journal has it. {@link #migration} returns the SQL that creates the table, for a DBA, and {@link #migrate}
 * runs it.
 *
 * <pre>{@code
 * OtherDatabase warehouse = OtherDatabase.on(warehousePool);
 * warehouse.migrate();
 * }</pre>
 *
 * <p>It works with every store, including the in-memory store. Thread-safe.
 */
public final class OtherDatabase implements Transactor<Connection> {
    private static final String DEFAULT_SCHEMA = "perdure";
    private static final int LOOKING = 2;
    private static final Duration AGE = Duration.ofDays(30);
    private static final Duration EVERY = Duration.ofHours(1);

    private final Schema schema;
    private final Database database;
    private final CompletionBook book;
    private final DataSource source;
    private final TransactionBodies bodies;
    private final Tidying tidying;

    private OtherDatabase(DataSource source, Schema schema, Duration age) {
        this.schema = schema;
        this.source = source;
        this.tidying = new Tidying(() -> forget(age), EVERY);
        this.database = new Database(Preflight.connect(source, LOOKING), () -> null);
        this.book = new CompletionBook(database, schema);
        this.bodies = bodies(book);
    }

    private TransactionBodies bodies(TransactionBook first) {
        return new TransactionBodies(Preflight.connect(source, PostgresTransactions.MOST_CONNECTIONS), first);
    }

    /** Bodies whose record is also in a journal in the same database. */
    TransactionBodies bodiesWith(JournalBook journal) {
        return bodies(new BothBooks(journal, book));
    }

    /** Deletes old rows if it has not done so for a while. */
    void tidyUp() {
        tidying.tidyUp();
    }

    /** Uses connections from a pool to that database, and the table in its schema {@code perdure}. */
    public static OtherDatabase on(DataSource pool) {
        return on(pool, DEFAULT_SCHEMA);
    }

    /** Uses the table in another schema. */
    public static OtherDatabase on(DataSource pool, String schema) {
        return on(pool, schema, AGE);
    }

    /**
     * Uses the table in another schema, and deletes rows that are older than this about once an hour. A row is needed
     * until the step is in its run's journal, so the age must be longer than a run can ever be without a worker.
     */
    public static OtherDatabase on(DataSource pool, String schema, Duration age) {
        return new OtherDatabase(pool, new Schema(schema), requireAge(age));
    }

    /**
     * The SQL that creates the table, and adds what an earlier version did not have. Running it again has no effect. Run it
     * when you update Perdure.
     */
    public static String migration(String schema) {
        return Migrations.resource("completion.sql").replace("${schema}", new Schema(schema).name());
    }

    /**
     * Creates the table, or adds what an earlier version of it did not have. Waits as long as that takes, and holds up no
     * steps meanwhile.
     */
    public void migrate() {
        PatientTransactions transactions = new PatientTransactions(database);
        transactions.at("The migration of the schema '%s'".formatted(schema.name()));
        transactions.run(connection -> {
            try (var statement = connection.createStatement()) {
                return statement.execute(migration(schema.name()));
            }
        });
    }

    /**
     * Deletes rows that are older than this, now. A row is needed only until the step is in its run's journal: normally
     * for milliseconds, and at most for as long as a run can be without a worker.
     *
     * @return how many rows it deleted
     */
    public int forget(Duration age) {
        return book.forget(Micros.of(requireAge(age)));
    }

    private static Duration requireAge(Duration age) {
        if (age.isNegative()) {
            throw new InvalidRequestException("The age is %s; it cannot be negative.".formatted(age));
        }
        return age;
    }

    @Override
    public Transacted run(TransactionTicket ticket, Work<Connection> work) throws Exception {
        Transacted transacted = bodies.run(ticket, work);
        tidyUp();
        return transacted;
    }

    @Override
    public Entry giveUp(TransactionTicket ticket, Entry failure) {
        return book.giveUp(ticket, failure);
    }
}

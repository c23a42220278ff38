package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static dev.perdure.transaction.TransactionOptions.isolation;

import dev.perdure.Perdure;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.postgres.PostgresOutbox;
import dev.perdure.transaction.TransactionOptions.Isolation;
import dev.perdure.transaction.TransactionSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Seats of a theatre: the application's own tables, changed by transaction steps, and runs that begin with a commit. */
public final class Reservations {
    /** What somebody wants. */
    public record Wish(String customer, int seats) {}

    /** Who takes money, somewhere else. */
    public interface Cashier {
        /** Charges once per key, however often it is called. */
        String charge(Wish wish, String idempotencyKey);
    }

    private final TransactionSource<Connection> theatre;
    private final Cashier cashier;

    public Reservations(TransactionSource<Connection> theatre, Cashier cashier) {
        this.theatre = theatre;
        this.cashier = cashier;
    }

    // region workflow
    @Workflow("reservation")
    public String reserve(WorkflowContext ctx, Wish wish) {
        int left = ctx.transaction(
                "take seats", theatre, connection -> take(connection, wish), isolation(Isolation.SERIALIZABLE));
        String payment =
                ctx.step("charge", () -> cashier.charge(wish, ctx.attempt().idempotencyKey()));
        ctx.transact("confirm", theatre, connection -> confirm(connection, wish, payment));
        return payment + ", " + left + " seats left";
    }
    // endregion

    // region body
    private static int take(Connection connection, Wish wish) throws SQLException {
        try (PreparedStatement take =
                connection.prepareStatement("UPDATE theatre SET seats = seats - ? RETURNING seats")) {
            take.setInt(1, wish.seats());
            try (ResultSet row = take.executeQuery()) {
                row.next();
                return row.getInt("seats");
            }
        }
    }
    // endregion

    private static void confirm(Connection connection, Wish wish, String payment) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO ticket VALUES (?, ?, ?)")) {
            insert.setString(1, wish.customer());
            insert.setInt(2, wish.seats());
            insert.setString(3, payment);
            insert.execute();
        }
    }

    // region outbox
    /** The wish and the start of the run that fulfils it: both are stored when this has committed, or neither is. */
    static void order(DataSource pool, PostgresOutbox outbox, Perdure perdure, Wish wish) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            try (PreparedStatement insert = connection.prepareStatement("INSERT INTO wish VALUES (?, ?)")) {
                insert.setString(1, wish.customer());
                insert.setInt(2, wish.seats());
                insert.execute();
            }
            perdure.outbox(outbox.in(connection))
                    .start(Reservations::reserve, wish, id("reservation-" + wish.customer()));
            connection.commit();
        }
    }
    // endregion
}

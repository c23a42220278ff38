package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.retry;
import static dev.perdure.transaction.TransactionOptions.isolation;

import dev.perdure.Perdure;
import dev.perdure.Saga;
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

/**
 * Reserves seats in a theatre. Transaction steps change the application's own tables, and an outbox starts the run when
 * the application's transaction commits.
 */
public final class Reservations {
    /** A customer's request for seats. */
    public record Request(String customer, int seats) {}

    /** The payment service, which is outside the database. */
    public interface Cashier {
        /** Charges once per key, however often it is called. */
        String charge(Request request, String idempotencyKey);
    }

    private final TransactionSource<Connection> theatre;
    private final Cashier cashier;

    public Reservations(TransactionSource<Connection> theatre, Cashier cashier) {
        this.theatre = theatre;
        this.cashier = cashier;
    }

    // region workflow
    @Workflow("reservation")
    public String reserve(WorkflowContext ctx, Request request) {
        int left = ctx.transaction(
                "take seats",
                theatre,
                connection -> take(connection, request.seats()),
                isolation(Isolation.SERIALIZABLE));
        String payment =
                ctx.step("charge", () -> cashier.charge(request, ctx.attempt().idempotencyKey()));
        ctx.transact("confirm", theatre, connection -> confirm(connection, request, payment));
        return payment + ", " + left + " seats left";
    }
    // endregion

    // region saga
    @Workflow("booking")
    public String book(WorkflowContext ctx, Request request) {
        Saga saga = new Saga(ctx);
        try {
            ctx.transact("take seats", theatre, connection -> take(connection, request.seats()));
            saga.undo("give seats back", theatre, connection -> take(connection, -request.seats()));
            return ctx.step(
                    "charge", () -> cashier.charge(request, ctx.attempt().idempotencyKey()), retry(3));
        } catch (RuntimeException failure) {
            throw saga.compensate(failure);
        }
    }
    // endregion

    // region body
    private static int take(Connection connection, int seats) throws SQLException {
        try (PreparedStatement take =
                connection.prepareStatement("UPDATE theatre SET seats = seats - ? RETURNING seats")) {
            take.setInt(1, seats);
            try (ResultSet row = take.executeQuery()) {
                row.next();
                return row.getInt("seats");
            }
        }
    }
    // endregion

    private static void confirm(Connection connection, Request request, String payment) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO ticket VALUES (?, ?, ?)")) {
            insert.setString(1, request.customer());
            insert.setInt(2, request.seats());
            insert.setString(3, payment);
            insert.execute();
        }
    }

    // region outbox
    /** Stores the request and starts the run that fulfils it, in one transaction: both happen or neither. */
    static void order(DataSource pool, PostgresOutbox outbox, Perdure perdure, Request request) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            try (PreparedStatement insert = connection.prepareStatement("INSERT INTO seat_request VALUES (?, ?)")) {
                insert.setString(1, request.customer());
                insert.setInt(2, request.seats());
                insert.execute();
            }
            perdure.outbox(outbox.in(connection))
                    .start(Reservations::reserve, request, id("reservation-" + request.customer()));
            connection.commit();
        }
    }
    // endregion
}

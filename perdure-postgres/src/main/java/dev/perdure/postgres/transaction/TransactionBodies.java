package dev.perdure.postgres.transaction;

import dev.perdure.postgres.jdbc.BorrowedConnection;
import dev.perdure.postgres.jdbc.Connections;
import dev.perdure.postgres.jdbc.GuardedConnection;
import dev.perdure.postgres.transaction.SqlTrouble.Condition;
import dev.perdure.spi.Transacted;
import dev.perdure.spi.TransactionTicket;
import dev.perdure.spi.Transactor.Work;
import dev.perdure.spi.change.Entry;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/**
 * Runs bodies of transaction steps on connections of a {@link javax.sql.DataSource}: begin, body, record and commit. It
 * takes a connection for that time only, and gives it back with its original settings.
 */
public final class TransactionBodies {
    /** No answer to the record or the commit for this long means that the connection is half-open. */
    private static final Duration SILENCE = Duration.ofSeconds(10);

    private final Connections connections;
    private final TransactionBook book;

    public TransactionBodies(Connections connections, TransactionBook book) {
        this.connections = connections;
        this.book = book;
    }

    public Transacted run(TransactionTicket ticket, Work<Connection> work) throws Exception {
        boolean interrupted = Thread.interrupted(); // in a socket read, the interrupt would close the connection
        try {
            BorrowedConnection borrowed;
            try {
                borrowed = connections.take();
            } catch (SQLException none) {
                return new Transacted.Unavailable(none);
            }
            One transaction = new One(borrowed);
            try {
                return transaction.run(ticket, work);
            } finally {
                transaction.giveBack();
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** One transaction on one connection. */
    private final class One {
        private final BorrowedConnection borrowed;
        private final Connection connection;
        private boolean sound;

        One(BorrowedConnection borrowed) {
            this.borrowed = borrowed;
            this.connection = borrowed.connection();
        }

        Transacted run(TransactionTicket ticket, Work<Connection> work) throws Exception {
            BegunTransaction begun;
            try {
                borrowed.autoCommit(false);
                begun = book.begin(connection, ticket);
                Optional<Entry> earlier = book.earlier(connection, ticket);
                if (earlier.isPresent()) {
                    rollBack();
                    return new Transacted.Completed(earlier.get());
                }
            } catch (SQLException cannot) {
                rollBack();
                return new Transacted.Unavailable(cannot);
            }
            Entry entry;
            try {
                entry = performed(work);
            } catch (Exception thrown) {
                Condition condition = Condition.of(connection);
                rollBack();
                Optional<Transacted> trouble = SqlTrouble.fromBody(thrown, sound ? condition : Condition.LOST, ticket);
                if (trouble.isPresent()) {
                    return trouble.get();
                }
                return afterFailure(ticket, thrown);
            } catch (Error thrown) {
                rollBack();
                throw thrown;
            }
            return ticket.options().isReadOnly() ? ended(entry) : committed(begun, entry);
        }

        /** The outcome of a body that has thrown an exception and was rolled back. */
        private Transacted afterFailure(TransactionTicket ticket, Exception thrown) throws Exception {
            Optional<Entry> earlier;
            try {
                earlier = book.afterFailure(connection, ticket);
            } catch (SQLException cannot) {
                return new Transacted.Unavailable(cannot);
            } finally {
                rollBack();
            }
            if (earlier.isEmpty()) {
                throw thrown;
            }
            return new Transacted.Completed(earlier.get());
        }

        private Entry performed(Work<Connection> work) throws Exception {
            GuardedConnection.Lent lent = GuardedConnection.lend(connection);
            try {
                return work.perform(lent.connection());
            } finally {
                lent.takeBack().run();
            }
        }

        private Transacted ended(Entry entry) {
            rollBack();
            return new Transacted.Completed(entry);
        }

        private Transacted committed(BegunTransaction begun, Entry entry) throws Exception {
            try {
                borrowed.networkTimeout((int) SILENCE.toMillis());
                Transacted committed = book.recordAndCommit(connection, begun, entry);
                sound = true;
                return committed;
            } catch (SQLException refused) {
                borrowed.cancelUnlessAnswered(refused);
                rollBack();
                return book.fromCommit(refused, !sound, begun, entry);
            }
        }

        /** Leaves a connection that can be used again, if that is still possible. */
        private void rollBack() {
            try {
                connection.rollback();
                sound = true;
            } catch (SQLException broken) {
                sound = false;
            }
        }

        void giveBack() {
            if (sound) {
                borrowed.giveBack();
            } else {
                borrowed.discard();
            }
        }
    }
}

package dev.perdure.simulation.scene;

import dev.perdure.spi.Outcome;
import dev.perdure.spi.Transacted;
import dev.perdure.spi.TransactionTicket;
import dev.perdure.spi.Transactor;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import java.sql.SQLTransientException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A database with accounts and a list of rows without a unique constraint, so a duplicate would show.
 *
 * <p>Two kinds, as with PostgreSQL. In the engine's own database, a transaction commits its rows and the entry of the
 * journal together, if its worker still holds the run. Another database keeps the entry beside its rows, and the engine
 * copies it. A failure that is kept there counts only until the run is retried, as with {@code OtherDatabase}.
 */
final class Bank implements Transactor<Bank.Transaction> {
    private static final int BEGIN = 100;

    private final Cast cast;
    private final boolean own;
    private final Map<String, Done> done = new TreeMap<>();
    private final List<String> rows = new ArrayList<>();
    private final Map<String, Integer> accounts = new TreeMap<>(Map.of("a", BEGIN, "b", BEGIN));
    private int version;

    Bank(Cast cast) {
        this.cast = cast;
        this.own = cast.choices().oneIn(2);
    }

    /** What is kept of a step; with the epoch if it was given up. */
    private record Done(Entry entry, long epoch) {
        private static final long NEVER_GIVEN_UP = Long.MAX_VALUE;
    }

    /** What a body changes. */
    static final class Transaction {
        private final Map<String, Integer> moved = new TreeMap<>();
        private final List<String> rows = new ArrayList<>();

        void move(String from, String to, int amount) {
            moved.merge(from, -amount, Integer::sum);
            moved.merge(to, amount, Integer::sum);
        }

        void insert(String row) {
            rows.add(row);
        }
    }

    /** Whether a worker that has lost a run can commit nothing for it. */
    boolean isFenced() {
        return own;
    }

    long count(String row) {
        return rows.stream().filter(row::equals).count();
    }

    int total() {
        return accounts.values().stream().mapToInt(Integer::intValue).sum();
    }

    static int begin() {
        return 2 * BEGIN;
    }

    /** Moves money back, once, if it was moved. Not part of a transaction step, so it has to be safe to repeat. */
    void undo(String row, String undone, int amount) {
        if (count(row) > count(undone)) {
            Transaction transaction = new Transaction();
            transaction.move("b", "a", amount);
            transaction.insert(undone);
            write(transaction);
        }
    }

    private void write(Transaction transaction) {
        transaction.moved.forEach((account, amount) -> accounts.merge(account, amount, Integer::sum));
        rows.addAll(transaction.rows);
        version++;
    }

    private static String step(TransactionTicket ticket) {
        return ticket.run().id() + "/" + ticket.seed() + "/" + ticket.position();
    }

    @Override
    public Transacted run(TransactionTicket ticket, Work<Transaction> work) throws Exception {
        if (cast.choices().oneIn(10)) {
            return new Transacted.Unavailable(new SQLTransientException("out of reach"));
        }
        Entry before = before(ticket);
        if (before != null) {
            return new Transacted.Completed(before);
        }
        int seen = version;
        Transaction transaction = new Transaction();
        Entry entry = work.perform(transaction);
        if (cast.choices().oneIn(6)) {
            return inDoubt(ticket, transaction, entry, seen);
        }
        Transacted committed = commit(ticket, transaction, entry, seen);
        cast.pause();
        return committed;
    }

    /** The commit is still on its way, and may take effect before the question what became of it, or not at all. */
    private Transacted inDoubt(TransactionTicket ticket, Transaction transaction, Entry entry, int seen) {
        Transacted early = cast.choices().oneIn(2) ? commit(ticket, transaction, entry, seen) : null;
        return new Transacted.InDoubt(new Transacted.Inquiry() {
            @Override
            public Transacted ask() {
                if (cast.choices().oneIn(3)) {
                    return new Transacted.InDoubt(this);
                }
                if (early != null) {
                    return early;
                }
                return cast.choices().oneIn(2)
                        ? commit(ticket, transaction, entry, seen)
                        : new Transacted.Unavailable(new SQLTransientException("rolled back"));
            }
        });
    }

    private Transacted commit(TransactionTicket ticket, Transaction transaction, Entry entry, int seen) {
        if (own) {
            return commitWithEntry(ticket, transaction, entry, seen);
        }
        Entry before = before(ticket);
        if (before != null) {
            return new Transacted.Completed(before);
        }
        if (seen != version) {
            return new Transacted.Conflict(new SQLTransientException("40001"));
        }
        done.put(step(ticket), new Done(entry, Done.NEVER_GIVEN_UP));
        write(transaction);
        return new Transacted.Completed(entry);
    }

    private Transacted commitWithEntry(TransactionTicket ticket, Transaction transaction, Entry entry, int seen) {
        if (seen != version) {
            return new Transacted.Conflict(new SQLTransientException("40001"));
        }
        // From here on the row of the version is locked, and others wait: the store may let them run.
        version++;
        List<Outcome> outcomes = cast.store()
                .ledger()
                .apply(
                        new Lane(ticket.worker(), 0),
                        List.of(new Change.Advance(ticket.run(), ticket.epoch(), List.of(entry), new Move.Stay())));
        if (!(outcomes.getFirst() instanceof Outcome.Applied)) {
            return new Transacted.Fenced();
        }
        write(transaction);
        return new Transacted.Recorded();
    }

    @Override
    public Entry giveUp(TransactionTicket ticket, Entry failure) {
        Entry before = own ? null : before(ticket);
        if (!own && before == null) {
            done.put(step(ticket), new Done(failure, ticket.epoch()));
        }
        return before == null ? failure : before;
    }

    private @Nullable Entry before(TransactionTicket ticket) {
        Done before = done.get(step(ticket));
        return before == null || before.epoch() < ticket.epoch() ? null : before.entry();
    }
}

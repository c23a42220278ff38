package dev.perdure.testing.scenarios;

import dev.perdure.spi.Transacted;
import dev.perdure.spi.TransactionTicket;
import dev.perdure.spi.Transactor;
import dev.perdure.spi.change.Entry;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.UnaryOperator;

/**
 * A small database in memory with its own transactions. It holds named numbers and a record of each step. A test
 * decides what it reports about its transactions.
 */
final class Vault implements Transactor<Map<String, Integer>> {
    /** What happens around a commit. */
    @FunctionalInterface
    interface Ending extends UnaryOperator<Transacted> {
        /** The commit succeeds and is reported. */
        Ending GOOD = committed -> committed;
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Entry> done = new HashMap<>();
    private final Queue<Transacted> refusals = new ArrayDeque<>();
    private final Queue<Ending> endings = new ArrayDeque<>();
    private Map<String, Integer> numbers = new HashMap<>();

    /** Rolls back the next transactions with these outcomes. The transactions after them commit. */
    Vault refuse(Transacted... outcomes) {
        refusals.addAll(java.util.List.of(outcomes));
        return this;
    }

    /** Sets how the next commit appears to the caller. */
    Vault end(Ending ending) {
        endings.add(ending);
        return this;
    }

    int number(String name) {
        lock.lock();
        try {
            return numbers.getOrDefault(name, 0);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Transacted run(TransactionTicket ticket, Work<Map<String, Integer>> work) throws Exception {
        String step = ticket.run().id() + "/" + ticket.position();
        Map<String, Integer> mine;
        lock.lock();
        try {
            if (done.containsKey(step)) {
                return new Transacted.Completed(done.get(step));
            }
            mine = new HashMap<>(numbers);
        } finally {
            lock.unlock();
        }
        Entry entry = work.perform(mine);
        Ending ending;
        lock.lock();
        try {
            Transacted refusal = refusals.poll();
            if (refusal != null) {
                return refusal;
            }
            numbers = mine;
            done.put(step, entry);
            ending = endings.isEmpty() ? Ending.GOOD : endings.remove();
        } finally {
            lock.unlock();
        }
        return ending.apply(new Transacted.Completed(entry));
    }
}

package dev.perdure.torture.fault;

import dev.perdure.torture.setup.Site;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;

/** All that is done to a site. Two of them may happen at once. */
public enum Faults {
    /** A worker is killed. */
    KILL("kills a worker with SIGKILL and starts another", ProcessFaults::kill),
    /** A worker stands still. */
    STOP("stops a worker with SIGSTOP for three leases, then continues it", ProcessFaults::stop),
    /** A new version is deployed. */
    DEPLOY("closes each worker, one after the other, and starts another", ProcessFaults::deploy),
    /** Answers are lost. */
    CUT("loses one answer in 15 after its commit, for four seconds", NetworkFaults::cut),
    /** Notifications are lost. */
    SILENCE("loses all notifications for four seconds", NetworkFaults::silence),
    /** Connections are half open. */
    FREEZE("lets nothing pass on any connection there is, for twelve seconds", NetworkFaults::freeze),
    /** What was sent arrives late. */
    DELAY("holds back what is sent on some connections for eight seconds, and then delivers it", NetworkFaults::delay),
    /** The server closes connections. */
    TERMINATE("terminates all connections once a second, four times", ServerFaults::terminate),
    /** The server crashes. */
    RESTART("stops PostgreSQL as in a crash, and starts it up to three seconds later", ServerFaults::restart),
    /** The server is read-only. */
    READONLY("makes the database read-only for four seconds", ServerFaults::readOnly),
    /** There are no connections. */
    EXHAUST("uses up all connections of the server for four seconds", ServerFaults::exhaust),
    /** Transactions meet. */
    DEADLOCK("locks rows of runs in every order for four seconds", ServerFaults::deadlock),
    /** A transaction stays open. */
    OPEN("starts a run in a transaction that stays open for eight seconds", ServerFaults::open);

    private final String effect;
    private final Fault fault;

    Faults(String effect, Fault fault) {
        this.effect = effect;
        this.fault = fault;
    }

    /** Its name on the command line. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** What it does. */
    public String effect() {
        return effect;
    }

    /** Does it, for as long as it takes. */
    public void strike(Site site, Random chance) throws Exception {
        fault.strike(site, chance);
    }

    /** The fault of this name. */
    public static Optional<Faults> named(String word) {
        return Arrays.stream(values()).filter(each -> each.word().equals(word)).findFirst();
    }

    /** All names. */
    public static List<String> words() {
        return Arrays.stream(values()).map(Faults::word).toList();
    }
}

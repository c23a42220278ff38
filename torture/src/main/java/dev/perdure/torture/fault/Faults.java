package dev.perdure.torture.fault;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;

/** All faults. Two of them may happen at once. */
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
    RESTART(
            "stops PostgreSQL as in a crash, starts it up to three seconds later, and crashes it once more",
            ServerFaults::restart),
    /** The server is read-only. */
    READONLY("makes the database read-only for four seconds", ServerFaults::readOnly),
    /** There are no connections. */
    EXHAUST("uses up all connections of the server for four seconds", ServerFaults::exhaust),
    /** Transactions meet. */
    DEADLOCK("locks rows of runs in every order for four seconds", ServerFaults::deadlock),
    /** A transaction stays open. */
    OPEN("starts a run in a transaction that stays open for a minute", OpenFault::open),
    /** Nobody hears notifications. */
    DEAFEN("lets nothing pass on the connections that listen, for twelve seconds", NetworkFaults::deafen),
    /** A worker lives, and the server takes it for dead. */
    SEVER(
            "closes the connection on which a worker listens, and holds its renewals, so that it loses its lease unawares",
            SeverFault::sever),
    /** Clocks are wrong. */
    CLOCK("adds two workers whose clocks are an hour ahead and behind, for eight seconds", ProcessFaults::clock),
    /** The disk is full. */
    DISK("fills the file system of the server for four seconds", ServerFaults::disk),
    /** Cancels and timeouts. */
    CANCEL("cancels runs and lets steps time out, as many as it can in four seconds", RunFaults::cancel),
    /** Many runs, few connections. */
    BURST(
            "starts 500 runs with children and transactions at once, for a worker with three connections",
            RunFaults::burst),
    /** Another server takes over. */
    FAILOVER("stops PostgreSQL as in a crash, and promotes its synchronous standby", ServerFaults::failOver),
    /** Runs that harm their worker. */
    POISON(
            "starts a run that kills its process each time, one that overflows the stack and one that cannot be read",
            PoisonFault::poison),
    /** A worker dies with very many runs. */
    CROWD(
            "kills a worker that has very many runs in its memory, beside three others that have room for 200 each",
            CrowdFault::crowd);

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

    /**
     * Does it, for as long as it takes.
     *
     * @return what was seen of its effect
     * @throws NoEffectException if none was seen
     */
    public String strike(Target target, Random chance) throws Exception {
        return fault.strike(target, chance);
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

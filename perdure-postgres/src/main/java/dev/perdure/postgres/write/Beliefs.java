package dev.perdure.postgres.write;

/** What plans believe. One of each for a store, so that all its batches learn from each other. */
public final class Beliefs {
    /** The ids of runs to be started are new. */
    final Belief idsAreNew = Belief.judged(true);

    /** The virtual objects that are called are free, and those that are left are waited for by none. */
    final Belief objectsAreFree = Belief.tried();

    /** Runs that go to wait have not been woken meanwhile. */
    final Belief waitersSleep = Belief.tried();

    /** Mail goes to runs that some worker has in memory. */
    final Belief addresseesAreRunning = Belief.judged(false);
}

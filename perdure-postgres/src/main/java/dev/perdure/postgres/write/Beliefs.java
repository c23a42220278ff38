package dev.perdure.postgres.write;

/** The beliefs of plans. A store has one of each, so that all its batches learn from each other. */
public final class Beliefs {
    /** The ids of runs to be started are new. */
    final Belief idsAreNew = Belief.judged(true);

    /** The called virtual objects are free, and no call waits for the freed ones. */
    final Belief objectsAreFree = Belief.tried();

    /** Runs that begin to wait have not been woken in the meantime. */
    final Belief waitersSleep = Belief.tried();

    /** The receivers of mail are in the memory of a worker. */
    final Belief addresseesAreRunning = Belief.judged(false);
}

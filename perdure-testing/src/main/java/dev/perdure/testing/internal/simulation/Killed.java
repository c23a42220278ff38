package dev.perdure.testing.internal.simulation;

/** Ends the threads of a process that has died. It is an error, so that {@code catch (Exception)} does not stop it. */
final class Killed extends Error {
    private static final long serialVersionUID = 1L;

    Killed() {
        super("The process of this thread has died in the simulation.", null, false, false);
    }
}

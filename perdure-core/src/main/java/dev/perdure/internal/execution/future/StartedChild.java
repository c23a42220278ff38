package dev.perdure.internal.execution.future;

import dev.perdure.ChildOptions.OnCancel;
import dev.perdure.RunId;

/** A child that the run has started, as far as a cancel of the run concerns it. */
public interface StartedChild {
    /** The child's run. */
    RunId id();

    /** What a cancel of the parent does to it. */
    OnCancel onCancel();

    /** The child's outcome. */
    EngineFuture<?> outcome();
}

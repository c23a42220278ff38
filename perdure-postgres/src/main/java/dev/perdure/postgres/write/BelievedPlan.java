package dev.perdure.postgres.write;

import dev.perdure.postgres.jdbc.Part;
import dev.perdure.spi.Outcome;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A plan that assumes something instead of looking it up. Its parts check what they assume: if one is wrong, the whole
 * batch fails, or the parts skip some of the changes.
 */
interface BelievedPlan {
    /** The parts that it sends, in this order. */
    List<Part> parts();

    /** The outcomes of its changes, after its parts are read. Null for a change that was skipped. */
    @Nullable
    Outcome[] outcomes();

    /** The batch failed as a whole, and nothing was changed. */
    void failed();
}

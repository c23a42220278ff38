package dev.perdure.postgres.write;

import dev.perdure.postgres.jdbc.Part;
import dev.perdure.spi.Outcome;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A plan that believes something instead of looking it up. Its parts check what they believe: the whole batch fails if one of them is wrong, or
 * they leave some of the changes as they were.
 */
interface BelievedPlan {
    /** What it sends, in that order. */
    List<Part> parts();

    /** What came of its changes, once its parts are read. Null for a change that was left as it was. */
    @Nullable
    Outcome[] outcomes();

    /** The batch failed as a whole, and nothing was done. */
    void failed();
}

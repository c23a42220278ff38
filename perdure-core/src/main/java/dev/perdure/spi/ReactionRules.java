package dev.perdure.spi;

import dev.perdure.reaction.ReactionInfo;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the reactions, for all engines together. The store starts their runs by itself: in the transaction in which a
 * run fails, is paused or cancelled, whatever makes that change, and {@link Dispatch#poll} for late runs. See
 * {@link ReactionStart} for the run that it starts.
 */
public interface ReactionRules {
    /** A change that an operator makes to a reaction. */
    sealed interface Order {
        /** The reaction. */
        String reaction();

        /** Stops the reaction from starting runs. */
        record Pause(String reaction, String reason) implements Order {}

        /** Lets the reaction start runs again. */
        record Resume(String reaction) implements Order {}

        /** Removes the reaction. */
        record Delete(String reaction) implements Order {}
    }

    /** Stores what the code declares. A reaction that is paused stays paused. */
    void declare(Collection<ReactionInfo> reactions);

    /**
     * Carries out a change and records it in the audit, if an entry is given. Returns whether the reaction is known.
     */
    boolean apply(Order order, @Nullable Audit audit);

    /** All reactions, by name. */
    List<ReactionInfo> list();
}

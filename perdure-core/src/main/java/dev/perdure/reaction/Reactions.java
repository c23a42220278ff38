package dev.perdure.reaction;

import dev.perdure.error.UnknownReactionException;
import java.util.List;

/**
 * Shows operators the reactions, and lets them pause and delete these. A change takes effect at once in all processes.
 * Thread-safe.
 *
 * <pre>{@code
 * perdure.reactions().pause("alert", "planned maintenance until noon");
 * }</pre>
 */
public interface Reactions {
    /** All reactions, by name. */
    List<ReactionInfo> list();

    /**
     * Lets a reaction start nothing until {@link #resume}. What happens to runs meanwhile is no occasion later either;
     * only runs that become late meanwhile, and are still late then, are.
     *
     * @throws UnknownReactionException if there is no such reaction
     */
    void pause(String reaction, String reason);

    /**
     * Lets a reaction start runs again.
     *
     * @throws UnknownReactionException if there is no such reaction
     */
    void resume(String reaction);

    /**
     * Removes a reaction. The runs that it has started stay. An engine that still declares it declares it again when it
     * starts.
     *
     * @throws UnknownReactionException if there is no such reaction
     */
    void delete(String reaction);
}

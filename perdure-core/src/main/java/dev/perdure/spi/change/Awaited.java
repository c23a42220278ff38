package dev.perdure.spi.change;

import java.util.Set;

/**
 * What a waiting run waits for apart from its due time. Only mail on one of these channels wakes it. The store keeps
 * other mail for later.
 *
 * @param channels the channels that it waits for
 * @param needed how many mails must arrive before the run continues; a failure lets it continue at once. More than 1
 *     only if every channel gets at most one mail
 * @param limiters the limiters for whose permits it waits: a turn at one of them wakes it, however many mails are
 *     needed
 */
public record Awaited(Set<Channel> channels, int needed, Set<String> limiters) {
    /** Only the due time. */
    public static final Awaited NOTHING = new Awaited(Set.of(), 1);

    /** Mail, and no permits. */
    public Awaited(Set<Channel> channels, int needed) {
        this(channels, needed, Set.of());
    }
}

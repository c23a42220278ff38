package dev.perdure.spi.change;

import java.util.Set;

/**
 * What a waiting run waits for apart from its due time. Only mail on one of these channels wakes it. The store keeps
 * other mail for later.
 *
 * @param channels the channels that it waits for
 * @param needed how many mails must arrive before the run continues; a failure lets it continue at once. More than 1
 *     only if every channel gets at most one mail
 */
public record Awaited(Set<Channel> channels, int needed) {
    /** Only the due time. */
    public static final Awaited NOTHING = new Awaited(Set.of(), 1);
}

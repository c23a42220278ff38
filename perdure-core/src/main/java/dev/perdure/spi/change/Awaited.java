package dev.perdure.spi.change;

import java.util.Set;

/**
 * What a waiting run waits for besides its due time. Only mail on one of these channels counts; anything else is kept for
 * later and lets the run rest.
 *
 * @param channels where mail counts
 * @param needed how many mails must have arrived until the run goes on; a failure lets it go on at once. More than 1 only
 *     where every channel is of those that get one mail at most
 */
public record Awaited(Set<Channel> channels, int needed) {
    /** Nothing but the due time. */
    public static final Awaited NOTHING = new Awaited(Set.of(), 1);
}

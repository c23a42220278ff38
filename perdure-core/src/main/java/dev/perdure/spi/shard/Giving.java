package dev.perdure.spi.shard;

import dev.perdure.spi.shard.Places.Request;

/**
 * What a shard does with its places when another one asks for some.
 *
 * @param sent how many it sends now: never one that it has given to a run
 * @param aside how many it sets aside from now on, of those that it keeps
 */
public record Giving(int sent, int aside) {
    /**
     * What a shard has of a limit at this moment.
     *
     * @param places its places, with those that are set aside
     * @param given how many of them runs or attempts have
     * @param aside how many are set aside, because another shard has asked a short time ago
     * @param waits whether something waits for a place
     * @param fresh whether some have just come
     */
    public record State(int places, int given, int aside, boolean waits, boolean fresh) {}

    /** Decides about a request. */
    public static Giving of(State state, Request request) {
        int free = Math.max(0, state.places() - state.given());
        int wanted = Math.max(0, request.wanted());
        if (!state.waits()) {
            int sent = Math.min(wanted, free);
            return new Giving(sent, Math.max(0, Math.min(state.aside() - sent, state.places() - sent)));
        }
        int more = Math.max(0, state.places() - Math.max(0, request.places()));
        int due = request.places() <= 0 ? (more + 1) / 2 : more / 2;
        int sent = Math.min(wanted, state.fresh() ? Math.min(free, state.aside()) : free);
        int aside = Math.max(Math.min(wanted, due) - sent, state.aside() - sent);
        int most = state.fresh() ? Math.min(state.given(), state.places() - sent) : state.places() - sent;
        return new Giving(sent, Math.clamp(aside, 0, Math.max(0, most)));
    }
}

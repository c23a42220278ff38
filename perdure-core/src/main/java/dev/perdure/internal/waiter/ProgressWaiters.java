package dev.perdure.internal.waiter;

import dev.perdure.RunId;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.Mailboxes.Place;
import dev.perdure.spi.Mailboxes.Promised;
import dev.perdure.spi.Mailboxes.Published;
import dev.perdure.spi.change.Mail;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Callers that wait for what runs publish and for promises. One query asks for all callers that wait for values, and
 * one for all that wait for promises.
 */
public record ProgressWaiters(Mailboxes mailboxes)
        implements Waiters.Questions<ProgressWaiters.Wanted, ProgressWaiters.Seen> {
    private static final int PAGE = 500;

    /** For each caller. A thousand of them may get a page at once, and hold it as long as their clients read. */
    private static final int PAGE_BYTES = 256 * 1024;

    /** Something to wait for. */
    public sealed interface Wanted {}

    /** More of what is published, or the end of the run. */
    public record More(Place place) implements Wanted {}

    /** A promise to be settled. */
    public record Settlement(Promised promise) implements Wanted {}

    /** What the store has returned. */
    public sealed interface Seen {}

    /**
     * A page of published values; empty at the end of the run.
     *
     * @param removed whether the run is not there any more
     */
    public record Page(List<Published> values, boolean removed) implements Seen {}

    /** A settled promise. */
    public record Settled(Mail mail) implements Seen {}

    @Override
    public RunId run(Wanted key) {
        return switch (key) {
            case More more -> more.place().run().id();
            case Settlement settlement -> settlement.promise().run().id();
        };
    }

    @Override
    public boolean isHere(Wanted key) {
        return false;
    }

    @Override
    public Map<Wanted, Seen> ask(Collection<Wanted> keys) {
        List<Place> places = new ArrayList<>();
        List<Promised> promises = new ArrayList<>();
        for (Wanted key : keys) {
            switch (key) {
                case More more -> places.add(more.place());
                case Settlement settlement -> promises.add(settlement.promise());
            }
        }
        Map<Wanted, Seen> seen = new HashMap<>();
        if (!places.isEmpty()) {
            mailboxes
                    .published(places, PAGE, PAGE_BYTES)
                    .forEach((place, shown) -> seen.put(new More(place), new Page(shown.values(), shown.removed())));
        }
        if (!promises.isEmpty()) {
            mailboxes
                    .promises(promises)
                    .forEach((promise, mail) -> seen.put(new Settlement(promise), new Settled(mail)));
        }
        return seen;
    }
}

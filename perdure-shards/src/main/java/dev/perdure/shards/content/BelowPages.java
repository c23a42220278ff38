package dev.perdure.shards.content;

import dev.perdure.spi.Runs.Below;
import dev.perdure.spi.Runs.BelowPage;
import dev.perdure.spi.Runs.BelowPlace;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Merges pages of children of several shards. */
public final class BelowPages {
    private static final Comparator<BelowPlace> ORDER =
            Comparator.comparing(BelowPlace::createdAt).thenComparingLong(BelowPlace::key);

    private BelowPages() {}

    /** One page. It ends where a shard has not looked any further, because the next run of that shard may be the next of all. */
    public static BelowPage merged(List<BelowPage> pages, int limit) {
        Optional<BelowPlace> end =
                pages.stream().flatMap(page -> page.next().stream()).min(ORDER);
        List<Below> known = pages.stream()
                .flatMap(page -> page.runs().stream())
                .filter(run ->
                        end.map(place -> ORDER.compare(place(run), place) <= 0).orElse(true))
                .sorted(Comparator.comparing(BelowPages::place, ORDER))
                .toList();
        return known.size() > limit
                ? new BelowPage(known.subList(0, limit), Optional.of(place(known.get(limit - 1))))
                : new BelowPage(known, end);
    }

    private static BelowPlace place(Below run) {
        return new BelowPlace(run.info().createdAt(), run.run().key());
    }
}

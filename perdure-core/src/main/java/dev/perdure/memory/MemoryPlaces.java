package dev.perdure.memory;

import dev.perdure.spi.Hints;
import dev.perdure.spi.shard.Giving;
import dev.perdure.spi.shard.Places;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The shares of this store of the limits that several shards have together. */
final class MemoryPlaces implements Places {
    private static final int MOST_WANTED = 100;

    private final Tables tables;
    private final Map<Kind, Map<String, Held>> all = Map.of(Kind.QUEUE, new TreeMap<>(), Kind.LIMITER, new TreeMap<>());

    /** A share, and what has been sent and received in its division. */
    private static final class Held {
        private Division division;
        private int joined;
        private int places;
        private int aside;
        private Instant asideSince = Instant.MIN;
        private Instant cameAt = Instant.MIN;
        private boolean settled;
        private final Map<String, Long> sent = new HashMap<>();
        private final Map<String, Long> received = new HashMap<>();

        private Held(Division division, int places) {
            this.division = division;
            this.joined = places;
            this.places = places;
        }

        private boolean takesPart(long number) {
            return settled && division.number() == number && division.whole() != UNLIMITED;
        }
    }

    MemoryPlaces(Tables tables) {
        this.tables = tables;
    }

    private Map<String, Held> of(Limit limit) {
        return Objects.requireNonNull(all.get(limit.kind()));
    }

    private @Nullable Held held(Limit limit) {
        return of(limit).get(limit.name());
    }

    private static Share share(Limit limit, Held held) {
        return new Share(limit, held.division, held.joined, held.places, held.settled);
    }

    @Override
    public List<Share> shares() {
        return tables.inTransaction(() -> limits().stream()
                .map(limit -> share(limit, Objects.requireNonNull(held(limit))))
                .toList());
    }

    private List<Limit> limits() {
        return List.of(Kind.QUEUE, Kind.LIMITER).stream()
                .flatMap(kind ->
                        Objects.requireNonNull(all.get(kind)).keySet().stream().map(name -> new Limit(kind, name)))
                .toList();
    }

    @Override
    public void open(Limit limit, Map<String, String> declared, Division first, int places) {
        tables.inTransaction(() -> {
            boolean isNew = switch (limit.kind()) {
                case QUEUE -> tables.queues.open(limit.name(), declared);
                case LIMITER -> tables.permits.open(limit.name(), declared);
            };
            if (isNew) {
                Held held = new Held(first, places);
                held.settled = true;
                of(limit).put(limit.name(), held);
                tell(limit, held);
            }
            return true;
        });
    }

    @Override
    public Share join(Limit limit, Division division, int places) {
        return tables.inTransaction(() -> {
            Held before = held(limit);
            if (before != null && before.division.number() >= division.number()) {
                return share(limit, before);
            }
            int has = before != null ? before.places : division.number() > 1 ? 0 : limited(limit);
            Held held = new Held(division, Math.min(has, Math.max(places, given(limit))));
            of(limit).put(limit.name(), held);
            tell(limit, held);
            return share(limit, held);
        });
    }

    @Override
    public void settle(Limit limit, long division, int places) {
        tables.inTransaction(() -> {
            Held held = held(limit);
            if (held != null && held.division.number() == division && !held.settled) {
                held.places = places == UNLIMITED ? UNLIMITED : held.places + places - held.joined;
                held.settled = true;
                tell(limit, held);
            }
            return true;
        });
    }

    @Override
    public void dissolve(Limit limit) {
        tables.inTransaction(() -> {
            of(limit).remove(limit.name());
            switch (limit.kind()) {
                case QUEUE -> tables.queues.share(limit.name(), null);
                case LIMITER -> tables.permits.share(limit.name(), null);
            }
            return true;
        });
    }

    @Override
    public List<Need> needs() {
        return tables.inTransaction(() -> limits().stream()
                .flatMap(limit -> need(limit, Objects.requireNonNull(held(limit))).stream())
                .toList());
    }

    private Optional<Need> need(Limit limit, Held held) {
        int waiting = Math.min(MOST_WANTED, waiting(limit));
        if (waiting == 0) {
            return Optional.empty();
        }
        if (held.aside > 0 && !isLately(held.asideSince, ASIDE)) {
            held.aside = 0;
            tell(limit, held);
        }
        return held.takesPart(held.division.number())
                        && held.places < held.division.whole()
                        && given(limit) >= held.places - held.aside
                ? Optional.of(new Need(
                        limit,
                        held.division.number(),
                        held.places,
                        Math.min(waiting, held.division.whole() - held.places),
                        held.sent))
                : Optional.empty();
    }

    /** Whether attempts wait for permits of limiters that are divided. */
    boolean permitsAreAwaited() {
        return Objects.requireNonNull(all.get(Kind.LIMITER)).keySet().stream()
                .anyMatch(name -> tables.permits.waiting(name) > 0);
    }

    @Override
    public OptionalLong give(Request request) {
        return tables.inTransaction(() -> {
            Limit limit = request.limit();
            Held held = held(limit);
            if (held == null || !held.takesPart(request.division())) {
                return OptionalLong.empty();
            }
            take(limit, held, request.by(), request.sent());
            Giving giving = Giving.of(
                    new Giving.State(
                            held.places,
                            given(limit),
                            isLately(held.asideSince, ASIDE) ? held.aside : 0,
                            waiting(limit) > 0,
                            isLately(held.cameAt, STAY)),
                    request);
            if (giving.sent() > 0 || giving.aside() > 0 || held.aside > 0) {
                held.places -= giving.sent();
                held.aside = giving.aside();
                held.asideSince = tables.now();
                tell(limit, held);
            }
            return OptionalLong.of(held.sent.merge(request.by(), (long) giving.sent(), Long::sum));
        });
    }

    @Override
    public int receive(Limit limit, long division, String from, long total) {
        return tables.inTransaction(() -> {
            Held held = held(limit);
            return held == null || held.division.number() != division ? 0 : take(limit, held, from, total);
        });
    }

    private int take(Limit limit, Held held, String from, long total) {
        long more = total - held.received.getOrDefault(from, 0L);
        if (more > 0) {
            held.received.put(from, total);
            held.places += (int) more;
            held.cameAt = tables.now();
            tell(limit, held);
            tables.hint(new Hints.WorkReady());
        }
        return (int) Math.max(0, more);
    }

    private boolean isLately(Instant at, Duration within) {
        return at.isAfter(tables.now().minus(within));
    }

    private void tell(Limit limit, Held held) {
        Map<String, String> settings =
                Places.settings(held.division, held.places == UNLIMITED ? UNLIMITED : held.places - held.aside);
        switch (limit.kind()) {
            case QUEUE -> tables.queues.share(limit.name(), settings);
            case LIMITER -> tables.permits.share(limit.name(), settings);
        }
    }

    private int limited(Limit limit) {
        return switch (limit.kind()) {
            case QUEUE -> tables.queues.limited(limit.name());
            case LIMITER -> tables.permits.limited(limit.name());
        };
    }

    private int given(Limit limit) {
        return switch (limit.kind()) {
            case QUEUE -> tables.queues.given(limit.name());
            case LIMITER -> tables.permits.given(limit.name());
        };
    }

    private int waiting(Limit limit) {
        return switch (limit.kind()) {
            case QUEUE -> tables.queues.waitingForPlaces(limit.name());
            case LIMITER -> tables.permits.waiting(limit.name());
        };
    }
}

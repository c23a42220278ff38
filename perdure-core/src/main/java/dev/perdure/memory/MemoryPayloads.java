package dev.perdure.memory;

import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadReference;
import dev.perdure.spi.payload.Payloads;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Large payloads, and the rows that refer to them. */
final class MemoryPayloads implements Payloads {
    private final Tables tables;
    private final NavigableMap<PayloadReference, Kept> payloads =
            new TreeMap<>(Comparator.comparing(PayloadReference::hash).thenComparingLong(PayloadReference::size));
    private final Map<UUID, Pending> uploads = new HashMap<>();
    private Instant lastTurn = Instant.MIN;

    /** A payload that is there. */
    private static final class Kept {
        private final List<byte[]> chunks;
        /** Since when no row has referred to it, as far as that is known. */
        private @Nullable Instant released;

        Kept(List<byte[]> chunks) {
            this.chunks = chunks;
        }
    }

    /** An upload that is not finished. */
    private record Pending(Instant began, NavigableMap<Integer, byte[]> chunks) {}

    MemoryPayloads(Tables tables) {
        this.tables = tables;
    }

    @Override
    public void write(UUID upload, int number, byte[] chunk) {
        tables.inTransaction(() -> uploads.computeIfAbsent(upload, unseen -> new Pending(tables.now(), new TreeMap<>()))
                .chunks()
                .put(number, chunk.clone()));
    }

    @Override
    public boolean finish(UUID upload, PayloadReference reference) {
        return tables.inTransaction(() -> {
            Pending pending = uploads.remove(upload);
            if (kept(reference)) {
                return true;
            }
            if (pending == null || pending.chunks().size() != reference.chunks()) {
                return false;
            }
            payloads.put(reference, new Kept(List.copyOf(pending.chunks().values())));
            return true;
        });
    }

    @Override
    public void discard(UUID upload) {
        tables.inTransaction(() -> Optional.ofNullable(uploads.remove(upload)));
    }

    @Override
    public boolean keep(PayloadReference reference) {
        return tables.inTransaction(() -> kept(reference));
    }

    private boolean kept(PayloadReference reference) {
        Kept there = payloads.get(reference);
        if (there != null) {
            there.released = null;
        }
        return there != null;
    }

    @Override
    public Optional<byte[]> read(PayloadReference reference, int number) {
        return tables.inTransaction(() -> Optional.ofNullable(payloads.get(reference))
                .filter(kept -> number < kept.chunks.size())
                .map(kept -> kept.chunks.get(number).clone()));
    }

    @Override
    public List<PayloadReference> list(@Nullable PayloadReference after, int limit) {
        return tables.inTransaction(() -> (after == null ? payloads : payloads.tailMap(after, false))
                .keySet().stream().limit(limit).toList());
    }

    @Override
    public int remove(Collection<PayloadReference> unreferred, Collection<PayloadReference> referred, Duration after) {
        return tables.inTransaction(() -> {
            referred.forEach(this::kept);
            Instant now = tables.now();
            int removed = 0;
            for (PayloadReference reference : unreferred) {
                Kept there = payloads.get(reference);
                if (there == null) {
                    continue;
                }
                if (there.released == null) {
                    there.released = now;
                }
                if (!there.released.plus(after).isAfter(now)) {
                    payloads.remove(reference);
                    removed++;
                }
            }
            return removed;
        });
    }

    @Override
    public int removeUploads(Duration after) {
        return tables.inTransaction(() -> {
            int before = uploads.size();
            Instant limit = tables.now().minus(after);
            uploads.values().removeIf(pending -> !pending.began().isAfter(limit));
            return before - uploads.size();
        });
    }

    @Override
    public Set<PayloadReference> referred(Collection<PayloadReference> references) {
        return tables.inTransaction(() -> {
            Set<PayloadReference> found = new HashSet<>();
            Stream.of(
                            tables.byKey.values().stream().flatMap(MemoryPayloads::payloads),
                            tables.objects.values(),
                            tables.exchange.values())
                    .flatMap(all -> all)
                    .forEach(payload -> PayloadReference.of(payload).ifPresent(found::add));
            found.retainAll(references);
            return found;
        });
    }

    @Override
    public boolean takeTurn(Duration rest) {
        return tables.inTransaction(() -> {
            Instant now = tables.now();
            boolean free = !lastTurn.isAfter(now.minus(rest));
            if (free) {
                lastTurn = now;
            }
            return free;
        });
    }

    private static Stream<Payload> payloads(Row row) {
        Stream<Payload> own = Stream.of(Optional.of(row.start.input()), Optional.ofNullable(row.outcome))
                .flatMap(Optional::stream);
        Stream<Payload> entries =
                row.journal.values().stream().map(recorded -> recorded.entry().payload());
        Stream<Payload> published =
                row.published.stream().map(output -> output.value().payload());
        return Stream.of(own, entries, row.mailbox.payloads(), published).flatMap(all -> all);
    }
}

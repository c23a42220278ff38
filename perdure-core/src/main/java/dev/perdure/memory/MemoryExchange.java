package dev.perdure.memory;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Hints;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.Exchange;
import dev.perdure.spi.shard.Partitions;
import dev.perdure.spi.shard.ShardMap;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The store in memory as one of several shards. */
final class MemoryExchange implements Exchange {
    private final Tables tables;
    private final NavigableMap<Long, Outgoing> outgoing = new TreeMap<>();
    private final Map<UUID, Long> tokens = new HashMap<>();
    private final MemoryLinks links;
    private final MemoryWaits waits;

    private @Nullable Membership membership;

    MemoryExchange(Tables tables) {
        this.tables = tables;
        this.links = new MemoryLinks(tables);
        this.waits = new MemoryWaits(tables, links);
    }

    @Override
    public Optional<Membership> membership() {
        return tables.inTransaction(() -> Optional.ofNullable(membership));
    }

    @Override
    public Optional<ShardMap> newerMap(int version) {
        return membership().map(Membership::map).filter(map -> map.version() > version);
    }

    @Override
    public Membership join(Membership first) {
        return tables.inTransaction(() -> {
            Membership there = membership == null ? first : membership;
            membership = there;
            return there;
        });
    }

    /** Whether this store has a partition: all of them, if it is no shard. */
    boolean has(int partition) {
        return membership == null || membership.map().owners().get(partition).equals(membership.name());
    }

    /** Nothing moves to or from a store that ends with its process. */
    @Override
    public Set<Integer> closed() {
        return Set.of();
    }

    @Override
    public Look look(Collection<Integer> partitions, int limit) {
        return tables.inTransaction(() -> new Look(
                membership == null ? 0 : membership.map().version(),
                outgoing(partitions, 0, limit),
                tables.places.permitsAreAwaited()));
    }

    @Override
    public List<Outgoing> outgoing(Collection<Integer> partitions, long after, int limit) {
        return tables.inTransaction(() -> outgoing.tailMap(after, false).values().stream()
                .filter(each -> partitions.contains(each.partition()))
                .limit(limit)
                .toList());
    }

    @Override
    public void remove(Collection<Long> numbers) {
        tables.inTransaction(() -> {
            numbers.forEach(outgoing::remove);
            tokens.values().removeAll(List.copyOf(numbers));
            return true;
        });
    }

    @Override
    public Optional<Parent> parent(RunId run) {
        return tables.inTransaction(
                () -> Optional.ofNullable(tables.byId.get(run)).map(links::elsewhere));
    }

    @Override
    public List<Lived> below(Collection<RunRef> runs) {
        return tables.inTransaction(() -> {
            Map<RunRef, Lived> reached = new LinkedHashMap<>();
            List<Row> level = runs.stream()
                    .flatMap(run -> Stream.ofNullable(tables.byKey.get(run.key())))
                    .toList();
            while (!level.isEmpty()) {
                Set<RunRef> above = new HashSet<>();
                level.forEach(row -> {
                    reached.put(row.ref, lived(row));
                    above.add(row.ref);
                });
                List<Row> next = tables.byKey.values().stream()
                        .filter(row -> isLiveOrCancelled(row) && isChildOf(row, above) && !reached.containsKey(row.ref))
                        .toList();
                next.forEach(row -> reached.put(row.ref, lived(row)));
                level = next.stream()
                        .filter(row -> row.state == RunState.CANCELLED)
                        .toList();
            }
            return List.copyOf(reached.values());
        });
    }

    private static Lived lived(Row row) {
        return new Lived(row.ref, row.restarts, row.state);
    }

    private static boolean isLiveOrCancelled(Row row) {
        return !row.state.isTerminal() || row.state == RunState.CANCELLED;
    }

    private static boolean isChildOf(Row row, Set<RunRef> parents) {
        Parent parent = row.start.parent();
        return parent != null && !parent.isReport() && parents.contains(parent.run());
    }

    @Override
    public List<Lived> children(Collection<Lived> ofOthers) {
        return tables.inTransaction(() -> {
            Map<RunRef, Integer> lives = new HashMap<>();
            ofOthers.forEach(parent -> lives.put(parent.run(), parent.life()));
            return links.all()
                    .filter(link -> !link.getValue().isReport()
                            && Objects.equals(
                                    lives.get(link.getValue().run()),
                                    link.getValue().life()))
                    .flatMap(link -> Stream.ofNullable(tables.byKey.get(link.getKey())))
                    .filter(MemoryExchange::isLiveOrCancelled)
                    .map(MemoryExchange::lived)
                    .toList();
        });
    }

    @Override
    public MemoryLinks links() {
        return links;
    }

    @Override
    public MemoryPlaces places() {
        return tables.places;
    }

    @Override
    public MemoryWaits waits() {
        return waits;
    }

    /** A sweep of a shard says if calls wait for their turn. */
    void swept() {
        if (membership != null && waits.callsWait()) {
            tables.hint(new Hints.CallsWait());
        }
    }

    /** Keeps what a transition sends. */
    void send(Row sender, Effect.Send send) {
        keep(send.token(), send.partition(), new Content.Sent(send.change(), send.value(), sender.restarts));
    }

    /** The run as the other tables know it: a parent that is elsewhere is known only here. */
    NewRun linked(NewRun run, long key) {
        Parent parent = run.parent();
        if (parent == null || !parent.isElsewhere()) {
            return run;
        }
        links.put(key, parent);
        return run.withParent(null);
    }

    /** A run has ended: its parent gets the outcome, if it is on another shard. */
    void ended(Row row) {
        Parent parent = links.elsewhere(row);
        if (parent != null && parent.answers()) {
            Mail mail = MailDelivery.told(row, parent);
            int life = parent.isReport() ? Change.Deliver.ANY_LIFE : parent.life();
            keep(
                    mail.token(),
                    Partitions.of(parent.run().id()),
                    new Content.Told(parent.run().id(), mail, life));
        }
    }

    /**
     * The parent gets the outcome once more. A copy that is still kept may have been applied in vain before, and is then
     * removed by its number: so it is kept anew, under another one.
     */
    void endedAgain(Row row) {
        Long kept = tokens.remove(new UUID(row.ref.key(), row.start.seed()));
        if (kept != null) {
            outgoing.remove(kept);
        }
        ended(row);
    }

    /** A run is removed. */
    void removed(Row row) {
        links.remove(row.ref.key());
    }

    /** The values that are on their way. */
    Stream<Payload> values() {
        return outgoing.values().stream().map(each -> switch (each.content()) {
            case Content.Sent sent -> sent.value();
            case Content.Told told -> told.mail().payload();
        });
    }

    private void keep(UUID token, int partition, Content content) {
        tokens.computeIfAbsent(token, unseen -> {
            long number = tables.nextNumber();
            outgoing.put(number, new Outgoing(number, partition, content));
            tables.hint(new Hints.OutgoingKept());
            return number;
        });
    }
}

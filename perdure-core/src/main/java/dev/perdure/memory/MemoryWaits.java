package dev.perdure.memory;

import dev.perdure.RunState;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.shard.CallWaits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Which runs of this store others wait for. */
final class MemoryWaits implements CallWaits {
    private static final Duration A_WHILE = Duration.ofSeconds(1);

    private final Tables tables;
    private final MemoryLinks links;

    MemoryWaits(Tables tables, MemoryLinks links) {
        this.tables = tables;
        this.links = links;
    }

    /** Whether any call waits for its turn. */
    boolean callsWait() {
        return tables.byKey.values().stream().anyMatch(row -> tables.objects.holderBefore(row) != null);
    }

    @Override
    public List<Long> holders(long after, int limit) {
        return tables.inTransaction(() -> tables.byKey.values().stream()
                .filter(row -> row.state == RunState.PENDING
                        && row.changedAt.isBefore(tables.now().minus(A_WHILE))
                        && isAnswered(links.parent(row)))
                .flatMap(row -> Stream.ofNullable(tables.objects.holderBefore(row)))
                .map(holder -> holder.ref.key())
                .filter(key -> key > after)
                .distinct()
                .sorted()
                .limit(limit)
                .toList());
    }

    @Override
    public List<Wait> of(Collection<Long> waiting) {
        return tables.inTransaction(
                () -> waiting.stream().flatMap(key -> waits(key).stream()).toList());
    }

    private List<Wait> waits(long key) {
        List<Wait> waits = new ArrayList<>();
        Optional.ofNullable(tables.byKey.get(key)).ifPresent(row -> {
            Row holder = tables.objects.holderBefore(row);
            if (holder != null) {
                waits.add(new Wait(new Life(key, row.restarts), Reason.TURN, awaited(holder)));
            }
            tables.byKey.values().stream()
                    .filter(called -> isCalledBy(called, called.start.parent(), key))
                    .map(called -> new Wait(new Life(key, row.restarts), Reason.CALL, awaited(called)))
                    .forEach(waits::add);
        });
        for (Map.Entry<Long, Parent> link : links.all().toList()) {
            Row called = tables.byKey.get(link.getKey());
            if (called != null && isCalledBy(called, link.getValue(), key)) {
                Life by = new Life(key, link.getValue().life());
                waits.add(new Wait(by, Reason.CALL_ACROSS, awaited(called)));
            }
        }
        return waits;
    }

    private static boolean isCalledBy(Row called, @Nullable Parent parent, long caller) {
        return !called.state.isTerminal()
                && isAnswered(parent)
                && parent != null
                && parent.run().key() == caller;
    }

    private static boolean isAnswered(@Nullable Parent parent) {
        return parent != null && parent.answers() && !parent.isReport();
    }

    private static AwaitedRun awaited(Row row) {
        ObjectCall call = row.start.object();
        return new AwaitedRun(
                row.ref,
                row.restarts,
                row.state,
                row.start.definition(),
                call == null ? null : call.object(),
                new Change.Seen(row.createdAt, row.changedAt));
    }
}

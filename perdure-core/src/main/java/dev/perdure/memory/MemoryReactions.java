package dev.perdure.memory;

import dev.perdure.reaction.Occasion;
import dev.perdure.reaction.ReactionInfo;
import dev.perdure.reaction.RunEvent;
import dev.perdure.spi.Audit;
import dev.perdure.spi.ReactionRules;
import dev.perdure.spi.ReactionStart;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.NewRun;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The reactions, and what they start.
 *
 * <p>How it works: a change of state that is an occasion is remembered, and the runs of reactions are started at the
 * end of the same transaction. For late runs, each reaction looks at every run once, in the order of their creation,
 * when the time after which it is late is over.
 */
final class MemoryReactions implements ReactionRules {
    private final Tables tables;
    private final Map<String, ReactionInfo> rules = new TreeMap<>();
    /** The key of the last run at which a reaction to late runs has looked. */
    private final Map<String, Long> reached = new HashMap<>();
    /** Runs to start at the end of the transaction. */
    private final List<NewRun> due = new ArrayList<>();

    MemoryReactions(Tables tables) {
        this.tables = tables;
    }

    // ---- what happens to runs

    /** A run has entered a state. */
    void entered(Row row, @Nullable String reason) {
        Occasion occasion = Occasion.of(row.state).orElse(null);
        if (occasion == null || rules.isEmpty()) {
            return;
        }
        for (ReactionInfo rule : rules.values()) {
            if (rule.occasions().contains(occasion) && isFor(rule, row)) {
                RunEvent event = new RunEvent(
                        rule.name(),
                        row.ref.id(),
                        row.start.definition(),
                        occasion,
                        row.changedAt,
                        row.createdAt,
                        Objects.requireNonNullElse(reason, ""));
                due.add(ReactionStart.run(rule, row.ref, event, String.valueOf(row.changes)));
            }
        }
    }

    private static boolean isFor(ReactionInfo rule, Row row) {
        return rule.paused().isEmpty() && ReactionStart.concerns(rule, row.ref.id(), row.start.definition());
    }

    /** Starts the runs for which there was an occasion in this transaction. */
    void start(Consumer<Change.Start> starter) {
        while (!due.isEmpty()) {
            starter.accept(new Change.Start(due.removeFirst(), null));
        }
    }

    /** Looks for runs that are late now. */
    void findLate() {
        Instant now = tables.now();
        for (ReactionInfo rule : rules.values()) {
            if (rule.late().isPresent() && rule.paused().isEmpty()) {
                findLate(rule, now);
            }
        }
    }

    private void findLate(ReactionInfo rule, Instant now) {
        for (Row row : after(rule)) {
            if (lateAt(rule, row).isAfter(now)) {
                return;
            }
            reached.put(rule.name(), row.ref.key());
            if (!row.state.isTerminal() && isFor(rule, row)) {
                RunEvent event =
                        ReactionStart.late(rule, row.ref.id(), row.start.definition(), row.createdAt, row.state.name());
                due.add(ReactionStart.run(rule, row.ref, event, ReactionStart.LATE));
            }
        }
    }

    private List<Row> after(ReactionInfo rule) {
        long last = reached.getOrDefault(rule.name(), 0L);
        return tables.byKey.values().stream()
                .filter(row -> row.ref.key() > last)
                .sorted((one, other) -> Long.compare(one.ref.key(), other.ref.key()))
                .toList();
    }

    private static Instant lateAt(ReactionInfo rule, Row row) {
        return row.createdAt.plus(rule.late().orElseThrow());
    }

    /** When the next run is late, if it has not ended by then. */
    @Nullable
    Instant nextLate() {
        return rules.values().stream()
                .filter(rule -> rule.late().isPresent() && rule.paused().isEmpty())
                .flatMap(rule -> after(rule).stream()
                        .filter(row -> !row.state.isTerminal() && isFor(rule, row))
                        .map(row -> lateAt(rule, row))
                        .limit(1))
                .min(Instant::compareTo)
                .orElse(null);
    }

    // ---- what operators do

    @Override
    public void declare(Collection<ReactionInfo> reactions) {
        tables.inTransaction(() -> {
            reactions.forEach(this::declare);
            return reactions.size();
        });
    }

    private void declare(ReactionInfo wanted) {
        ReactionInfo known = rules.get(wanted.name());
        rules.put(wanted.name(), paused(wanted, known == null ? Optional.empty() : known.paused()));
        if (wanted.late().isEmpty()) {
            reached.remove(wanted.name());
        } else if (known == null || !known.late().equals(wanted.late())) {
            Instant oldest = tables.now().minus(wanted.late().get());
            long last = tables.byKey.values().stream()
                    .filter(row -> row.createdAt.isBefore(oldest))
                    .mapToLong(row -> row.ref.key())
                    .max()
                    .orElse(0);
            reached.merge(wanted.name(), last, Math::min);
        }
    }

    private static ReactionInfo paused(ReactionInfo rule, Optional<String> reason) {
        return new ReactionInfo(
                rule.name(), rule.occasions(), rule.late(), rule.definitions(), rule.starts(), rule.queue(), reason);
    }

    @Override
    public boolean apply(Order order, @Nullable Audit audit) {
        return tables.inTransaction(() -> {
            ReactionInfo known = rules.get(order.reaction());
            if (known == null) {
                return false;
            }
            ReactionInfo changed = switch (order) {
                case Order.Pause pause -> paused(known, Optional.of(pause.reason()));
                case Order.Resume resume -> paused(known, Optional.empty());
                case Order.Delete delete -> null;
            };
            if (changed == null) {
                rules.remove(order.reaction());
                reached.remove(order.reaction());
            } else {
                rules.put(order.reaction(), changed);
            }
            tables.audits.add(known.equals(changed) ? null : audit);
            return true;
        });
    }

    @Override
    public List<ReactionInfo> list() {
        return tables.inTransaction(() -> List.copyOf(rules.values()));
    }
}

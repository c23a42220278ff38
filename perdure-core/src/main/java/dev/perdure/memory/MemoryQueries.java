package dev.perdure.memory;

import dev.perdure.RunCount;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.audit.AuditEntry;
import dev.perdure.audit.AuditFilter;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Runs;
import dev.perdure.spi.WaitReason;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.RunSelection;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Answers queries about runs and reads their journals. */
final class MemoryQueries implements Runs, Journals {
    private static final Comparator<RunInfo> NEWEST_FIRST =
            Comparator.comparing(RunInfo::createdAt).thenComparing(RunInfo::id).reversed();
    private static final Comparator<TimePlace> BY_TIME = Comparator.comparing(TimePlace::at)
            .thenComparingInt(TimePlace::position)
            .thenComparingInt(TimePlace::note);
    private static final Comparator<BelowPlace> BY_CREATION =
            Comparator.comparing(BelowPlace::createdAt).thenComparingLong(BelowPlace::key);
    private static final Comparator<Row> OLDEST_FIRST = Comparator.comparing(MemoryQueries::place, BY_CREATION);

    private final Tables tables;

    MemoryQueries(Tables tables) {
        this.tables = tables;
    }

    @Override
    public Optional<Found> find(RunId id) {
        return tables.inTransaction(
                () -> Optional.ofNullable(tables.byId.get(id)).map(row -> new Found(row.ref, info(row))));
    }

    private RunInfo info(Row row) {
        String reason = row.reason;
        if (row.state == RunState.READY) {
            reason = tables.waitReasons.of(row).orElse(reason);
        } else if (row.state == RunState.SUSPENDED) {
            reason = tables.permits.why(row).orElse(reason);
        } else if (row.state == RunState.PENDING) {
            reason = tables.waitReasons.ofPending(row).orElse(reason);
        } else if (row.state == RunState.BACKING_OFF) {
            reason = WaitReasons.ofBackOff(row).orElse(reason);
        }
        List<String> awaited = row.state == RunState.SUSPENDED ? tables.awaitedOf(row) : List.of();
        return new RunInfo(
                row.ref.id(),
                row.start.definition(),
                row.state,
                WaitReason.of(row.state, reason, row.wakeAt, awaited),
                row.createdAt,
                row.changedAt,
                Optional.ofNullable(row.wakeAt),
                row.recoveriesWithoutProgress(),
                awaited,
                row.description);
    }

    @Override
    public List<RunInfo> list(RunSelection selection) {
        RunFilter filter = selection.filter();
        Comparator<RunInfo> order = filter.isOldestFirst() ? NEWEST_FIRST.reversed() : NEWEST_FIRST;
        return tables.inTransaction(() -> selected(selection)
                .map(this::info)
                .filter(info -> filter.after()
                        .map(last -> order.compare(info, last) > 0)
                        .orElse(true))
                .sorted(order)
                .limit(filter.limit())
                .toList());
    }

    @Override
    public Map<RunState, RunCount> count(RunSelection selection) {
        return tables.inTransaction(() -> {
            Map<RunState, Integer> seen = new EnumMap<>(RunState.class);
            selected(selection).forEach(row -> seen.merge(row.state, 1, Integer::sum));
            Map<RunState, RunCount> counts = new EnumMap<>(RunState.class);
            seen.forEach((state, runs) -> counts.put(state, RunCount.seen(runs)));
            return counts;
        });
    }

    private Stream<Row> selected(RunSelection selection) {
        MemoryFilter filter = new MemoryFilter(tables, selection);
        return tables.byKey.values().stream().filter(filter::selects);
    }

    @Override
    public Optional<Latest> latest(RunId id) {
        return tables.inTransaction(
                () -> Optional.ofNullable(tables.byId.get(id)).map(row -> new Latest(row.ref, info(row), lastOf(row))));
    }

    @Override
    public List<Latest> latest(String prefix, String after, int limit) {
        return tables.inTransaction(() -> tables.byId.values().stream()
                .filter(row -> row.ref.id().value().startsWith(prefix)
                        && Utf8Order.COMPARATOR.compare(row.ref.id().value(), after) > 0)
                .sorted(Comparator.comparing(row -> row.ref.id().value(), Utf8Order.COMPARATOR))
                .limit(limit)
                .map(row -> new Latest(row.ref, info(row), lastOf(row)))
                .toList());
    }

    private static Payload lastOf(Row row) {
        return row.journal.descendingMap().values().stream()
                .map(Recorded::entry)
                .filter(entry -> entry.note() == Entry.ANSWER && entry.status() == Entry.Status.VALUE)
                .findFirst()
                .map(Entry::payload)
                .orElse(row.start.input());
    }

    @Override
    public Optional<Payload> input(RunRef run) {
        return tables.inTransaction(
                () -> Optional.ofNullable(tables.byKey.get(run.key())).map(row -> row.start.input()));
    }

    @Override
    public Optional<NewRun> settings(RunId run) {
        return tables.inTransaction(() -> Optional.ofNullable(tables.byId.get(run))
                .filter(row -> !row.stripped)
                .map(MemoryQueries::settings));
    }

    private static NewRun settings(Row row) {
        NewRun start = row.start;
        return new NewRun(
                start.id(),
                start.definition(),
                Payload.EMPTY,
                start.seed(),
                start.queue(),
                start.priority(),
                start.version(),
                null,
                null,
                null,
                null,
                row.description,
                start.queueKey(),
                new Admission(null, start.admission().weight()).at(start.placement()));
    }

    @Override
    public Optional<Basis> basis(RunRef run) {
        return tables.inTransaction(
                () -> Optional.ofNullable(tables.byKey.get(run.key())).map(MemoryQueries::basis));
    }

    private static Basis basis(Row row) {
        Claimed claimed = row.claimed();
        return new Basis(
                row.start.version(),
                claimed.input(),
                claimed.seed(),
                claimed.deadline(),
                claimed.premises(),
                claimed.object());
    }

    @Override
    public List<Ended> ended(Collection<RunRef> runs) {
        return tables.inTransaction(
                () -> runs.stream().map(this::ended).flatMap(Optional::stream).toList());
    }

    private Optional<Ended> ended(RunRef run) {
        Row row = tables.byKey.get(run.key());
        if (row == null) {
            return Optional.of(Ended.removed(run));
        }
        return row.state.isTerminal()
                ? Optional.of(new Ended(
                        row.ref,
                        row.state,
                        Objects.requireNonNullElse(row.outcome, Payload.EMPTY),
                        Objects.requireNonNullElse(row.reason, "")))
                : Optional.empty();
    }

    @Override
    public List<RunRef> liveChildren(Collection<RunRef> parents) {
        return tables.inTransaction(() -> {
            Set<RunRef> live = new LinkedHashSet<>();
            Set<RunRef> level = Set.copyOf(parents);
            while (!level.isEmpty()) {
                Set<RunRef> cancelled = new HashSet<>();
                for (Row row : tables.byKey.values()) {
                    Parent parent = row.start.parent();
                    if (parent != null && level.contains(parent.run()) && !parent.isReport()) {
                        if (!row.state.isTerminal()) {
                            live.add(row.ref);
                        } else if (row.state == RunState.CANCELLED) {
                            cancelled.add(row.ref);
                        }
                    }
                }
                level = cancelled;
            }
            return List.copyOf(live);
        });
    }

    @Override
    public List<TaskRow> tasks(RunRef run) {
        return tables.inTransaction(() -> {
            Row dag = tables.byKey.get(run.key());
            return dag == null
                    ? List.of()
                    : dag.tasks.stream().map(task -> task(dag, task)).toList();
        });
    }

    @Override
    public List<TaskRow> children(RunRef run) {
        return tables.inTransaction(() -> children(startedBy(run)));
    }

    /** Those of these runs that are children, oldest first. */
    List<TaskRow> children(Stream<Row> started) {
        return started.filter(row -> !row.isTask())
                .sorted(OLDEST_FIRST)
                .map(row -> task(row, row))
                .toList();
    }

    @Override
    public BelowPage tasks(RunRef run, BelowPlace after, int limit) {
        return tables.inTransaction(() -> page(startedBy(run).filter(Row::isTask), after, limit));
    }

    @Override
    public BelowPage children(RunRef run, BelowPlace after, int limit) {
        return tables.inTransaction(() -> page(startedBy(run).filter(row -> !row.isTask()), after, limit));
    }

    /** A page of these runs, oldest first. */
    BelowPage page(Stream<Row> started, BelowPlace after, int limit) {
        List<Row> next = started.filter(row -> BY_CREATION.compare(place(row), after) > 0)
                .sorted(OLDEST_FIRST)
                .limit(limit + 1L)
                .toList();
        List<Row> page = next.subList(0, Math.min(limit, next.size()));
        return new BelowPage(
                page.stream().map(this::below).toList(),
                next.size() > limit ? Optional.of(place(page.getLast())) : Optional.empty());
    }

    /** The tasks and children of a run. */
    private Stream<Row> startedBy(RunRef run) {
        return tables.byKey.values().stream()
                .filter(row -> row.start.parent() != null
                        && row.start.parent().run().equals(run)
                        && !row.start.parent().isReport());
    }

    private static BelowPlace place(Row row) {
        return new BelowPlace(row.createdAt, row.ref.key());
    }

    private Below below(Row row) {
        return new Below(
                row.ref,
                info(row),
                row.isTask() ? row.premises.stream().map(task -> task.ref.id()).toList() : List.of(),
                row.entered.stream()
                        .limit(Below.SHOWN_STATES)
                        .map(entered -> new Entered(entered.state(), entered.at(), ""))
                        .toList());
    }

    private TaskRow task(Row dag, Row task) {
        return new TaskRow(
                task.ref,
                info(task),
                task.premises.stream().map(dag.tasks::indexOf).toList(),
                Objects.requireNonNullElse(task.outcome, Payload.EMPTY),
                List.copyOf(task.entered));
    }

    @Override
    public Optional<RunInfo> holder(ObjectKey object) {
        return tables.inTransaction(() -> tables.objects.holder(object).map(this::info));
    }

    @Override
    public List<WaitingCall> waitingCalls(ObjectKey object, long after, int limit) {
        return tables.inTransaction(() -> tables.objects.waiting(object).stream()
                .filter(row -> row.turn > after)
                .limit(limit)
                .map(row -> new WaitingCall(row.turn, info(row)))
                .toList());
    }

    @Override
    public List<Entered> entered(RunRef run) {
        return tables.inTransaction(() -> {
            Row row = tables.byKey.get(run.key());
            return row == null ? List.of() : List.copyOf(row.entered);
        });
    }

    @Override
    public List<NumberedState> entered(RunRef run, int after, int limit) {
        return tables.inTransaction(() -> {
            Row row = tables.byKey.get(run.key());
            return row == null
                    ? List.of()
                    : IntStream.range(0, row.entered.size())
                            .mapToObj(i -> new NumberedState(i == 0 ? 0 : i + row.forgottenStates, row.entered.get(i)))
                            .filter(state -> state.number() > after)
                            .limit(limit)
                            .toList();
        });
    }

    @Override
    public List<AuditEntry> audited(AuditFilter filter) {
        return tables.inTransaction(() -> tables.audits.list(filter));
    }

    @Override
    public String mark() {
        return tables.inTransaction(tables::mark);
    }

    @Override
    public Page read(RunRef run, int afterPosition, int maxBytes) {
        return tables.inTransaction(() -> page(tables.byKey.get(run.key()), afterPosition, maxBytes));
    }

    @Override
    public Map<RunRef, Page> readFirst(List<RunRef> runs, int maxBytes) {
        return tables.inTransaction(() -> {
            Map<RunRef, Page> pages = new HashMap<>();
            runs.forEach(run -> pages.put(run, page(tables.byKey.get(run.key()), 0, maxBytes)));
            return pages;
        });
    }

    private static Page page(@Nullable Row row, int afterPosition, int maxBytes) {
        if (row == null) {
            return Page.EMPTY;
        }
        List<Recorded> entries = new ArrayList<>();
        long bytes = 0;
        int position = 0;
        for (Recorded recorded : row.journal
                .tailMap(new Row.Place(afterPosition + 1, Entry.ANSWER), true)
                .values()) {
            bytes += recorded.entry().payload().size();
            boolean nextPosition = recorded.entry().position() != position;
            if (nextPosition && bytes > maxBytes && !entries.isEmpty()) {
                return new Page(entries, false);
            }
            position = recorded.entry().position();
            entries.add(recorded);
        }
        return new Page(entries, true);
    }

    @Override
    public TimedPage readByTime(RunRef run, TimePlace after, int limit, int maxBytes) {
        return tables.inTransaction(() -> {
            Row row = tables.byKey.get(run.key());
            List<Timed> following = row == null
                    ? List.of()
                    : Stream.concat(
                                    row.former.stream(),
                                    row.journal.values().stream().map(recorded -> timed(row, recorded)))
                            .filter(timed -> BY_TIME.compare(timePlace(timed.recorded()), after) > 0)
                            .sorted(Comparator.comparing(timed -> timePlace(timed.recorded()), BY_TIME))
                            .toList();
            FittingPage<Timed> page = FittingPage.of(
                    following, timed -> timed.recorded().entry().payload().size(), limit, maxBytes);
            return new TimedPage(page.values(), page.last());
        });
    }

    private static TimePlace timePlace(Recorded recorded) {
        return new TimePlace(
                recorded.at(), recorded.entry().position(), recorded.entry().note());
    }

    private static Timed timed(Row row, Recorded recorded) {
        Entry entry = recorded.entry();
        boolean shows = switch (entry.status()) {
            case ATTEMPT, FAILURE, HEADERS -> true;
            default -> false;
        };
        Entry shown = new Entry(
                entry.position(),
                entry.note(),
                entry.kind(),
                entry.name(),
                entry.status(),
                shows ? entry.payload() : Payload.EMPTY);
        return new Timed(new Recorded(shown, recorded.at()), row.failedAttempts(entry));
    }
}

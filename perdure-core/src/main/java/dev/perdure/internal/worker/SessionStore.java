package dev.perdure.internal.worker;

import dev.perdure.RunId;
import dev.perdure.error.StoreException;
import dev.perdure.internal.commit.Backoff;
import dev.perdure.internal.commit.Committer;
import dev.perdure.internal.commit.PartCommitters;
import dev.perdure.internal.commit.Refusals;
import dev.perdure.internal.execution.host.Emission;
import dev.perdure.internal.execution.host.PendingLines;
import dev.perdure.internal.execution.host.StoreAccess;
import dev.perdure.internal.execution.host.Unwind;
import dev.perdure.internal.execution.value.Tokens;
import dev.perdure.internal.settings.Settings;
import dev.perdure.internal.time.StoreClock;
import dev.perdure.queue.Limiter;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.Mailboxes.Address;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Permits;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.payload.PayloadStore;
import dev.perdure.spi.payload.PayloadTransform;
import dev.perdure.spi.report.Reports;
import dev.perdure.spi.shard.Parts;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/** The store as the runs of one {@link Session} use it. */
final class SessionStore implements StoreAccess {
    private static final int PAGE_BYTES = 256 * 1024;
    private static final int SMALLEST_PAGE_BYTES = 8 * 1024;

    private final Settings settings;
    private final Parts parts;
    private final Committer committer;
    private final int part;
    private final PartCommitters clients;
    private final SharedRequests<ObjectKey, SortedMap<String, Payload>> stateReads;
    private final SharedRequests<Mailboxes.Unread, List<Mailboxes.Arrived>> mailReads;
    private final SessionPermits permits;
    private final SessionReports reports;
    private final Refusals refusals;
    private final BooleanSupplier alive;

    SessionStore(
            Settings settings,
            Committer committer,
            int part,
            PartCommitters clients,
            StoreClock clock,
            WorkerId worker,
            BooleanSupplier alive) {
        this.settings = settings;
        this.parts = settings.parts();
        this.committer = committer;
        this.part = part;
        this.clients = clients;
        this.alive = alive;
        this.stateReads = new SharedRequests<>(this::states, settings.clockwork());
        this.mailReads = new SharedRequests<>(this::mailboxes, settings.clockwork());
        this.permits = new SessionPermits(settings.store().permits(), settings.clockwork(), worker);
        this.reports = new SessionReports(settings.store().reports(), settings.clockwork(), clock, worker, alive);
        this.refusals = new Refusals(settings.clockwork());
    }

    @Override
    public void waits(RunRef run, StoreException trouble) {
        refusals.noticed(requestOf(run), trouble);
    }

    private static String requestOf(RunRef run) {
        return "A request of run '%s'".formatted(run.id());
    }

    @Override
    public String prefix(ObjectKey object) {
        return parts.prefix(object);
    }

    @Override
    public String prefix(String queueKey) {
        return parts.prefix(queueKey);
    }

    @Override
    public Journals.Page read(RunRef run, int afterPosition) {
        return settings.store().journals().read(run, afterPosition, PAGE_BYTES);
    }

    /** The first pages of several journals. */
    Map<RunRef, Journals.Page> readFirst(List<RunRef> runs) {
        return runs.isEmpty() ? Map.of() : settings.store().journals().readFirst(runs, PAGE_BYTES);
    }

    @Override
    public List<Mailboxes.Arrived> unread(RunRef run, long afterNumber) {
        return mailReads.ask(new Mailboxes.Unread(run, afterNumber));
    }

    /** Many schedules that are due at once read their mail at the same time. */
    private List<List<Mailboxes.Arrived>> mailboxes(List<Mailboxes.Unread> places) {
        if (places.size() == 1) {
            Mailboxes.Unread place = places.getFirst();
            return List.of(settings.store().mailboxes().unread(place.run(), place.after(), PAGE_BYTES));
        }
        int share = Math.max(SMALLEST_PAGE_BYTES, PAGE_BYTES / places.size());
        Map<Mailboxes.Unread, List<Mailboxes.Arrived>> found =
                settings.store().mailboxes().unread(places, share);
        return places.stream()
                .map(place -> found.getOrDefault(place, List.of()))
                .toList();
    }

    @Override
    public Optional<Payload> state(ObjectKey object, String name) {
        return settings.store().states().read(object, name);
    }

    @Override
    public SortedMap<String, Payload> state(ObjectKey object) {
        return stateReads.ask(object);
    }

    /** The states of objects, each for its caller to keep. */
    private List<SortedMap<String, Payload>> states(List<ObjectKey> objects) {
        Map<ObjectKey, SortedMap<String, Payload>> found =
                settings.store().states().readAll(objects.stream().distinct().toList());
        return objects.stream()
                .<SortedMap<String, Payload>>map(object -> new TreeMap<>(found.getOrDefault(object, new TreeMap<>())))
                .toList();
    }

    /** The payload store as runs use it. */
    PayloadStore payloads(PayloadStore direct) {
        return new PatientPayloads(direct, this);
    }

    /** The application's transform as runs use it. */
    PayloadTransform transform(PayloadTransform direct) {
        return new PatientTransform(direct, this);
    }

    @Override
    public boolean permit(Limiter limiter, Permits.Request request) {
        return untilReached(() -> requestOf(request.run()), () -> permits.take(limiter, request));
    }

    @Override
    public void permitFreed(String limiter) {
        permits.freed(limiter);
    }

    @Override
    public void report(Reports.Report report) {
        reports.add(report);
    }

    @Override
    public void log(PendingLines lines, Reports.Source source, Level level, String logger, String text) {
        reports.log(lines, source, level, logger, text);
    }

    @Override
    public void hurryReports() {
        reports.hurry();
    }

    @Override
    public void writeReport(Reports.Report report) {
        reports.write(List.of(report));
    }

    @Override
    public Optional<Reports.Reported> lastReport(RunRef run, int position) {
        return untilReached(
                () -> requestOf(run), () -> settings.store().reports().find(run, position));
    }

    /** What the attempts of this session report. */
    SessionReports reports() {
        return reports;
    }

    /** A run has left memory. */
    void left(RunRef run) {
        permits.left(run.key());
    }

    @Override
    public Outcome commit(Change.Advance transition) {
        return untilReached(() -> requestOf(transition.run()), () -> committer.commit(transition));
    }

    /** Commits changes of any runs. Those of other parts of the store need no lease. */
    private List<Outcome> commitAll(List<Change> changes) {
        return clients.byPart(
                changes, (of, some) -> of == part ? committer.commitAll(some) : clients.commitAll(of, some));
    }

    /** Commits a command to a run. */
    Outcome command(RunRef run, Change.Command command) {
        return untilReached(() -> requestOf(run), () -> committer.commit(command));
    }

    @Override
    public int emit(Emission emission) {
        return untilReached(
                () -> "An event",
                () -> MailChanges.reached(
                        commitAll(MailChanges.deliveries(settings.store().mailboxes(), emission))));
    }

    @Override
    public boolean answer(String token, Function<Address, Mail> mail) {
        return untilReached(
                () -> "The answer to an awakeable",
                () -> settings.store().mailboxes().awakeable(Tokens.hash(token)).stream()
                        .map(address -> MailChanges.answer(address, mail.apply(address)))
                        .anyMatch(delivery -> MailChanges.reached(commitAll(List.of(delivery))) > 0));
    }

    @Override
    public List<Runs.TaskRow> tasks(RunRef run) {
        return untilReached(() -> requestOf(run), () -> settings.store().runs().tasks(run));
    }

    @Override
    public NewRun settings(RunId run) {
        return untilReached(
                () -> "A request of a task of the DAG '%s'".formatted(run),
                () -> settings.store().runs().settings(run).orElseThrow());
    }

    @Override
    public void cancel(Collection<RunId> runs, String reason) {
        List<Change> cancels = runs.stream()
                .<Change>map(run -> new Change.Command(run, Change.CommandKind.CANCEL, reason))
                .toList();
        untilReached(() -> "The cancel of a DAG's tasks", () -> commitAll(cancels));
    }

    /**
     * Repeats a request until the store answers: a failure of the store is never a failure of a run. When the lease has
     * ended, the run leaves memory.
     *
     * @param what the request, at the beginning of a sentence
     */
    <T> T untilReached(Supplier<String> what, Supplier<T> request) {
        @Nullable Backoff backoff = null;
        while (true) {
            try {
                return request.get();
            } catch (StoreException trouble) {
                refusals.noticed(what.get(), trouble);
            }
            if (!alive.getAsBoolean()) {
                throw new Unwind("the worker has lost its lease");
            }
            backoff = backoff == null ? new Backoff(settings.clockwork()) : backoff;
            backoff.pause();
        }
    }
}

package dev.perdure.internal.handle;

import dev.perdure.HistoryEvent;
import dev.perdure.RunState;
import dev.perdure.audit.AuditEntry;
import dev.perdure.audit.AuditEntry.Action;
import dev.perdure.audit.AuditFilter;
import dev.perdure.internal.failure.FailedAttempt;
import dev.perdure.internal.payload.PayloadCodec;
import dev.perdure.internal.settings.Settings;
import dev.perdure.report.StepProgress;
import dev.perdure.spi.Codec;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Runs;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.payload.PayloadPlace;
import dev.perdure.spi.report.Reports;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/** Reads the history of a run from its journal, its changes of state and the answers of operators. */
final class HistoryReader {
    private static final int PAGE_BYTES = 1024 * 1024;
    private static final int PAGE_ENTRIES = 10_000;
    private static final int ANSWERS = 1_000;

    private final Store store;
    private final PayloadCodec codec;

    HistoryReader(Settings settings) {
        this.store = settings.store();
        this.codec = settings.rules().codec();
    }

    /** All events, oldest first. */
    List<HistoryEvent> read(RunRef run) {
        List<HistoryEvent> states = new ArrayList<>();
        store.runs().entered(run).forEach(entered -> states.add(event(entered)));
        List<HistoryEvent> events = new ArrayList<>();
        answers(run).forEach(answer -> events.add(event(answer)));
        Journals.TimePlace place = Journals.TimePlace.FIRST;
        Journals.TimedPage page;
        do {
            page = store.journals().readByTime(run, place, PAGE_ENTRIES, PAGE_BYTES);
            for (Journals.Timed timed : page.entries()) {
                Entry entry = timed.recorded().entry();
                place = new Journals.TimePlace(timed.recorded().at(), entry.position(), entry.note());
                events.addAll(events(run, timed.recorded(), timed.failedAttempts()));
            }
        } while (!page.last());
        events.addAll(openProgress(run));
        events.sort(Comparator.comparing(HistoryEvent::at));
        return merged(states, events);
    }

    /** The answers of operators, oldest first and by position. An earlier run may have had the same id. */
    List<AuditEntry> answers(RunRef run) {
        List<AuditEntry> answers = store
                .runs()
                .audited(AuditFilter.run(run.id().value()).limit(ANSWERS))
                .stream()
                .filter(entry -> entry.action() == Action.RESOLVE || entry.action() == Action.REJECT)
                .sorted(Comparator.comparing(AuditEntry::at).thenComparingInt(AuditEntry::position))
                .toList();
        if (answers.isEmpty()) {
            return answers; // most runs have none
        }
        Instant started = store.runs()
                .find(run.id())
                .map(found -> found.info().createdAt())
                .orElse(Instant.MAX);
        return answers.stream().filter(entry -> !entry.at().isBefore(started)).toList();
    }

    /** What a commit records sorts before the state that the run enters with that commit. */
    private static List<HistoryEvent> merged(List<HistoryEvent> states, List<HistoryEvent> events) {
        List<HistoryEvent> merged = new ArrayList<>();
        int next = 0;
        for (HistoryEvent state : states) {
            while (next < events.size() && isBefore(events.get(next), state)) {
                merged.add(events.get(next++));
            }
            merged.add(state);
        }
        merged.addAll(events.subList(next, events.size()));
        return merged;
    }

    /** Whether a run enters this state without recording anything, because its code runs afterwards. */
    private static boolean begins(RunState state) {
        return state == RunState.PENDING || state == RunState.READY || state == RunState.RUNNING;
    }

    /** Whether an event comes before a state. */
    static boolean isBefore(HistoryEvent event, HistoryEvent state) {
        int order = event.at().compareTo(state.at());
        return order < 0 || (order == 0 && !begins(RunState.valueOf(state.name())));
    }

    /** An entry, with the last progress of an attempt that failed before it. */
    List<HistoryEvent> events(RunRef run, Recorded recorded, int failedAttempts) {
        HistoryEvent event = event(run, recorded, failedAttempts);
        return Stream.concat(progress(run, recorded, event).stream(), Stream.of(event))
                .toList();
    }

    /** What steps that have not ended report. */
    List<HistoryEvent> openProgress(RunRef run) {
        return progress(run).stream()
                .filter(progress -> !progress.text().isEmpty())
                .map(HistoryReader::event)
                .sorted(Comparator.comparing(HistoryEvent::at))
                .toList();
    }

    static HistoryEvent event(Runs.Entered entered) {
        return new HistoryEvent(
                HistoryEvent.Kind.RUN,
                entered.state().name(),
                HistoryEvent.Status.ENTERED,
                0,
                0,
                entered.at(),
                Optional.empty(),
                entered.reason().isEmpty() ? Optional.empty() : Optional.of(entered.reason()));
    }

    static HistoryEvent event(AuditEntry answered) {
        return new HistoryEvent(
                HistoryEvent.Kind.ANSWER,
                answered.operator().name(),
                answered.action() == Action.RESOLVE ? HistoryEvent.Status.RESOLVED : HistoryEvent.Status.REJECTED,
                answered.position(),
                0,
                answered.at(),
                Optional.empty(),
                Optional.empty());
    }

    private Codec codecOf(RunRef run, Entry entry) {
        return codec.at(PayloadPlace.entry(run.id(), entry.position()));
    }

    private HistoryEvent event(RunRef run, Recorded recorded, int failedBefore) {
        Entry entry = recorded.entry();
        Optional<FailedAttempt> failed = FailedBodies.read(codecOf(run, entry), entry);
        return new HistoryEvent(
                HistoryEvent.Kind.valueOf(entry.kind().name()),
                entry.name(),
                HistoryEvent.Status.valueOf(entry.status().name()),
                entry.position(),
                FailedBodies.isBody(entry) ? failed.map(FailedAttempt::attempt).orElse(failedBefore + 1) : 0,
                recorded.at(),
                failed.flatMap(attempt -> nextAttemptAt(attempt, recorded.at())),
                reason(run, entry));
    }

    private Optional<String> reason(RunRef run, Entry entry) {
        if (entry.status() == Entry.Status.HEADERS) {
            return Optional.of(new String(entry.payload().bytes(), StandardCharsets.UTF_8));
        }
        return FailedBodies.isOne(entry)
                        && entry.payload().size() > 0 // Of a former life, only that it failed is known.
                ? Optional.of(FailedBodies.reason(codecOf(run, entry), entry))
                : Optional.empty();
    }

    /** What those of its steps reported last that have not ended. */
    List<StepProgress> progress(RunRef run) {
        return store.reports().open(run).stream().map(HistoryReader::progress).toList();
    }

    private static StepProgress progress(Reports.Reported reported) {
        Reports.Report report = reported.report();
        Reports.Source source = report.source();
        return new StepProgress(
                source.step(),
                source.position(),
                source.attempt(),
                Optional.ofNullable(report.fraction()),
                report.message(),
                reported.at());
    }

    /** The last progress of an attempt that failed, which is recorded with the failure. */
    private Optional<HistoryEvent> progress(RunRef run, Recorded recorded, HistoryEvent failed) {
        return FailedBodies.read(codecOf(run, recorded.entry()), recorded.entry())
                .flatMap(attempt -> Optional.ofNullable(attempt.reported()))
                .filter(reported -> reported.message() != null)
                .map(reported -> event(new StepProgress(
                        failed.name(),
                        failed.position(),
                        failed.attempt(),
                        Optional.ofNullable(reported.fraction()),
                        Objects.requireNonNull(reported.message()),
                        failed.at())));
    }

    private static HistoryEvent event(StepProgress progress) {
        return new HistoryEvent(
                HistoryEvent.Kind.STEP,
                progress.step(),
                HistoryEvent.Status.PROGRESS,
                progress.position(),
                progress.attempt(),
                progress.at(),
                Optional.empty(),
                Optional.of(progress.text()));
    }

    private static Optional<Instant> nextAttemptAt(FailedAttempt failed, Instant at) {
        return failed.delayMillis() > 0 ? Optional.of(at.plusMillis(failed.delayMillis())) : Optional.empty();
    }
}

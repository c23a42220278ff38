package dev.perdure.internal.check;

import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.error.StoreException;
import dev.perdure.internal.execution.host.Emission;
import dev.perdure.internal.execution.host.PendingLines;
import dev.perdure.internal.execution.host.StoreAccess;
import dev.perdure.internal.execution.host.Unwind;
import dev.perdure.queue.Limiter;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.Mailboxes.Address;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Permits;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Premise;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.report.Reports;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.event.Level;

/**
 * The store of a run that is replayed from its history. It has the tasks of the run and nothing else, and writes
 * nothing: the run leaves memory as if another worker held it.
 *
 * @param tasks the tasks of the run
 * @param stopped gets why the run cannot continue, if it would be paused
 */
record NoStore(List<Premise> tasks, Consumer<String> stopped) implements StoreAccess {
    @Override
    public Outcome commit(Change.Advance transition) {
        switch (transition.move()) {
            case Move.Pause pause -> stopped.accept(pause.reason());
            case Move.Recover recover -> stopped.accept("The replay failed: " + recover.reason());
            default -> {} // The run goes on from here.
        }
        return new Outcome.Fenced();
    }

    @Override
    public List<Runs.TaskRow> tasks(RunRef run) {
        return tasks.stream()
                .map(task -> new Runs.TaskRow(task.run(), info(task), List.of(), task.outcome(), List.of()))
                .toList();
    }

    @Override
    public NewRun settings(RunId run) {
        throw goesOn();
    }

    private static RunInfo info(Premise task) {
        Optional<String> reason = Optional.of(task.reason()).filter(text -> !text.isEmpty());
        return RunInfo.of(task.run().id(), task.state(), reason, Instant.EPOCH);
    }

    private static Unwind goesOn() {
        return new Unwind("the run goes on from here");
    }

    @Override
    public void waits(RunRef run, StoreException trouble) {}

    @Override
    public String prefix(ObjectKey object) {
        return "";
    }

    @Override
    public String prefix(String queueKey) {
        return "";
    }

    @Override
    public Journals.Page read(RunRef run, int afterPosition) {
        return Journals.Page.EMPTY;
    }

    @Override
    public List<Mailboxes.Arrived> unread(RunRef run, long afterNumber) {
        return List.of();
    }

    @Override
    public Optional<Payload> state(ObjectKey object, String name) {
        throw goesOn();
    }

    @Override
    public SortedMap<String, Payload> state(ObjectKey object) {
        throw goesOn();
    }

    @Override
    public boolean permit(Limiter limiter, Permits.Request request) {
        return false;
    }

    @Override
    public void permitFreed(String limiter) {}

    @Override
    public void report(Reports.Report report) {}

    @Override
    public void log(PendingLines lines, Reports.Source source, Level level, String logger, String text) {}

    @Override
    public void hurryReports() {}

    @Override
    public void writeReport(Reports.Report report) {}

    @Override
    public Optional<Reports.Reported> lastReport(RunRef run, int position) {
        return Optional.empty();
    }

    @Override
    public int emit(Emission emission) {
        throw goesOn();
    }

    @Override
    public boolean answer(String token, Function<Address, Mail> mail) {
        throw goesOn();
    }

    @Override
    public void cancel(Collection<RunId> runs, String reason) {
        throw goesOn();
    }
}

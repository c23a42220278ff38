package dev.perdure.memory;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.ForkPlan;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.change.RetryPlan;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Lets runs that have ended continue, repairs their journals, forks runs, and moves runs to another queue or version. */
final class MemoryRetries {
    private final Tables tables;
    private final MemoryLedger ledger;

    MemoryRetries(Tables tables, MemoryLedger ledger) {
        this.tables = tables;
        this.ledger = ledger;
    }

    Outcome retry(Change.Retry retry) {
        Row row = tables.byId.get(retry.run());
        if (row == null) {
            return new Outcome.UnknownRun();
        }
        if (!row.state.isTerminal() || !row.changedAt.equals(retry.ended())) {
            return new Outcome.AlreadyThere(row.changedAt, row.state);
        }
        if (row.stripped) {
            return Outcome.Refused.removed(retry.run());
        }
        RetryPlan plan = RetryPlan.of(row.journal.values(), row.changedAt);
        String refusal = refusal(row, plan);
        if (refusal != null) {
            return new Outcome.Refused(refusal);
        }
        ledger.keys.takeBack(row);
        tables.post.untell(row);
        remove(row, plan.removed());
        Instant ended = row.changedAt;
        row.journal.replaceAll(
                (place, recorded) -> recorded.at().isAfter(ended) ? new Recorded(recorded.entry(), ended) : recorded);
        row.outcome = null;
        row.fence();
        row.recoveries = 0;
        row.entriesAtRecovery = 0;
        row.control = new Control(0, row.control.mails(), null, null, null);
        row.begins = tables.now();
        tables.change(row, RunState.READY, null);
        answerMissed(row);
        retry.sends().forEach(send -> tables.exchange.send(row, send));
        tables.audits.add(retry.audit());
        return new Outcome.Applied(tables.now(), row.state);
    }

    Outcome rerun(Change.Rerun rerun) {
        Row row = tables.byId.get(rerun.run());
        return row == null ? new Outcome.UnknownRun() : tables.dags.rerun(rerun, row, told(row), ledger.keys);
    }

    Outcome retell(Change.Retell retell) {
        Row row = tables.byId.get(retell.run());
        if (row == null) {
            return new Outcome.UnknownRun();
        }
        if (row.state.isTerminal()
                && retell.caller().equals(tables.exchange.links().elsewhere(row))) {
            tables.exchange.endedAgain(row);
        }
        return new Outcome.Applied(tables.now(), row.state);
    }

    /** The run that has got the outcome, or is about to. */
    private @Nullable RunId told(Row row) {
        Parent parent = row.start.parent();
        if (parent == null || !parent.answers() || parent.isReport()) {
            return null;
        }
        Row caller = tables.byKey.get(parent.run().key());
        if (caller == null) {
            return null;
        }
        boolean told = !caller.state.isTerminal()
                || caller.journal.containsKey(new Row.Place(parent.position(), Entry.ANSWER));
        return told ? caller.ref.id() : null;
    }

    /** Children that ended while the run had ended could not answer it. */
    private void answerMissed(Row row) {
        List<Row> children = tables.byKey.values().stream()
                .filter(child -> child.state.isTerminal()
                        && child.start.parent() != null
                        && child.start.parent().run().equals(row.ref)
                        && child.start.parent().answers()
                        && !child.start.parent().isReport())
                .toList();
        for (Row child : children) {
            int position = Objects.requireNonNull(child.start.parent()).position();
            if (!row.journal.containsKey(new Row.Place(position, Entry.ANSWER))) {
                tables.post.answer(child, row, position);
            }
        }
    }

    /** Why the run cannot be retried, or null. */
    private @Nullable String refusal(Row row, RetryPlan plan) {
        RunId told = told(row);
        String refusal = Change.Retry.refusal(
                row.ref.id(),
                row.state,
                !row.tasks.isEmpty(),
                row.isTask(),
                row.start.object() != null,
                told == null ? null : told.value());
        if (refusal == null) {
            refusal = plan.refusal();
        }
        Row rival = ledger.keys.rival(row);
        if (refusal == null && rival != null) {
            refusal = Change.Retry.keyTaken(
                    row.ref.id(),
                    Objects.requireNonNull(row.startKey),
                    rival.ref.id().value());
        }
        return refusal;
    }

    private static void remove(Row row, List<RetryPlan.Place> places) {
        places.forEach(place -> row.journal.remove(new Row.Place(place.position(), place.note())));
    }

    Outcome repair(Change.Repair repair) {
        Row row = tables.byId.get(repair.run());
        if (row == null) {
            return new Outcome.UnknownRun();
        }
        if (tables.audits.has(repair.audit())) {
            return new Outcome.AlreadyThere(row.changedAt, row.state);
        }
        if (row.stripped) {
            return Outcome.Refused.removed(repair.run());
        }
        String refusal = Change.Repair.refusal(repair.run(), row.state);
        List<RetryPlan.Place> removed = List.of();
        if (refusal == null && row.state.isTerminal()) {
            RetryPlan plan = RetryPlan.of(row.journal.values(), row.changedAt);
            refusal = refusal(row, plan);
            removed = plan.removedBeside(repair.position());
        }
        if (refusal != null) {
            return new Outcome.Refused(refusal);
        }
        Entry answer = repair.answer(row.journal.values());
        if (answer == null) {
            return new Outcome.Refused(repair.noStep());
        }
        Instant at = repair.time(row.journal.values(), row.state, row.changedAt, tables.now());
        remove(row, removed);
        row.journal.put(Row.Place.of(answer), new Recorded(answer, at));
        tables.audits.add(repair.audit());
        return new Outcome.Applied(tables.now(), row.state);
    }

    Outcome reassign(Change.Reassign reassign) {
        Row row = tables.byId.get(reassign.run());
        if (row == null || !row.createdAt.equals(reassign.seen().createdAt())) {
            return new Outcome.UnknownRun();
        }
        String queue = Objects.requireNonNullElse(reassign.queue(), row.start.queue());
        String version = reassign.version() == null ? row.start.version() : reassign.version();
        boolean there = queue.equals(row.start.queue()) && Objects.equals(version, row.start.version());
        if (there || tables.audits.has(reassign.audit())) {
            return new Outcome.AlreadyThere(row.changedAt, row.state);
        }
        boolean ofDag = row.isTask() || !row.tasks.isEmpty();
        String refusal = reassign.refusal(row.state, row.epoch > 0, ofDag, row.start.object() != null);
        if (refusal != null) {
            return new Outcome.Refused(refusal);
        }
        boolean waits = tables.ready.remove(row);
        row.placed &= reassign.queue() == null;
        row.start = row.start.in(queue, version);
        if (waits) {
            row.readySince = tables.nextNumber();
            tables.ready.add(row);
            tables.hint(new Hints.WorkReady());
        }
        tables.audits.add(reassign.audit());
        return new Outcome.Applied(tables.now(), row.state);
    }

    Outcome fork(Change.Fork fork) {
        Row source = tables.byId.get(fork.from());
        if (source == null) {
            return new Outcome.UnknownRun();
        }
        if (source.stripped) {
            return Outcome.Refused.removed(fork.from());
        }
        String refusal = Change.Fork.refusal(
                fork.from(),
                source.description,
                !source.tasks.isEmpty(),
                source.isTask(),
                source.start.object() != null);
        ForkPlan plan = ForkPlan.of(source.journal.values(), fork.position(), fork.compensated());
        if (refusal == null) {
            refusal = plan.refusal();
        }
        if (refusal != null) {
            return new Outcome.Refused(refusal);
        }
        NewRun other = source.start.describedAs(source.description);
        if (fork.isOutdated(plan, other)) {
            return new Outcome.Outdated();
        }
        NewRun run = fork.of(other);
        boolean again = tables.byId.containsKey(run.id());
        Change.Start start = new Change.Start(run, null);
        Outcome outcome = again ? ledger.start(start) : ledger.begin(start); // whether its key is full or not
        if (outcome instanceof Outcome.Started && !again) {
            Row forked = Objects.requireNonNull(tables.byId.get(run.id()));
            if (!plan.copied().isEmpty()) { // Under the first epoch a run has no journal.
                forked.epoch = Math.max(forked.epoch, Outcome.Started.FIRST_EPOCH);
            }
            for (RetryPlan.Place place : plan.places()) {
                Row.Place same = new Row.Place(place.position(), place.note());
                Recorded recorded = Objects.requireNonNull(source.journal.get(same));
                Instant latest = forked.createdAt.minus(1, ChronoUnit.MICROS);
                forked.journal.putIfAbsent(
                        same, new Recorded(recorded.entry(), recorded.at().isAfter(latest) ? latest : recorded.at()));
            }
            for (Entry entry : fork.entries()) {
                Row.Place place = new Row.Place(entry.position(), entry.note());
                forked.journal.computeIfPresent(place, (same, recorded) -> new Recorded(entry, recorded.at()));
            }
            tables.audits.add(fork.audit());
        }
        return outcome;
    }
}

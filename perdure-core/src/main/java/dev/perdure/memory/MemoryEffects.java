package dev.perdure.memory;

import dev.perdure.RunId;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Mailboxes.Address;
import dev.perdure.spi.Mailboxes.Published;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Removals;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.EndReport;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Payload;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Applies the effects of transitions outside their own run. */
final class MemoryEffects {
    private final Tables tables;
    private final MemoryLedger ledger;

    MemoryEffects(Tables tables, MemoryLedger ledger) {
        this.tables = tables;
        this.ledger = ledger;
    }

    void carryOut(Row row, List<Effect> effects) {
        effects.forEach(effect -> carryOut(row, effect));
    }

    private void carryOut(Row row, Effect effect) {
        switch (effect) {
            case Effect.Start start -> start(row, start);
            case Effect.Deliver deliver -> tables.post.deliver(new Change.Deliver(deliver.to(), deliver.mail()));
            case Effect.Cancel cancel -> cancel(cancel);
            case Effect.Take take -> row.mailbox.take(take.number());
            case Effect.Publish publish -> publish(row, publish);
            case Effect.Awakeable awakeable ->
                tables.post.awakeable(awakeable.hash(), new Address(row.ref.id(), awakeable.position(), row.restarts));
            case Effect.Subscribe subscribe ->
                tables.post.subscribe(
                        subscribe.event(),
                        subscribe.key(),
                        new Address(row.ref.id(), subscribe.position(), row.restarts));
            case Effect.SetState set -> tables.objects.write(row, set);
            case Effect.ClearState clear -> tables.objects.clear(row, clear);
            case Effect.ClearAllState() -> tables.objects.clearAll(row);
            case Effect.SetAttribute set -> row.description = set.in(row.description);
            case Effect.Send send -> tables.exchange.send(row, send);
            case Effect.SetStatus set -> row.description = row.description.withStatus(set.text());
        }
    }

    /** The first task of these effects whose id another run has, or null. */
    @Nullable
    RunId taken(List<Effect> effects) {
        if (effects.isEmpty()) {
            return null;
        }
        return effects.stream()
                .filter(effect -> effect instanceof Effect.Start start
                        && !tables.byId.containsKey(start.run().id()))
                .map(effect -> tables.dags.taken(((Effect.Start) effect).tasks()))
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    private void start(Row parent, Effect.Start start) {
        NewRun run = start.run();
        Parent link = run.parent();
        if (ledger.start(new Change.Start(run, null, start.mails(), start.tasks())) instanceof Outcome.Existing
                && link != null
                && link.answers()) {
            tables.post.deliver(parent, link.isReport() ? EndReport.taken(run.id(), run.seed()) : taken(run, link));
        }
    }

    private static Mail taken(NewRun run, Parent link) {
        String text = "The run id '%s' is taken.".formatted(run.id());
        return Mail.failure(
                Channel.answer(link.position()), new UUID(run.seed(), link.position()), text, Payload.EMPTY);
    }

    private void cancel(Effect.Cancel cancel) {
        Row row = tables.byId.get(cancel.run());
        if (row != null && !row.state.isTerminal()) {
            ledger.cancel(row, cancel.reason());
        }
    }

    private void publish(Row row, Effect.Publish publish) {
        long offset = (long) row.restarts << Integer.SIZE | publish.position();
        boolean there = row.published.stream()
                .anyMatch(output ->
                        output.name().equals(publish.name()) && output.value().offset() == offset);
        if (!there) {
            row.published.add(new Row.Output(publish.name(), new Published(offset, tables.now(), publish.payload())));
            tables.hint(new Hints.RunShows(row.ref.id()));
        }
    }

    /** Begins a run anew: no call of its former life waits for an answer any more. */
    void restart(Row row, Move.Restart restart) {
        row.mailbox.dropAnswers();
        row.mailbox.forgetTokens(tables.now().minus(Removals.COPIES));
        int gone = row.entered.size() - Removals.CHANGES_KEPT;
        if (gone > 1) {
            row.entered.subList(1, gone).clear(); // the first one stays
            row.forgottenStates += gone - 1;
        }
        tables.renew(row);
        NewRun old = row.start;
        row.start = new NewRun(
                old.id(),
                restart.definition() == null ? old.definition() : restart.definition(),
                restart.input(),
                restart.seed(),
                old.queue(),
                old.priority(),
                restart.unpinned() ? null : old.version(),
                old.timeout(),
                null,
                old.parent(),
                old.object(),
                old.description(),
                old.queueKey(),
                old.admission());
    }
}

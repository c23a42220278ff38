package dev.perdure.testing.internal.simulation;

import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Dispatch.Polled;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Move;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Describes requests to the store and its answers. */
final class Wording {
    private Wording() {}

    static String of(List<Change> changes) {
        return changes.stream().map(Wording::of).collect(Collectors.joining("; "));
    }

    private static String of(Change change) {
        return switch (change) {
            case Change.Start start ->
                "start '%s' (%s)%s%s"
                        .formatted(
                                start.run().id(),
                                start.run().definition(),
                                start.tasks().isEmpty()
                                        ? ""
                                        : " with " + start.tasks().size() + " tasks",
                                start.owner() == null ? "" : ", to run here");
            case Change.Advance advance -> "'%s' %s".formatted(advance.run().id(), of(advance));
            case Change.CompletedCall call ->
                "call '%s', begun and %s".formatted(call.run().id(), of(call.end()));
            case Change.Deliver deliver -> "deliver %s to '%s'".formatted(of(deliver.mail()), deliver.to());
            case Change.Command command ->
                "%s '%s'".formatted(command.kind().name().toLowerCase(Locale.ROOT), command.run());
            case Change.Rerun rerun -> "rerun '%s'".formatted(rerun.run());
            case Change.Retry retry -> "retry '%s'".formatted(retry.run());
            case Change.Retell retell -> "let '%s' tell its outcome again".formatted(retell.run());
            case Change.Reassign reassign -> "move '%s'".formatted(reassign.run());
            case Change.Repair repair -> "repair '%s' at %s".formatted(repair.run(), repair.position());
            case Change.Fork fork -> "fork '%s' as '%s'".formatted(fork.from(), fork.id());
        };
    }

    private static String of(Change.Advance advance) {
        List<String> parts = new ArrayList<>();
        advance.entries().forEach(entry -> parts.add(of(entry)));
        advance.effects().forEach(effect -> parts.add(of(effect)));
        if (!(advance.move() instanceof Move.Stay)) {
            parts.add(of(advance.move()));
        }
        return String.join(", ", parts) + " (epoch " + advance.epoch() + ")";
    }

    private static String of(Entry entry) {
        return "%s %s%s %s"
                .formatted(
                        entry.position(),
                        entry.kind().name().toLowerCase(Locale.ROOT),
                        entry.name().isEmpty() ? "" : " '" + entry.name() + "'",
                        entry.status().name().toLowerCase(Locale.ROOT));
    }

    private static String of(Effect effect) {
        return switch (effect) {
            case Effect.Start start -> "start '%s'".formatted(start.run().id());
            case Effect.Deliver deliver -> "send %s to '%s'".formatted(of(deliver.mail()), deliver.to());
            case Effect.Cancel cancel -> "cancel '%s'".formatted(cancel.run());
            case Effect.Take take -> "take mail " + take.number();
            case Effect.Publish publish -> "publish '%s'".formatted(publish.name());
            case Effect.Awakeable awakeable -> "hand out a token for " + awakeable.position();
            case Effect.Subscribe subscribe -> "subscribe to '%s'".formatted(subscribe.event());
            case Effect.SetState set -> "set '%s'".formatted(set.name());
            case Effect.ClearState clear -> "clear '%s'".formatted(clear.name());
            case Effect.ClearAllState() -> "clear all";
            case Effect.SetAttribute set -> "set the attribute '%s'".formatted(set.name());
            case Effect.SetStatus set -> "set the status";
            case Effect.Send send -> "send to another shard";
        };
    }

    private static String of(Mail mail) {
        return switch (mail.channel().kind()) {
            case MESSAGE -> "message '%s'".formatted(mail.channel().name());
            case PROMISE -> "promise '%s'".formatted(mail.channel().name());
            case ANSWER -> "the answer to " + mail.channel().position();
        };
    }

    private static String of(Move move) {
        return switch (move) {
            case Move.Stay() -> "stays";
            case Move.Wait wait -> "waits " + wait.state();
            case Move.Yield() -> "is given back";
            case Move.Restart restart -> "continues as new";
            case Move.Recover recover -> "recovers";
            case Move.Pause pause -> "pauses";
            case Move.Arrive() -> "arrives";
            case Move.End end -> "ends " + end.state() + (end.reason().isEmpty() ? "" : ": " + end.reason());
        };
    }

    static String ofOutcomes(List<Outcome> outcomes) {
        return outcomes.stream().map(Wording::of).collect(Collectors.joining("; "));
    }

    private static String of(Outcome outcome) {
        return switch (outcome) {
            case Outcome.Started started -> started.owned() ? "started here" : "started";
            case Outcome.Existing existing -> "exists";
            case Outcome.KeyTaken taken -> "key taken by " + taken.run().id();
            case Outcome.KeyFull full -> "key full: " + full.key().sentence();
            case Outcome.Applied applied ->
                "applied, " + applied.state()
                        + (applied.handed().isEmpty() ? "" : ", hands over " + names(applied.handed()));
            case Outcome.Commanded commanded -> "now " + commanded.state();
            case Outcome.AlreadyThere there -> "already there, " + there.state();
            case Outcome.Woken woken -> "woken";
            case Outcome.Fenced() -> "fenced";
            case Outcome.Moving() -> "moving";
            case Outcome.Outdated() -> "outdated";
            case Outcome.UnknownRun() -> "unknown run";
            case Outcome.Undelivered undelivered -> "undelivered, " + undelivered.why();
            case Outcome.Refused refused -> "refused: " + refused.reason();
        };
    }

    static String of(Polled polled) {
        List<String> parts = new ArrayList<>();
        if (!polled.claimed().isEmpty()) {
            parts.add("claims " + names(polled.claimed()));
        }
        if (!polled.signalled().isEmpty()) {
            parts.add("is told of "
                    + polled.signalled().stream()
                            .map(signalled -> "'" + signalled.run().id() + "'")
                            .collect(Collectors.joining(", ")));
        }
        return String.join(" and ", parts);
    }

    private static String names(List<Claimed> claimed) {
        return claimed.stream()
                .map(claim -> "'%s' (epoch %s)".formatted(claim.run().id(), claim.epoch()))
                .collect(Collectors.joining(", "));
    }

    static String of(Hints.Hint hint) {
        return switch (hint) {
            case Hints.WorkReady() -> "work is ready";
            case Hints.WorkerSignalled signalled -> "a run of the worker is signalled";
            case Hints.MailArrived mail -> "mail arrived for run " + mail.run();
            case Hints.RunEnded ended -> "'" + ended.run() + "' ended";
            case Hints.RunShows shows -> "'" + shows.run() + "' shows something";
            case Hints.LeaseInDoubt() -> "a lease is in doubt";
            case Hints.OutgoingKept() -> "something is on its way to another shard";
            case Hints.CallsWait() -> "calls of virtual objects wait";
            case Hints.PartitionsMoved() -> "partitions have moved";
        };
    }
}

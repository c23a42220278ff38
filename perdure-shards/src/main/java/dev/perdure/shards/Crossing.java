package dev.perdure.shards;

import dev.perdure.RunId;
import dev.perdure.shards.content.SentChange;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadReference;
import dev.perdure.spi.shard.Partitions;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Turns what a transition does to runs of other shards into what its own shard keeps for them. */
final class Crossing {
    private final Shards shards;

    Crossing(Shards shards) {
        this.shards = shards;
    }

    /** The same transition, with everything for other shards as {@link Effect.Send}. */
    Change.Advance of(Change.Advance advance) {
        int shard = shards.of(advance.run());
        if (advance.effects().stream().noneMatch(effect -> crosses(shard, effect))) {
            return advance;
        }
        List<Effect> effects = advance.effects().stream()
                .map(effect -> crosses(shard, effect) ? sent(advance, effect) : effect)
                .toList();
        return new Change.Advance(advance.run(), advance.epoch(), advance.entries(), effects, advance.move());
    }

    boolean crosses(int shard, Effect effect) {
        RunId other = addressee(effect);
        return other != null && !shards.has(shard, other);
    }

    /** The run that an effect is for, or null if it concerns only its sender. */
    static @Nullable RunId addressee(Effect effect) {
        return switch (effect) {
            case Effect.Start start -> start.run().id();
            case Effect.Deliver deliver -> deliver.to();
            case Effect.Cancel cancel -> cancel.run();
            default -> null;
        };
    }

    private static Effect.Send sent(Change.Advance sender, Effect effect) {
        return switch (effect) {
            case Effect.Start start -> {
                NewRun run = start.run();
                UUID token = token(run.id() + "\n" + run.seed());
                yield send(token, run.id(), SentChange.start(run, start.tasks(), start.mails()), run.input());
            }
            case Effect.Deliver deliver -> {
                Mail mail = deliver.mail();
                UUID token = token(deliver.to() + "\n" + mail.token());
                yield send(token, deliver.to(), SentChange.deliver(deliver.to(), mail), mail.payload());
            }
            case Effect.Cancel cancel -> {
                UUID token = token(sender.run().key() + "\n" + cancel.run() + "\n" + cancel.reason());
                yield send(token, cancel.run(), SentChange.cancel(cancel.run(), cancel.reason()), Payload.EMPTY);
            }
            default -> throw new IllegalArgumentException("It does not leave its run: " + effect);
        };
    }

    /** Lets a run of another shard tell its outcome again to a run that ended at this time and is retried. */
    static Effect.Send retell(RunId child, Parent caller, Instant ended) {
        UUID token = token(child + "\n" + caller.run().key() + "\n" + caller.position() + "\n" + ended);
        return send(token, child, SentChange.retell(child, caller), Payload.EMPTY);
    }

    private static Effect.Send send(UUID token, RunId to, Payload change, Payload value) {
        return new Effect.Send(token, Partitions.of(to), change, value);
    }

    private static UUID token(String text) {
        return UUID.nameUUIDFromBytes(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Why a start does not cross, or null. */
    @Nullable
    String refusal(RunId sender, Effect.Start start) {
        NewRun run = start.run();
        if (run.admission().startKey() != null) {
            return "The run '%s' on shard '%s' starts the run '%s' on shard '%s' under a key. That is not supported yet between shards. Start it without the key."
                    .formatted(sender, name(sender), run.id(), name(run.id()));
        }
        boolean large = start.mails().stream().anyMatch(mail -> PayloadReference.is(mail.payload()))
                || start.tasks().stream()
                        .anyMatch(task -> PayloadReference.is(task.run().input()));
        return large
                ? "The run '%s' on shard '%s' starts the run '%s' on shard '%s' with a large message. That is not supported yet between shards. Send the message afterwards."
                        .formatted(sender, name(sender), run.id(), name(run.id()))
                : null;
    }

    private String name(RunId run) {
        return shards.name(shards.of(run));
    }
}

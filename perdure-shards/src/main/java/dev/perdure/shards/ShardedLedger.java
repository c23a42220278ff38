package dev.perdure.shards;

import dev.perdure.RunId;
import dev.perdure.StartKey;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Task;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Sends each change to the shard that has its run. Refuses a change that would need more than one shard. */
final class ShardedLedger implements Ledger {
    private final Shards shards;

    ShardedLedger(Shards shards) {
        this.shards = shards;
    }

    /**
     * Applies a batch, the changes of each shard in one transaction. Engines send batches of one shard. If a shard does
     * not answer, the changes of the others are applied all the same, and the whole batch is sent again: changes are
     * idempotent.
     */
    @Override
    public List<Outcome> apply(Lane lane, List<Change> changes) {
        @Nullable Outcome[] outcomes = new Outcome[changes.size()];
        Map<Integer, List<Integer>> places = new LinkedHashMap<>();
        for (int i = 0; i < changes.size(); i++) {
            String refusal = refusal(changes.get(i));
            if (refusal == null) {
                places.computeIfAbsent(shards.of(changes.get(i).about()), unseen -> new ArrayList<>())
                        .add(i);
            } else {
                outcomes[i] = new Outcome.Refused(refusal);
            }
        }
        @Nullable RuntimeException trouble = null;
        for (Map.Entry<Integer, List<Integer>> ofShard : places.entrySet()) {
            try {
                apply(lane, changes, ofShard, outcomes);
            } catch (RuntimeException thrown) {
                trouble = shards.trouble(ofShard.getKey(), thrown);
            }
        }
        if (trouble != null) {
            throw trouble;
        }
        return Arrays.stream(outcomes).map(Objects::requireNonNull).toList();
    }

    private void apply(
            Lane lane, List<Change> changes, Map.Entry<Integer, List<Integer>> ofShard, @Nullable Outcome[] outcomes) {
        List<Integer> places = ofShard.getValue();
        List<Outcome> some = shards.store(ofShard.getKey())
                .ledger()
                .apply(lane, places.stream().map(changes::get).toList());
        for (int i = 0; i < places.size(); i++) {
            outcomes[places.get(i)] = some.get(i);
        }
    }

    // ---- what has to be on one shard

    private @Nullable String refusal(Change change) {
        return switch (change) {
            case Change.Start start -> refusal(start.run(), start.tasks());
            case Change.CompletedCall completed -> refusal(completed.run(), List.of());
            case Change.Fork fork ->
                shards.of(fork.from()) == shards.of(fork.id())
                        ? null
                        : "The run '%s' is on shard '%s', and the id '%s' belongs to shard '%s'. A fork is on the shard of its original. Fork it under an id that begins with '%s/'."
                                .formatted(
                                        fork.from(),
                                        nameOf(fork.from()),
                                        fork.id(),
                                        nameOf(fork.id()),
                                        rootOf(fork.from()));
            case Change.Advance advance -> refusal(advance);
            case Change.Deliver deliver -> null;
            case Change.Command command -> null;
            case Change.Rerun rerun -> null;
            case Change.Retry retry -> null;
            case Change.Repair repair -> null;
            case Change.Reassign reassign -> null;
        };
    }

    private @Nullable String refusal(NewRun run, List<Task> tasks) {
        int shard = shards.of(run.id());
        if (run.object() != null && shards.of(run.object().object()) != shard) {
            return "The id '%s' belongs to shard '%s', but the object '%s' with the key '%s' is on shard '%s', where its calls are. Leave the id to Perdure, or begin it with '%s'."
                    .formatted(
                            run.id(),
                            shards.name(shard),
                            run.object().object().type(),
                            run.object().object().key(),
                            shards.name(shards.of(run.object().object())),
                            shards.prefix(run.object().object()));
        }
        StartKey key = run.admission().startKey();
        if (key != null && shards.of(run.definition(), key) != shard) {
            return "The id '%s' belongs to shard '%s', but shard '%s' decides about the key '%s'. Leave the id to Perdure, or begin it with '%s'."
                    .formatted(
                            run.id(),
                            shards.name(shard),
                            shards.name(shards.of(run.definition(), key)),
                            key.key(),
                            shards.prefix(run.definition(), key));
        }
        return tasks.stream()
                .filter(task -> shards.of(task.run().id()) != shard)
                .map(task -> "The task '%s' belongs to another shard than the run '%s'. Begin its id with '%s/'."
                        .formatted(task.run().id(), run.id(), rootOf(run.id())))
                .findFirst()
                .orElse(null);
    }

    private @Nullable String refusal(Change.Advance advance) {
        int shard = shards.of(advance.run());
        return advance.effects().stream()
                .map(effect -> refusal(advance.run().id(), shard, effect))
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    private @Nullable String refusal(RunId sender, int shard, Effect effect) {
        return switch (effect) {
            case Effect.Start start ->
                shards.of(start.run().id()) == shard
                        ? refusal(start.run(), start.tasks())
                        : crosses(sender, "starts", start.run().id());
            case Effect.Deliver deliver ->
                shards.of(deliver.to()) == shard ? null : crosses(sender, "sends something to", deliver.to());
            case Effect.Cancel cancel ->
                shards.of(cancel.run()) == shard ? null : crosses(sender, "cancels", cancel.run());
            default -> null;
        };
    }

    private String crosses(RunId sender, String does, RunId other) {
        return "The run '%s' on shard '%s' %s the run '%s' on shard '%s'. That is not supported yet. Let their ids begin with the same text and a '/', so that they are on one shard."
                .formatted(sender, nameOf(sender), does, other, nameOf(other));
    }

    private String nameOf(RunId run) {
        return shards.name(shards.of(run));
    }

    private static String rootOf(RunId run) {
        int slash = run.value().indexOf('/');
        return slash < 0 ? run.value() : run.value().substring(0, slash);
    }
}

package dev.perdure.shards;

import dev.perdure.RunId;
import dev.perdure.StartKey;
import dev.perdure.error.StoreException;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Task;
import dev.perdure.spi.shard.KeyHomes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Sends each change to the shard that has its run. What a transition does to runs of other shards, its own shard keeps for
 * them in the same transaction.
 */
final class ShardedLedger implements Ledger {
    private final Shards shards;
    private final Crossing crossing;
    private final Retries retries;
    private final Forwarding forwarding;
    private final MovedPartitions moves;

    ShardedLedger(Shards shards, Forwarding forwarding) {
        this.shards = shards;
        this.crossing = new Crossing(shards);
        this.retries = new Retries(shards);
        this.forwarding = forwarding;
        this.moves = new MovedPartitions(shards);
    }

    /**
     * Applies a batch, the changes of each shard in one transaction. Engines send batches of one shard. If a shard does
     * not answer, the changes of the others are applied all the same, and the whole batch is sent again: changes are
     * idempotent.
     */
    @Override
    public List<Outcome> apply(Lane lane, List<Change> changes) {
        int version = shards.version();
        @Nullable Outcome[] outcomes = new Outcome[changes.size()];
        Map<Integer, List<Integer>> places = new LinkedHashMap<>();
        @Nullable RuntimeException waiting = null;
        for (int i = 0; i < changes.size(); i++) {
            try {
                String refusal = refusal(changes.get(i));
                if (refusal == null) {
                    places.computeIfAbsent(shards.of(changes.get(i).about()), unseen -> new ArrayList<>())
                            .add(i);
                } else {
                    outcomes[i] = new Outcome.Refused(refusal);
                }
            } catch (StoreException trouble) {
                if (trouble.kind() != StoreException.Kind.MOVING) {
                    waiting = trouble;
                } // Otherwise the run is on a shard that this process does not have.
                outcomes[i] = MovedPartitions.withheld(
                        lane, changes.get(i), !shards.isHere(changes.get(i).about()));
            }
        }
        for (Map.Entry<Integer, List<Integer>> ofShard : places.entrySet()) {
            try {
                apply(lane, changes, version, ofShard, outcomes);
            } catch (RuntimeException thrown) {
                waiting = shards.trouble(ofShard.getKey(), thrown);
            }
        }
        if (waiting != null) {
            throw waiting;
        }
        return Arrays.stream(outcomes).map(Objects::requireNonNull).toList();
    }

    private void apply(
            Lane lane,
            List<Change> changes,
            int version,
            Map.Entry<Integer, List<Integer>> ofShard,
            @Nullable Outcome[] outcomes) {
        List<Integer> places = ofShard.getValue();
        List<Change> own = places.stream().map(changes::get).map(this::crossed).toList();
        List<Outcome> some = moves.apply(ofShard.getKey(), lane, own, version);
        for (int i = 0; i < places.size(); i++) {
            outcomes[places.get(i)] = some.get(i);
        }
        forwarding.applied();
    }

    private Change crossed(Change change) {
        return switch (change) {
            case Change.Advance advance -> crossing.of(advance);
            case Change.Retry retry -> retries.asking(retry);
            default -> change;
        };
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
            case Change.Rerun rerun -> rerun.tasks().isEmpty() ? retries.taken(rerun.run()) : null;
            case Change.Retry retry -> retries.refusal(retry.run());
            case Change.Retell retell -> null;
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
        String keyElsewhere = ofQueueKey(run, shard);
        if (keyElsewhere != null) {
            return keyElsewhere;
        }
        return tasks.stream()
                .filter(task -> shards.of(task.run().id()) != shard)
                .map(task -> "The task '%s' belongs to another shard than the run '%s'. Begin its id with '%s/'."
                        .formatted(task.run().id(), run.id(), rootOf(run.id())))
                .findFirst()
                .orElse(null);
    }

    /** By the limits as this process knows them. If it learns of one too late, the run is started and does not begin. */
    private @Nullable String ofQueueKey(NewRun run, int shard) {
        String key = run.queueKey();
        if (key == null || !KeyHomes.leadsElsewhere(shards.store(shard).queues().known(run.queue()), run.id(), key)) {
            return null;
        }
        String remedy = run.object() != null
                ? "Start the call of the object without the key"
                : "Leave the id to Perdure%s, or begin it with '%s'"
                        .formatted(
                                run.admission().startKey() == null ? "" : " and start it under no other key",
                                key.contains("/") ? shards.prefix(key) : key + "/");
        return "The queue '%s' limits keys, and the id '%s' leads to another partition than that of the key '%s', which counts its runs. %s."
                .formatted(run.queue(), run.id(), key, remedy);
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
        if (!(effect instanceof Effect.Start start)) {
            return null;
        }
        String crosses = crossing.crosses(shard, start) ? crossing.refusal(sender, start) : null;
        return crosses == null ? refusal(start.run(), start.tasks()) : crosses;
    }

    private String nameOf(RunId run) {
        return shards.name(shards.of(run));
    }

    private static String rootOf(RunId run) {
        int slash = run.value().indexOf('/');
        return slash < 0 ? run.value() : run.value().substring(0, slash);
    }
}

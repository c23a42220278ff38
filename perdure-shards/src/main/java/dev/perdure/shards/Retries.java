package dev.perdure.shards;

import dev.perdure.RunId;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.change.RunRef;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Decides which runs that have ended may be retried, and what a retry sends to other shards.
 *
 * <p>How it works. Outcomes that came after the end of a run were not kept. So the transaction that lets the run continue also
 * keeps a request for each child of which the journal has no result, as everything that crosses is kept. If
 * the child has ended, it sends its outcome again under the token of the first time; otherwise it sends it when it ends. So no
 * outcome is lost, whatever stops in between, and a copy, however late, changes nothing.
 *
 * <p>The outcome of a run with a caller on another shard is on its way, or has arrived. So such a run is retried only if that
 * caller is gone or has begun anew: then it does not take the outcome any more.
 */
final class Retries {
    private static final int PAGE_BYTES = 1 << 20;

    private final Shards shards;

    Retries(Shards shards) {
        this.shards = shards;
    }

    /** Why a run cannot be retried, or null. */
    @Nullable
    String refusal(RunId run) {
        if (!shards.haveBeenSeveral()) {
            return null;
        }
        String taken = taken(run);
        if (taken != null) {
            return taken;
        }
        return found(run).stream()
                .flatMap(ref -> elsewhere(ref).values().stream())
                .filter(child -> shards.having(child).runs().find(child).isEmpty())
                .findFirst()
                .map(child ->
                        "The run '%s' called the run '%s' of another shard, which is not there: it was removed, or is still on its way there. Fork '%s' instead, or wait a moment."
                                .formatted(run, child, run))
                .orElse(null);
    }

    /** That a run of another shard takes the outcome of a run, or null. */
    @Nullable
    String taken(RunId run) {
        if (!shards.haveBeenSeveral()) {
            return null;
        }
        Optional<Parent> caller = shards.exchange(shards.of(run)).parent(run).filter(Retries::getsOutcome);
        return caller.isPresent() && takes(caller.get())
                ? "The run '%s', which called it, gets the outcome of '%s'. Fork one of them instead."
                        .formatted(caller.get().run().id(), run)
                : null;
    }

    /**
     * The same retry, with what it sends to children whose results the run waits for. Those on its shard may be linked as those on
     * others, or a move links them so before the retry is applied. A child that is not linked so then sends nothing: the store
     * itself tells its outcome.
     */
    Change.Retry asking(Change.Retry retry) {
        if (!shards.haveBeenSeveral()) {
            return retry;
        }
        List<Effect.Send> sends = found(retry.run()).stream()
                .flatMap(ref -> asking(ref, retry.ended()))
                .toList();
        return new Change.Retry(retry.run(), retry.ended(), retry.audit(), sends);
    }

    private Stream<Effect.Send> asking(RunRef run, Instant ended) {
        Map<Integer, RunId> children = withoutResult(run);
        Set<RunId> besides = children.isEmpty() ? Set.of() : besides(run);
        return children.entrySet().stream()
                .filter(child -> besides.contains(child.getValue()) || answers(child.getValue(), child.getKey(), run))
                .map(child -> Crossing.retell(child.getValue(), new Parent(run, child.getKey(), true), ended));
    }

    private Optional<RunRef> found(RunId run) {
        return shards.having(run).runs().find(run).map(Runs.Found::ref);
    }

    private static boolean getsOutcome(Parent parent) {
        return parent.answers() && !parent.isReport();
    }

    /** Whether a caller is still in the life in which it called. */
    private boolean takes(Parent caller) {
        return shards.exchange(shards.of(caller.run())).below(List.of(caller.run())).stream()
                .anyMatch(lived -> lived.run().equals(caller.run()) && lived.life() == caller.life());
    }

    /** A run that was started without waiting for it has no parent. */
    private boolean answers(RunId child, int position, RunRef parent) {
        return shards.exchange(shards.of(child))
                .parent(child)
                .filter(link -> getsOutcome(link) && link.run().equals(parent) && link.position() == position)
                .isPresent();
    }

    /** The children of a run that are linked as those on its shard are. */
    private Set<RunId> besides(RunRef run) {
        return shards.having(run).runs().children(run).stream()
                .map(child -> child.run().id())
                .collect(Collectors.toSet());
    }

    /** The runs of other shards that this one has started and of which its journal has no result, by position. */
    private Map<Integer, RunId> elsewhere(RunRef run) {
        Map<Integer, RunId> children = withoutResult(run);
        children.values().removeIf(child -> shards.of(child) == shards.of(run));
        return children;
    }

    /** The runs that this one has started and of which its journal has no result, by position. */
    private Map<Integer, RunId> withoutResult(RunRef run) {
        Map<Integer, RunId> started = new TreeMap<>();
        Journals journals = shards.having(run).journals();
        int position = 0;
        boolean last = false;
        while (!last) {
            Journals.Page page = journals.read(run, position, PAGE_BYTES);
            for (Recorded recorded : page.entries()) {
                Entry entry = recorded.entry();
                position = entry.position();
                entry.started().ifPresent(child -> started.put(entry.position(), child));
            }
            page.entries().stream()
                    .map(Recorded::entry)
                    .filter(entry -> entry.note() == Entry.ANSWER && entry.status() == Entry.Status.VALUE)
                    .forEach(answer -> started.remove(answer.position()));
            last = page.last();
        }
        return started;
    }
}

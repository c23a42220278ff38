package dev.perdure.shards;

import dev.perdure.RunId;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.change.RunRef;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Decides which runs that have ended may be retried. An outcome crosses once: that of a run with a parent on another shard is
 * on its way, or has arrived, and that of a child which ended after its parent was not kept.
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
        Optional<RunRef> ref =
                shards.haveBeenSeveral() ? shards.having(run).runs().find(run).map(Runs.Found::ref) : Optional.empty();
        if (ref.isEmpty()) {
            return null;
        }
        Optional<Parent> caller = shards.exchange(shards.of(run)).parent(run).filter(Retries::getsOutcome);
        if (caller.isPresent()) {
            return "The run '%s', which called it, gets the outcome of '%s'. Fork one of them instead."
                    .formatted(caller.get().run().id(), run);
        }
        return withoutResult(ref.get()).values().stream()
                .filter(child -> shards.of(child) != shards.of(run) && mayHaveAnswered(ref.get(), child))
                .findFirst()
                .map(child ->
                        "The run '%s' called the run '%s' of another shard, whose outcome does not come again. Fork it instead."
                                .formatted(run, child))
                .orElse(null);
    }

    private static boolean getsOutcome(Parent parent) {
        return parent.answers() && !parent.isReport();
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

    /** A run that was started without waiting for it has no parent. One that is gone may have had one. */
    private boolean mayHaveAnswered(RunRef parent, RunId child) {
        int shard = shards.of(child);
        return shards.store(shard).runs().find(child).isEmpty()
                || shards.exchange(shard)
                        .parent(child)
                        .filter(link -> getsOutcome(link) && link.run().equals(parent))
                        .isPresent();
    }
}

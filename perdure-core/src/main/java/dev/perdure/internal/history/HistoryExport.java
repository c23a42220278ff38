package dev.perdure.internal.history;

import dev.perdure.History;
import dev.perdure.RunInfo;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.payload.PayloadCodec;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Runs;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Premise;
import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.payload.PayloadReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads a run from the store to export it.
 *
 * <p>How it works. The run may continue meanwhile. Its state is read before its journal, so a history that says that
 * the run has ended has the whole journal. Two things change what was read before: a run that begins anew gets another
 * seed, and the retry of a run that has ended removes entries. In both cases all is read again. A history has
 * large values in place, because a test has no payload store.
 */
public final class HistoryExport {
    private static final int PAGE_BYTES = 1024 * 1024;
    private static final long MOST_BYTES = 64L * 1024 * 1024;

    private final Store store;
    private final PayloadCodec codec;

    /** Reads from this store, and large values by this codec. */
    public HistoryExport(Store store, PayloadCodec codec) {
        this.store = store;
        this.codec = codec;
    }

    /** The history of a run; empty if the run does not exist. */
    public Optional<History> read(RunRef run) {
        while (true) {
            RunInfo before = info(run);
            Optional<ExportedRun> read = attempt(run, before);
            Optional<Runs.Basis> now = store.runs().basis(run);
            boolean sameLife = read.map(each -> each.basis().seed()).equals(now.map(Runs.Basis::seed));
            if (sameLife && !isRetried(before, info(run))) {
                return read.map(HistoryFormat::write);
            }
        }
    }

    private @Nullable RunInfo info(RunRef run) {
        return store.runs().find(run.id()).map(Runs.Found::info).orElse(null);
    }

    /** Whether the run had ended, and has continued since, whatever has become of it. */
    private static boolean isRetried(@Nullable RunInfo before, @Nullable RunInfo after) {
        return before != null
                && before.state().isTerminal()
                && (after == null
                        || after.state() != before.state()
                        || !after.changedAt().equals(before.changedAt()));
    }

    private Optional<ExportedRun> attempt(RunRef run, @Nullable RunInfo info) {
        Runs.Basis basis = store.runs().basis(run).orElse(null);
        if (info == null || basis == null) {
            return Optional.empty();
        }
        Payload outcome = info.state().isTerminal()
                ? store.runs().ended(List.of(run)).stream()
                        .map(Runs.Ended::outcome)
                        .findFirst()
                        .orElse(Payload.EMPTY)
                : Payload.EMPTY;
        Content content = new Content(run);
        ExportedRun.End end = new ExportedRun.End(
                info.state(), info.changedAt(), info.reason().orElse(""), content.of(outcome));
        return Optional.of(new ExportedRun(
                run.id(),
                info.definition(),
                info.createdAt(),
                end,
                content.of(basis),
                journal(run, content),
                tasks(run, content)));
    }

    private List<Recorded> journal(RunRef run, Content content) {
        List<Recorded> journal = new ArrayList<>();
        int position = 0;
        Journals.Page page;
        do {
            page = store.journals().read(run, position, PAGE_BYTES);
            for (Recorded recorded : page.entries()) {
                position = recorded.entry().position();
                journal.add(content.of(recorded));
            }
        } while (!page.last());
        return journal;
    }

    private List<Premise> tasks(RunRef run, Content content) {
        return store.runs().tasks(run).stream()
                .map(task -> {
                    String reason = task.info().reason().orElse("");
                    return new Premise(task.run(), task.info().state(), content.of(task.outcome()), reason);
                })
                .toList();
    }

    /** The values of a run in place, and how much of the limit they take. */
    private final class Content {
        private final RunRef run;
        private long bytes;

        Content(RunRef run) {
            this.run = run;
        }

        Runs.Basis of(Runs.Basis basis) {
            return new Runs.Basis(
                    basis.version(),
                    of(basis.input()),
                    basis.seed(),
                    basis.deadline(),
                    basis.premises().stream().map(this::of).toList(),
                    basis.object());
        }

        Premise of(Premise premise) {
            return new Premise(premise.run(), premise.state(), of(premise.outcome()), premise.reason());
        }

        Recorded of(Recorded recorded) {
            Entry entry = recorded.entry();
            Entry inPlace = new Entry(
                    entry.position(), entry.note(), entry.kind(), entry.name(), entry.status(), of(entry.payload()));
            return new Recorded(inPlace, recorded.at());
        }

        Payload of(Payload payload) {
            bytes += PayloadReference.sizeOf(payload);
            if (bytes > MOST_BYTES) {
                throw new InvalidRequestException(
                        "The values of run '%s' have more than %s MiB, so it cannot be exported. Export a shorter run of the same definition."
                                .formatted(run.id(), MOST_BYTES / (1024 * 1024)));
            }
            return codec.inlined(payload);
        }
    }
}

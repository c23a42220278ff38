package dev.perdure.postgres.work;

import dev.perdure.RunChange;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.error.StoreException;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Query;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.queue.Placement;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.report.EngineLog;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Which ready runs a worker may take because of its labels.
 *
 * <p>How it works: a run that requires or prefers labels waits under a text of its version and its placement, in the
 * column in which other runs have only their version. There are few such texts, whatever the number of runs. This class
 * knows those in use; a poll names the ones that the labels of its worker suit beside the version of the worker. So a
 * claim is the same for all runs, and runs that no worker suits cost a claim nothing. A poll asks whether there is a
 * text that is not known here, and then reads all of them.
 *
 * <p>If no live worker is preferred by a run, or none of them has taken it in time, a poll removes the preference from
 * the row in the queue; the row of the run keeps it for the next time. If the worker is gone that a run prefers, a poll
 * removes that from both rows; if the run requires it, the poll cancels the run first. If the process dies in between,
 * the next poll of any worker does both again.
 */
public final class Placements {
    private static final Logger LOG = EngineLog.of("dev.perdure.store");
    private static final String ANY_VERSION = "";
    private static final char AFTER_VERSION = '\n';

    private final Database database;
    private final Query query;
    private final PlacementSql sql;
    private final Ledger ledger;
    private volatile Set<Text> used = Set.of();

    /**
     * A text under which runs wait.
     *
     * @param placement null if it cannot be read: then it suits no worker
     */
    private record Text(
            String whole, String version, @Nullable Placement placement) implements Comparable<Text> {
        boolean suits(Poll request) {
            return placement != null
                    && (version.isEmpty() || version.equals(request.version().name()))
                    && placement.suits(request.labels());
        }

        @Override
        public int compareTo(Text other) {
            return whole.compareTo(other.whole);
        }
    }

    /** A run whose worker is gone. */
    private record Lost(long key, RunId run, String definition, Placement placement) {
        Change cancel() {
            return new Change.Command(run, Change.CommandKind.CANCEL, reason());
        }

        String reason() {
            return Placement.gone(placement.worker().orElseThrow());
        }
    }

    public Placements(Database database, Schema schema, LedgerSql ledgerSql, Ledger ledger) {
        this.database = database;
        this.query = new Query(database);
        this.sql = new PlacementSql(schema, ledgerSql);
        this.ledger = ledger;
    }

    /** What the runs that a worker may take have as their version: none, its own, and texts that its labels suit. */
    List<String> versions(Poll request) {
        return Stream.of(
                        Stream.of(ANY_VERSION),
                        Stream.ofNullable(request.version().name()),
                        used.stream().filter(text -> text.suits(request)).map(Text::whole))
                .flatMap(versions -> versions)
                .toList();
    }

    /** Whether runs under this text are pinned to a version. */
    static boolean isPinned(String text) {
        return !text.isEmpty() && text.charAt(0) != AFTER_VERSION;
    }

    /** The texts that are known here. */
    String[] known() {
        return used.stream().map(Text::whole).toArray(String[]::new);
    }

    /**
     * What a look has changed.
     *
     * @param freed whether more workers may take some runs now
     * @param cancelled the runs that it has cancelled
     */
    record Looked(boolean freed, List<RunChange> cancelled) {}

    /**
     * Reads which texts there are. Frees runs from workers that are gone, and from preferences that are over or that no
     * live worker meets.
     */
    Looked look(boolean preferenceOver) {
        Set<Text> found = new TreeSet<>();
        List<String> gone = new ArrayList<>();
        List<String> unmet = new ArrayList<>();
        query.byIndex(sql.look, parameters -> {}, row -> {
            Text text = text(row.getString("version"));
            if (text.placement() != null && row.getBoolean("gone")) {
                gone.add(text.whole());
            } else if (text.placement() != null && row.getBoolean("unmet")) {
                unmet.add(text.whole());
            }
            return found.add(text);
        });
        used = found;
        if (preferenceOver || !unmet.isEmpty()) {
            query.byIndex(
                    sql.relax, parameters -> parameters.time(database.time()).texts(unmet), row -> row.getLong("key"));
        }
        List<RunChange> cancelled = gone.isEmpty() ? List.of() : free(gone);
        return new Looked(preferenceOver || !unmet.isEmpty() || !gone.isEmpty(), cancelled);
    }

    private Text text(String whole) {
        int end = whole.indexOf(AFTER_VERSION);
        String version = whole.substring(0, end);
        try {
            return new Text(whole, version, Placement.of(whole.substring(end + 1)));
        } catch (RuntimeException unreadable) {
            database.unreadable()
                    .leave(
                            "of each run in ready with the version '%s'".formatted(whole.replace("\n", "\\n")),
                            unreadable);
            return new Text(whole, version, null);
        }
    }

    private List<RunChange> free(List<String> texts) {
        List<RunChange> cancelled = new ArrayList<>();
        try {
            List<Lost> lost = query.readableByIndex(
                    sql.waiting,
                    parameters -> parameters.texts(texts),
                    row -> new Lost(
                            row.getLong("key"),
                            RunId.of(row.getString("id")),
                            row.getString("definition"),
                            Placement.of(row.getString("placement"))));
            List<Lost> bound = lost.stream()
                    .filter(run -> run.placement().requiresWorker())
                    .toList();
            List<Outcome> outcomes = bound.isEmpty()
                    ? List.of()
                    : ledger.apply(
                            Lane.client(0), bound.stream().map(Lost::cancel).toList());
            for (int i = 0; i < outcomes.size(); i++) {
                if (outcomes.get(i) instanceof Outcome.Commanded commanded
                        && commanded.changed()
                        && commanded.state() == RunState.CANCELLED) {
                    Lost each = bound.get(i);
                    cancelled.add(new RunChange(
                            each.run(), each.definition(), RunState.CANCELLED, Optional.of(each.reason())));
                }
            }
            replace(lost);
        } catch (StoreException later) {
            LOG.debug("Could not free all runs from workers that are gone; the next poll tries again.", later);
        }
        return cancelled;
    }

    private void replace(List<Lost> lost) {
        @Nullable String[] placements = new @Nullable String[lost.size()];
        boolean[] bound = new boolean[lost.size()];
        for (int i = 0; i < bound.length; i++) {
            placements[i] = lost.get(i).placement().withoutWorker().text();
            bound[i] = lost.get(i).placement().requiresWorker();
        }
        query.byIndex(
                sql.replace,
                parameters -> parameters
                        .longs(lost.stream().mapToLong(Lost::key).toArray())
                        .texts(placements)
                        .bools(bound),
                row -> row.getLong("key"));
    }
}

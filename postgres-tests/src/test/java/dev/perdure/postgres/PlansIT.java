package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartKey;
import dev.perdure.postgres.hint.PostgresHints;
import dev.perdure.postgres.inbox.InboxReader;
import dev.perdure.postgres.jdbc.Connections;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.lane.Backends;
import dev.perdure.postgres.lane.LeaseSql;
import dev.perdure.postgres.lane.Workers;
import dev.perdure.postgres.limiter.PostgresPermits;
import dev.perdure.postgres.queue.PostgresQueues;
import dev.perdure.postgres.reaction.PostgresReactions;
import dev.perdure.postgres.removal.PostgresRemovals;
import dev.perdure.postgres.work.LateRuns;
import dev.perdure.postgres.work.LimitedClaims;
import dev.perdure.postgres.work.Placements;
import dev.perdure.postgres.work.PostgresDispatch;
import dev.perdure.postgres.work.StartLimits;
import dev.perdure.postgres.work.Watermark;
import dev.perdure.postgres.write.PostgresLedger;
import dev.perdure.postgres.write.change.Keys;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.Placement;
import dev.perdure.queue.Requirement;
import dev.perdure.reaction.Occasion;
import dev.perdure.reaction.ReactionInfo;
import dev.perdure.retention.Retention;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Leases.Joining;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Permits;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Awaited;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.Task;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The hot statements keep their indexes, whatever the tables were when the server planned them. */
final class PlansIT {
    private static final Schema SCHEMA = new Schema(TestServer.newSchema());

    private static HikariDataSource pool;

    @BeforeAll
    static void migrate() {
        // On connections of its own: what they scan for new indexes is counted when they end.
        try (HikariDataSource own = TestServer.pool(3)) {
            PostgresStore.on(own)
                    .schema(SCHEMA.name())
                    .notifications(false)
                    .open()
                    .close();
        }
        TestServer.withoutAutovacuum(SCHEMA.name());
        pool = TestServer.pool(3);
    }

    @AfterAll
    static void close() {
        pool.close();
    }

    /** Prepares everything hot on the empty and freshly vacuumed schema, on one connection, then lets it grow. */
    @Test
    void plans_made_on_empty_tables_use_indexes_when_the_tables_have_grown() throws Exception {
        try (HikariDataSource one = TestServer.pool(1)) {
            TestServer.execute("VACUUM ANALYZE "
                    + TestServer.query(
                            "SELECT string_agg(format('%%I.%%I', schemaname, tablename), ', ') FROM pg_tables WHERE schemaname = '%s'"
                                    .formatted(SCHEMA.name())));
            Database database = new Database(Connections.from(one, 1), () -> null);
            LeaseSql leaseSql = new LeaseSql(SCHEMA);
            Workers workers = new Workers(database, leaseSql, new Backends(SCHEMA, System::nanoTime));
            PostgresHints hints = new PostgresHints();
            PostgresQueues queues = new PostgresQueues(database, SCHEMA);
            LedgerSql ledgerSql = new LedgerSql(SCHEMA);
            PostgresLedger ledger = new PostgresLedger(
                    database, SCHEMA, ledgerSql, new Keys(SCHEMA, database), workers, queues, hints, true);
            StoreFixture fixture;
            try (PostgresStore other = PostgresStore.on(pool)
                    .schema(SCHEMA.name())
                    .notifications(false)
                    .open()) {
                fixture = new StoreFixture(other);
                workers.join(new Joining(fixture.worker, Set.of("order"), null, Duration.ofMinutes(10), 4));
                PostgresPermits permits = new PostgresPermits(database, SCHEMA, ledgerSql, workers, hints);
                permits.declare(
                        List.of(Limiter.named("partner").concurrency(50).rate(1_000_000, Duration.ofSeconds(1))));
                PostgresReactions reactions = new PostgresReactions(database, ledgerSql.reactions, ledgerSql.settings);
                reactions.declare(List.of(new ReactionInfo(
                        "alert",
                        Set.of(Occasion.FAILED, Occasion.PAUSED, Occasion.CANCELLED, Occasion.LATE),
                        Optional.of(Duration.ofMillis(1)),
                        Set.of(),
                        "alert",
                        "default",
                        Optional.empty())));
                PostgresDispatch dispatch = new PostgresDispatch(
                        database,
                        SCHEMA,
                        ledgerSql,
                        workers,
                        new LimitedClaims(
                                database,
                                SCHEMA,
                                ledgerSql,
                                workers,
                                queues,
                                new Placements(database, SCHEMA, ledgerSql, ledger),
                                true),
                        permits,
                        new InboxReader(database, SCHEMA, ledger),
                        new StartLimits(database, SCHEMA, ledger),
                        new LateRuns(database, reactions, hints),
                        ledger,
                        new Watermark(),
                        hints);
                PostgresRemovals removals = new PostgresRemovals(database, SCHEMA, ledgerSql);
                removals.change(Retention.of(Duration.ofSeconds(1)));
                for (int i = 0; i < 8; i++) {
                    plain(ledger, fixture, "small-plain-" + i, 2);
                    everything(ledger, dispatch, fixture, "small-" + i, 2);
                    talk(ledger, fixture, "small-talk-" + i, 2);
                    dags(ledger, fixture, "small-dag-" + i, 2);
                    objects(ledger, fixture, "small-object-" + i, 2);
                    freeCalls(ledger, fixture, "small-free-" + i, 2);
                    permits(permits, ledger, fixture, "small-permit-" + i, 2);
                    placed(ledger, dispatch, fixture, "small-placed-" + i, 2);
                    revived(ledger, removals, fixture, "small-revived-" + i, 2);
                    reactions.findLate();
                }
                everything(ledger, dispatch, fixture, "grow", 1_000);
                plain(ledger, fixture, "grown-plain", 300);
                talk(ledger, fixture, "grown-talk", 300);
                dags(ledger, fixture, "grown-dag", 300);
                objects(ledger, fixture, "grown-object", 300);
                freeCalls(ledger, fixture, "grown-free", 300);
                permits(permits, ledger, fixture, "grown-permit", 500);
                placed(ledger, dispatch, fixture, "grown-placed", 300);
                revived(ledger, removals, fixture, "grown-revived", 100);
                reactions.findLate();
                Map<String, Long> before = sequentialScans(one);
                everything(ledger, dispatch, fixture, "measured", 200);
                plain(ledger, fixture, "measured-plain", 200);
                talk(ledger, fixture, "measured-talk", 200);
                dags(ledger, fixture, "measured-dag", 100);
                objects(ledger, fixture, "measured-object", 100);
                freeCalls(ledger, fixture, "measured-free", 100);
                permits(permits, ledger, fixture, "measured-permit", 100);
                placed(ledger, dispatch, fixture, "measured-placed", 100);
                revived(ledger, removals, fixture, "measured-revived", 20);
                long ids = read(one, "run_id_key");
                for (int looks = 0; looks < 20; looks++) {
                    reactions.findLate();
                }
                assertThat(read(one, "run_id_key") - ids)
                        .as("not those of all runs")
                        .isLessThan(1_000);
                replaced(ledger, fixture);
                long keys = read(one, "run_pkey");
                dispatch.poll(fixture.poll(1));
                assertThat(read(one, "run_pkey") - keys)
                        .as("not those of all runs")
                        .isLessThan(1_000);
                assertThat(sequentialScans(one)).isEqualTo(before);
            }
        }
    }

    private static void everything(
            PostgresLedger ledger, PostgresDispatch dispatch, StoreFixture fixture, String name, int count) {
        Lane lane = new Lane(fixture.worker, 0);
        List<Change> starts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Admission admission = new Admission(i % 4 == 1 ? Duration.ofHours(1) : null);
            starts.add(new Change.Start(
                    StoreFixture.newRun(name + "-" + i).withAdmission(admission), i % 2 == 0 ? fixture.worker : null));
        }
        List<RunRef> owned = new ArrayList<>();
        for (Outcome outcome : ledger.apply(lane, starts)) {
            Outcome.Started started = (Outcome.Started) outcome;
            if (started.owned()) {
                owned.add(started.run());
            }
        }
        ledger.apply(
                lane,
                owned.stream().<Change>map(run -> StoreFixture.append(run, 1)).toList());
        Move wait = new Move.Wait(RunState.SUSPENDED, new Due.In(Duration.ofHours(1)), 0);
        List<Change> moves = IntStream.range(0, owned.size())
                .<Change>mapToObj(i -> i % 2 == 0
                        ? StoreFixture.complete(owned.get(i))
                        : new Change.Advance(owned.get(i), 1, List.of(StoreFixture.step(2)), wait))
                .toList();
        int half = moves.size() / 2;
        ledger.apply(lane, moves.subList(0, half));
        List<Change> theLongWay = new ArrayList<>(moves.subList(half, moves.size()));
        theLongWay.add(new Change.Start(StoreFixture.newRun(name + "-queued"), null));
        ledger.apply(lane, theLongWay);
        ledger.apply(
                Lane.client(0),
                List.of(
                        new Change.Command(owned.getLast().id(), Change.CommandKind.CANCEL, "enough"),
                        new Change.Command(
                                StoreFixture.newRun(name + "-1").id(), Change.CommandKind.PAUSE, "hold on")));
        dispatch.poll(fixture.poll(count / 4));
    }

    /** Changes that concern no other run, in batches of so many and one by one. */
    private static void plain(PostgresLedger ledger, StoreFixture fixture, String name, int count) {
        Lane lane = new Lane(fixture.worker, 0);
        List<RunRef> together = owned(ledger, fixture, name, count);
        RunRef alone = owned(ledger, fixture, name + "-alone", 1).getFirst();
        applied(
                ledger,
                lane,
                together.stream()
                        .<Change>map(run -> StoreFixture.append(run, 1))
                        .toList());
        applied(ledger, lane, List.of(StoreFixture.append(alone, 1)));
        applied(
                ledger,
                lane,
                together.stream().<Change>map(StoreFixture::complete).toList());
        applied(ledger, lane, List.of(StoreFixture.complete(alone)));
    }

    /** Children, mail, effects and restarts, in batches of so many. */
    private static void talk(PostgresLedger ledger, StoreFixture fixture, String name, int count) {
        Lane lane = new Lane(fixture.worker, 0);
        List<RunRef> parents = owned(ledger, fixture, name + "-parent", count);
        List<RunRef> loops = owned(ledger, fixture, name + "-loop", count);
        List<Change> children = parents.stream()
                .<Change>map(parent ->
                        new Change.Start(StoreFixture.child(parent, parent.id() + "-child", 1), fixture.worker))
                .toList();
        List<Outcome> started = ledger.apply(lane, children);
        applied(
                ledger,
                lane,
                parents.stream()
                        .<Change>map(parent -> new Change.Advance(
                                parent,
                                1,
                                List.of(),
                                List.of(
                                        new Effect.Start(StoreFixture.child(parent, parent.id() + "-later", 2)),
                                        new Effect.Cancel(RunId.of(name + "-nobody"), "why"),
                                        new Effect.Publish("progress", 3, StoreFixture.json("1")),
                                        new Effect.Awakeable(parent.id() + "-hash", 4),
                                        new Effect.Subscribe("paid", "42", 5)),
                                StoreFixture.STAY))
                        .toList());
        applied(
                ledger,
                lane,
                loops.stream()
                        .<Change>map(loop -> StoreFixture.message(loop, "news"))
                        .toList());
        // Alone, to a run in memory: from outside, and from another run that takes what it got.
        applied(ledger, lane, List.of(StoreFixture.message(loops.getLast(), "more news")));
        Effect answer = new Effect.Deliver(
                loops.getFirst().id(),
                StoreFixture.message(loops.getFirst(), "answer").mail());
        applied(
                ledger,
                lane,
                List.of(new Change.Advance(
                        loops.getLast(),
                        1,
                        List.of(StoreFixture.step(1)),
                        List.of(new Effect.Take(1), answer),
                        StoreFixture.STAY)));
        RunRef parentInMemory = owned(ledger, fixture, name + "-in-memory", 1).getFirst();
        Change.Start start = new Change.Start(StoreFixture.child(parentInMemory, name + "-lone", 1), fixture.worker);
        RunRef lone = ((Outcome.Started) ledger.apply(lane, List.of(start)).getFirst()).run();
        applied(ledger, lane, List.of(StoreFixture.complete(lone)));
        applied(
                ledger,
                lane,
                loops.stream()
                        .<Change>map(loop -> new Change.Advance(
                                loop,
                                1,
                                List.of(),
                                List.of(new Effect.Take(1)),
                                new Move.Restart(StoreFixture.json("2"), 2)))
                        .toList());
        applied(
                ledger,
                lane,
                parents.stream()
                        .<Change>map(parent -> StoreFixture.await(parent, Channel.answer(1)))
                        .toList());
        List<RunRef> ending = new ArrayList<>();
        started.forEach(outcome -> ending.add(((Outcome.Started) outcome).run()));
        applied(
                ledger,
                lane,
                ending.stream().<Change>map(StoreFixture::complete).toList());
    }

    /** Three calls of each of many objects: the first sets and clears, and the two behind it end together. */
    private static void objects(PostgresLedger ledger, StoreFixture fixture, String name, int count) {
        Lane lane = new Lane(fixture.worker, 0);
        List<Change> starts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ObjectCall call = new ObjectCall(new ObjectKey("cart", name + i), ObjectCall.Hold.EXCLUSIVE);
            starts.add(
                    new Change.Start(StoreFixture.newRun(name + "-first-" + i).on(call), fixture.worker));
            starts.add(
                    new Change.Start(StoreFixture.newRun(name + "-second-" + i).on(call), null));
            starts.add(
                    new Change.Start(StoreFixture.newRun(name + "-third-" + i).on(call), null));
        }
        List<Outcome> outcomes = ledger.apply(lane, starts);
        List<Effect> effects = List.of(
                new Effect.ClearAllState(),
                new Effect.SetState("a", StoreFixture.json("1")),
                new Effect.ClearState("b"));
        List<Change> ends = outcomes.stream()
                .map(Outcome.Started.class::cast)
                .filter(Outcome.Started::owned)
                .<Change>map(started -> new Change.Advance(
                        started.run(),
                        1,
                        List.of(),
                        effects,
                        new Move.End(RunState.COMPLETED, StoreFixture.json("1"), "", 2)))
                .toList();
        assertThat(ends).hasSize(count);
        List<Change> together = new ArrayList<>();
        for (Outcome outcome : ledger.apply(lane, ends)) {
            Outcome.Applied applied = (Outcome.Applied) outcome;
            Claimed second = applied.handed().getFirst();
            Claimed third = applied.next().getFirst();
            Move end = new Move.End(RunState.COMPLETED, StoreFixture.json("1"), "", 1, second.run());
            together.add(StoreFixture.completeAndGoOn(second));
            together.add(new Change.Advance(third.run(), third.epoch(), List.of(), effects, end));
            NewRun fourth = StoreFixture.newRun(third.run().id() + "-fourth").on(third.object());
            Move.End last = new Move.End(RunState.COMPLETED, StoreFixture.json("1"), "");
            together.add(new Change.CompletedCall(
                    fourth, List.of(), effects, last, third.run().id()));
        }
        applied(ledger, lane, together);
    }

    /** Two calls of each of many objects, one after the other. */
    private static void freeCalls(PostgresLedger ledger, StoreFixture fixture, String name, int count) {
        Lane lane = new Lane(fixture.worker, 0);
        List<Effect> sets = List.of(new Effect.SetState("a", StoreFixture.json("1")));
        Move end = new Move.End(RunState.COMPLETED, StoreFixture.json("1"), "", 2);
        for (int turn = 0; turn < 2; turn++) {
            List<Change> starts = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                NewRun run = StoreFixture.newRun("%s-%d-%d".formatted(name, turn, i));
                ObjectCall call = new ObjectCall(new ObjectKey("cart", name + i), ObjectCall.Hold.EXCLUSIVE);
                starts.add(new Change.Start(run.on(call), fixture.worker));
            }
            List<Change> ends = ledger.apply(lane, starts).stream()
                    .map(Outcome.Started.class::cast)
                    .<Change>map(started -> new Change.Advance(started.run(), 1, List.of(), sets, end))
                    .toList();
            applied(ledger, lane, ends);
        }
    }

    /** Lines of two tasks, in batches of so many: run to their end, run again, killed. */
    private static void dags(PostgresLedger ledger, StoreFixture fixture, String name, int count) {
        Lane lane = new Lane(fixture.worker, 0);
        List<Change> starts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String id = name + "-" + i;
            List<Task> tasks = List.of(
                    new Task(StoreFixture.newRun(id + "/a"), List.of()),
                    new Task(StoreFixture.newRun(id + "/b"), List.of(0)));
            starts.add(new Change.Start(StoreFixture.newRun(id), fixture.worker, List.of(), tasks));
        }
        List<Claimed> held = new ArrayList<>();
        ledger.apply(lane, starts).forEach(outcome -> held.addAll(((Outcome.Started) outcome).handed()));
        for (int step = 0; step < 3; step++) {
            assertThat(held).hasSize(count);
            List<Change> ends =
                    held.stream().<Change>map(StoreFixture::completeAndGoOn).toList();
            held.clear();
            ledger.apply(lane, ends).forEach(outcome -> held.addAll(((Outcome.Applied) outcome).handed()));
        }
        List<RunId> ids =
                starts.stream().map(start -> ((Change.Start) start).run().id()).toList();
        applied(
                ledger,
                lane,
                ids.stream()
                        .<Change>map(id -> new Change.Rerun(id, List.of(RunId.of(id + "/b")), 77))
                        .toList());
        applied(
                ledger,
                lane,
                ids.stream()
                        .<Change>map(id -> new Change.Command(id, Change.CommandKind.KILL, "enough"))
                        .toList());
        expired(ledger, name, count);
    }

    /** Lines of two tasks of which none has begun in time. */
    private static void expired(PostgresLedger ledger, String name, int count) {
        List<Change> starts = new ArrayList<>();
        List<Change> ends = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String id = name + "-late-" + i;
            List<Task> tasks = List.of(
                    new Task(StoreFixture.newRun(id + "/a"), List.of()),
                    new Task(StoreFixture.newRun(id + "/b"), List.of(0)));
            starts.add(new Change.Start(StoreFixture.newRun(id), null, List.of(), tasks));
            ends.add(new Change.Command(RunId.of(id), Change.CommandKind.EXPIRE, "too late"));
        }
        ledger.apply(Lane.client(0), starts);
        applied(ledger, Lane.client(0), ends);
    }

    /** Steps that ask for permits of one limiter. Some get one and are recorded, the others wait out of memory. */
    private static void permits(
            PostgresPermits permits, PostgresLedger ledger, StoreFixture fixture, String name, int count) {
        Lane lane = new Lane(fixture.worker, 0);
        List<RunRef> runs = owned(ledger, fixture, name, count);
        List<Permits.Answer> answers = permits.take(
                fixture.worker,
                runs.stream()
                        .map(run -> new Permits.Request("partner", run, 1, 1, 1))
                        .toList());
        Move wait = new Move.Wait(RunState.SUSPENDED, new Due.Never(), new Awaited(Set.of(), 1, Set.of("partner")), 0);
        List<Change> moves = IntStream.range(0, count)
                .<Change>mapToObj(i -> answers.get(i) == Permits.Answer.HELD
                        ? StoreFixture.append(runs.get(i), 1)
                        : new Change.Advance(runs.get(i), 1, List.of(), wait))
                .toList();
        applied(ledger, lane, moves);
        permits.callAll();
    }

    /** Runs that require or prefer labels that no worker has, or a worker that is gone. */
    private static void placed(
            PostgresLedger ledger, PostgresDispatch dispatch, StoreFixture fixture, String name, int count) {
        List<Requirement> requirements = List.of(
                Requirement.of("gpu=true"),
                Requirement.of("memory>=16"),
                Requirement.worker("00000000-0000-0000-0000-000000000000"));
        List<Change> starts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Requirement one = requirements.get(i % 3);
            Placement placement = i % 2 == 0 ? Placement.ANYWHERE.requiring(one) : Placement.ANYWHERE.preferring(one);
            starts.add(new Change.Start(StoreFixture.newRun(name + "-" + i).at(placement), null));
        }
        ledger.apply(Lane.client(0), starts);
        dispatch.poll(fixture.poll(1));
    }

    /** A start that waits for the end of the run that has its key. */
    private static void replaced(PostgresLedger ledger, StoreFixture fixture) {
        Admission keyed =
                Admission.UNCONDITIONAL.withKey(StartKey.deduplicate("replaced").replace(), false);
        Lane lane = new Lane(fixture.worker, 0);
        ledger.apply(
                lane, List.of(new Change.Start(StoreFixture.newRun("replaced").withAdmission(keyed), fixture.worker)));
        ledger.apply(
                lane, List.of(new Change.Start(StoreFixture.newRun("replacing").withAdmission(keyed), null)));
    }

    private static List<RunRef> owned(PostgresLedger ledger, StoreFixture fixture, String name, int count) {
        List<Change> starts = IntStream.range(0, count)
                .<Change>mapToObj(i -> new Change.Start(StoreFixture.newRun(name + "-" + i), fixture.worker))
                .toList();
        return ledger.apply(new Lane(fixture.worker, 0), starts).stream()
                .map(outcome -> ((Outcome.Started) outcome).run())
                .toList();
    }

    private static void applied(PostgresLedger ledger, Lane lane, List<Change> changes) {
        assertThat(ledger.apply(lane, changes)).hasOnlyElementsOfTypes(Outcome.Applied.class, Outcome.Commanded.class);
    }

    /** Runs under keys that failed, and then their children, retried and forked; and a batch of old runs removed. */
    private static void revived(
            PostgresLedger ledger, PostgresRemovals removals, StoreFixture fixture, String name, int count) {
        Lane lane = new Lane(fixture.worker, 0);
        Move fail = new Move.End(RunState.FAILED, StoreFixture.json("\"no\""), "it failed");
        for (int i = 0; i < count; i++) {
            NewRun keyed = StoreFixture.newRun(name + "-" + i)
                    .withAdmission(Admission.UNCONDITIONAL.withKey(StartKey.deduplicate(name + i), false));
            RunRef run = ((Outcome.Started) ledger.apply(lane, List.of(new Change.Start(keyed, fixture.worker)))
                            .getFirst())
                    .run();
            Change start = new Change.Start(StoreFixture.child(run, run.id() + "-child", 1), fixture.worker);
            RunRef child = ((Outcome.Started) ledger.apply(lane, List.of(start)).getFirst()).run();
            Change end = new Change.Advance(run, 1, List.of(StoreFixture.step(2)), fail);
            Outcome.Applied ended =
                    (Outcome.Applied) ledger.apply(lane, List.of(end)).getFirst();
            applied(ledger, lane, List.of(new Change.Advance(child, 1, List.of(), fail)));
            applied(ledger, Lane.client(0), List.of(new Change.Retry(run.id(), ended.at())));
            ledger.apply(
                    Lane.client(0), List.of(new Change.Fork(run.id(), 3, RunId.of(run.id() + "-fork"), 4711, null)));
        }
        removals.remove(count);
        ledger.releaseKeys();
        ledger.forgetKeys();
    }

    private static long read(HikariDataSource one, String index) throws SQLException {
        try (Connection connection = one.getConnection();
                Statement statement = connection.createStatement()) {
            TestServer.reportStatistics(connection);
            try (ResultSet row = statement.executeQuery(
                    "SELECT idx_tup_read FROM pg_stat_user_indexes WHERE schemaname = '%s' AND indexrelname = '%s'"
                            .formatted(SCHEMA.name(), index))) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    private static Map<String, Long> sequentialScans(HikariDataSource one) throws SQLException {
        Map<String, Long> scans = new LinkedHashMap<>();
        try (Connection connection = one.getConnection();
                Statement statement = connection.createStatement()) {
            TestServer.reportStatistics(connection);
            try (ResultSet rows = statement.executeQuery(
                    "SELECT relname, seq_scan FROM pg_stat_user_tables WHERE schemaname = '%s' AND relname IN ('run', 'journal', 'object', 'object_call', 'object_state', 'event', 'held', 'ready', 'timer', 'mail', 'permit', 'limiter_rate', 'awakeable', 'subscription', 'publication', 'start_key')"
                            .formatted(SCHEMA.name()))) {
                while (rows.next()) {
                    scans.put(rows.getString(1), rows.getLong(2));
                }
            }
        }
        return scans;
    }
}

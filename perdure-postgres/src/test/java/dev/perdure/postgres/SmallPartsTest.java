package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.postgres.hint.Notice;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Columns;
import dev.perdure.postgres.jdbc.SqlState;
import dev.perdure.postgres.jdbc.Text;
import dev.perdure.postgres.work.Watermark;
import dev.perdure.postgres.write.Belief;
import dev.perdure.postgres.write.change.AwaitedText;
import dev.perdure.postgres.write.change.Keys;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Hints.Hint;
import dev.perdure.spi.change.Awaited;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.shard.Partitions;
import java.sql.SQLException;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The parts that need no database. */
final class SmallPartsTest {
    @Test
    void sql_states_have_one_table() {
        assertThat(of("08006")).isEqualTo(SqlState.RECONNECT);
        assertThat(of("57P01")).isEqualTo(SqlState.RECONNECT);
        assertThat(SqlState.of(new SQLException("pool is empty"))).isEqualTo(SqlState.RECONNECT);
        assertThat(of("40001")).isEqualTo(SqlState.RERUN);
        assertThat(of("40P01")).isEqualTo(SqlState.RERUN);
        assertThat(of("53100")).isEqualTo(SqlState.PAUSE);
        assertThat(of("25006")).isEqualTo(SqlState.PAUSE);
        assertThat(of("57P03")).isEqualTo(SqlState.PAUSE);
        assertThat(of("55P03")).isEqualTo(SqlState.LOCKED);
        assertThat(of("57014")).isEqualTo(SqlState.CAPPED);
        assertThat(of("22021")).isEqualTo(SqlState.DATA);
        assertThat(of("23505")).isEqualTo(SqlState.UNFORESEEN);
        assertThat(of("23514")).isEqualTo(SqlState.DATA);
        assertThat(of("54000")).isEqualTo(SqlState.DATA);
        assertThat(of("0A000")).isEqualTo(SqlState.GIVE_UP);
        assertThat(of("42501")).isEqualTo(SqlState.GIVE_UP);
        assertThat(of("28P01")).isEqualTo(SqlState.GIVE_UP);
        assertThat(of("3D000")).isEqualTo(SqlState.GIVE_UP);
    }

    private static SqlState of(String state) {
        return SqlState.of(new SQLException("x", state));
    }

    @Test
    void codes_and_constants_match_both_ways() {
        for (RunState state : RunState.values()) {
            assertThat(Codes.state(Codes.of(state))).isEqualTo(state);
        }
        for (Entry.Kind kind : EnumSet.complementOf(EnumSet.of(Entry.Kind.UNKNOWN))) {
            assertThat(Codes.kind(Codes.of(kind))).isEqualTo(kind);
        }
        for (Channel.Kind kind : Channel.Kind.values()) {
            assertThat(Codes.channel(Codes.of(kind))).isEqualTo(kind);
        }
        for (Entry.Status status : EnumSet.complementOf(EnumSet.of(Entry.Status.UNKNOWN))) {
            assertThat(Codes.status(Codes.of(status))).isEqualTo(status);
            assertThat(Codes.recordedStatus(Codes.of(status))).isEqualTo(status);
        }
    }

    @Test
    void any_text_a_program_can_hold_becomes_storable() {
        assertThat(Text.storable("plain ü \uD83D\uDE00")).isEqualTo("plain ü \uD83D\uDE00");
        assertThat(Text.storable("a\0b\uD800c")).isEqualTo("a\uFFFDb\uFFFDc");
        assertThat(Text.storable("x".repeat(10_000))).hasSize(2_001).endsWith("…");
        assertThat(Text.storableOrNull("")).isNull();
    }

    @Test
    void notices_are_bounded_and_read_back() {
        WorkerId worker = new WorkerId(UUID.randomUUID());
        List<Hint> hints = List.of(
                new Hints.WorkReady(),
                new Hints.WorkerSignalled(worker),
                new Hints.MailArrived(worker, 1L << 40, 3, 2, 7, null),
                new Hints.LeaseInDoubt(),
                new Hints.RunShows(RunId.of("order 41 ü")),
                new Hints.RunEnded(RunId.of("order 42 ü")));
        assertThat(heard(hints.stream().map(Notice::line)).hints()).isEqualTo(hints);
        assertThat(heard(hints.stream().map(Notice::line)).watching()).isFalse();
        assertThat(heard(Stream.of(Notice.WATCHING)).watching()).isTrue();

        List<String> many = IntStream.range(0, 5_000)
                .mapToObj(i -> Notice.line(new Hints.RunEnded(RunId.of("\u6f22".repeat(150) + i))))
                .toList();
        assertThat(Notice.written("a", many))
                .hasSizeLessThanOrEqualTo(16)
                .allSatisfy(notice -> assertThat(notice.getBytes(java.nio.charset.StandardCharsets.UTF_8))
                        .hasSizeLessThan(8_000));
        assertThat(Notice.read("b", "a\nready\nnews from the future\nworker x").hints())
                .containsExactly(new Hints.WorkReady());
    }

    private static Notice.Heard heard(Stream<String> lines) {
        return Notice.read("b", Notice.written("a", lines.toList()).getFirst());
    }

    @Test
    void calls_in_a_row_are_awaited_as_one_range() {
        Set<Channel> channels =
                Set.of(Channel.answer(9), Channel.answer(3), Channel.answer(4), Channel.answer(5), Channel.answer(7));
        assertThat(AwaitedText.positions(new Awaited(channels, 5))).isEqualTo("{[3,5],[7,7],[9,9]}");
        assertThat(AwaitedText.positions(Awaited.NOTHING)).isNull();
    }

    @Test
    void names_that_are_awaited_are_an_array_whatever_is_in_them() {
        assertThat(AwaitedText.names(new Awaited(Set.of(Channel.message("a \"b\" \\ {c},d")), 1)))
                .isEqualTo("{\"m:a \\\"b\\\" \\\\ {c},d\"}");
        assertThat(AwaitedText.names(new Awaited(Set.of(Channel.promise("paid"), Channel.answer(1)), 1)))
                .isEqualTo("{\"p:paid\"}");
        assertThat(AwaitedText.names(Awaited.NOTHING)).isNull();
    }

    private static NewRun run(String id) {
        return new NewRun(RunId.of(id), "order", Payload.EMPTY, 1, "default", 0, null, null);
    }

    @Test
    void partitions_fill_the_low_byte_of_the_key() {
        long key = Keys.key(7, run("order-42"));
        assertThat(key & 0xFF).isEqualTo(Partitions.of(RunId.of("order-42")));
        assertThat(key >> 8).isEqualTo(7);
        assertThat(Keys.answers(key)).isFalse();
        assertThat(IntStream.range(0, 10_000)
                        .map(i -> Partitions.of(RunId.of("order-" + i)))
                        .distinct())
                .hasSize(256);
    }

    @Test
    void the_partition_of_a_child_follows_from_its_id_alone() {
        long parent = Keys.key(7, run("order-42"));
        RunRef order = new RunRef(RunId.of("order-42"), parent);
        for (boolean answers : List.of(true, false)) {
            long child = Keys.key(8, run("order-42/1-0a1b2c3d4e5f").withParent(new Parent(order, 1, answers)));
            assertThat(Keys.partition(child)).isEqualTo(Keys.partition(parent));
            assertThat(Keys.answers(child)).isEqualTo(answers);
            assertThat(Keys.partition(Keys.key(8, run("parcel-7").withParent(new Parent(order, 1, answers)))))
                    .isEqualTo(Partitions.of(RunId.of("parcel-7")))
                    .isNotEqualTo(Keys.partition(parent));
        }
    }

    @Test
    void claims_begin_at_the_beginning_until_that_was_slow_for_a_while() {
        Watermark watermark = new Watermark();
        List<String> anyVersion = List.of("");
        Poll poll = new Poll(new WorkerId(UUID.randomUUID()), Set.of("a"), Set.of("q"), null, 10, true);
        Watermark.Floor reached = new Watermark.Floor(-1, Instant.parse("2026-01-01T00:00:00Z"), true);
        for (int i = 0; i < 3; i++) {
            assertThat(watermark.floor(poll, anyVersion)).isEqualTo(Watermark.Floor.BEGINNING);
            watermark.saw(poll, anyVersion, Watermark.Floor.BEGINNING, reached, 10, 10_000_000);
        }
        Watermark.Floor floor = watermark.floor(poll, anyVersion);
        assertThat(floor.rank()).isEqualTo(-1);
        assertThat(floor.since()).isBefore(reached.since());
        assertThat(watermark.floor(new Poll(poll.worker(), Set.of("b"), Set.of("q"), null, 10, true), anyVersion))
                .isEqualTo(Watermark.Floor.BEGINNING);

        watermark.saw(
                poll, anyVersion, floor, new Watermark.Floor(-7, reached.since().plusSeconds(9), true), 1, 100);
        assertThat(watermark.floor(poll, anyVersion))
                .as("something urgent does not move it back")
                .isEqualTo(floor);
        watermark.saw(
                poll, anyVersion, floor, new Watermark.Floor(-1, reached.since().plusSeconds(9), true), 1, 100);
        assertThat(watermark.floor(poll, anyVersion).since()).isAfter(floor.since());
        assertThat(watermark.floor(poll, anyVersion).urgentToo()).isTrue();
        watermark.saw(poll, anyVersion, floor, reached, 1, 10_000_000);
        assertThat(watermark.floor(poll, anyVersion).urgentToo())
                .as("what is urgent has to be waded for")
                .isFalse();

        watermark.saw(poll, anyVersion, Watermark.Floor.BEGINNING, reached, 10, 100);
        assertThat(watermark.floor(poll, anyVersion)).isEqualTo(Watermark.Floor.BEGINNING);
    }

    @Test
    void a_belief_that_was_wrong_rests_and_the_next_time_for_longer() {
        Belief belief = Belief.tried();
        assertThat(batchesUntilWorthwhile(belief)).isZero();
        belief.proved(false);
        assertThat(batchesUntilWorthwhile(belief)).isEqualTo(16);
        belief.proved(false);
        assertThat(batchesUntilWorthwhile(belief)).isEqualTo(32);
        belief.proved(true);
        assertThat(batchesUntilWorthwhile(belief)).isZero();
        belief.proved(false);
        assertThat(batchesUntilWorthwhile(belief)).isEqualTo(16);
    }

    @Test
    void a_belief_that_others_judge_rests_until_they_find_it_right() {
        Belief belief = Belief.judged(true);
        assertThat(belief.isWorthwhile()).isTrue();
        belief.proved(false);
        for (int batch = 0; batch < 1_000; batch++) {
            assertThat(belief.isWorthwhile()).isFalse();
        }
        belief.proved(true);
        assertThat(belief.isWorthwhile()).isTrue();
        assertThat(Belief.judged(false).isWorthwhile()).isFalse();
    }

    private static int batchesUntilWorthwhile(Belief belief) {
        int batches = 0;
        while (!belief.isWorthwhile()) {
            batches++;
        }
        return batches;
    }

    /** What a row of the next test is made of. */
    private record Parcel(long key, String name) {}

    @Test
    void columns_make_the_relation_of_many_rows_and_of_one() {
        Columns<Parcel> columns =
                Columns.<Parcel>of().bigint("key", Parcel::key).text("name", Parcel::name);
        assertThat(columns.many("g")).isEqualTo("(SELECT unnest(?::bigint[]) AS key, unnest(?::text[]) AS name) AS g");
        assertThat(columns.numbered("g"))
                .isEqualTo("unnest(?::bigint[], ?::text[]) WITH ORDINALITY AS g (key, name, ordinal)");
        assertThat(columns.one("g")).isEqualTo("(SELECT ?::bigint AS key, ?::text AS name) AS g");
        assertThat(columns.smallint("state", parcel -> 1).names()).isEqualTo("key, name, state");
    }

    @Test
    void columns_that_are_null_in_all_rows_are_not_passed() {
        Columns<Parcel> names =
                Columns.<Parcel>of().text("name", parcel -> parcel.name().isEmpty() ? null : parcel.name());
        Columns<Parcel> columns =
                Columns.<Parcel>of().bigint("key", Parcel::key).with(names.empty());
        assertThat(columns.many("g")).isEqualTo("(SELECT unnest(?::bigint[]) AS key, NULL::text AS name) AS g");
        assertThat(columns.one("g")).isEqualTo("(SELECT ?::bigint AS key, NULL::text AS name) AS g");
        assertThat(columns.names()).isEqualTo("key, name");
        assertThatIllegalStateException().isThrownBy(() -> columns.numbered("g"));
        assertThat(names.isEmpty(new Parcel(1, ""))).isTrue();
        assertThat(names.isEmpty(new Parcel(1, "one"))).isFalse();
    }
}

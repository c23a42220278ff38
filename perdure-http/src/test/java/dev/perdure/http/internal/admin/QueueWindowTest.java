package dev.perdure.http.internal.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.http.internal.admin.QueueWindow.Line;
import dev.perdure.http.internal.admin.QueueWindow.Point;
import dev.perdure.queue.Queue;
import dev.perdure.queue.QueueInfo;
import dev.perdure.queue.QueueInfo.Load;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What is kept of the answers about queues. */
class QueueWindowTest {
    private static final Instant BEGINNING = Instant.parse("2026-01-01T00:00:00Z");

    private Instant now = BEGINNING;
    private final QueueWindow window = new QueueWindow(() -> now);

    private static QueueInfo queue(String name, long waiting) {
        return new QueueInfo(
                Queue.named(name),
                Queue.named(name),
                Optional.empty(),
                new Load(waiting, Optional.empty(), 1, 0, 0),
                true);
    }

    private void saw(int second, QueueInfo... queues) {
        now = BEGINNING.plusSeconds(second);
        window.saw(List.of(queues));
    }

    private static Point point(int second, long waiting) {
        return new Point(BEGINNING.plusSeconds(second), waiting, 1);
    }

    @Test
    void points_that_are_close_are_one_and_the_last_one_is_there() {
        assertThat(window.lines()).isEmpty();
        for (int second = 0; second <= 20; second++) {
            saw(second, queue("imports", second));
        }
        assertThat(window.lines())
                .containsExactly(new Line("imports", List.of(point(0, 0), point(14, 14), point(20, 20))));
    }

    @Test
    void what_was_seen_is_old_after_fifteen_seconds() {
        assertThat(window.isOld()).isTrue();
        saw(0, queue("imports", 1));
        now = BEGINNING.plusSeconds(15);
        assertThat(window.isOld()).isFalse();
        now = now.plusMillis(1);
        assertThat(window.isOld()).isTrue();
    }

    @Test
    void a_queue_that_is_gone_is_forgotten_after_an_hour() {
        saw(0, queue("imports", 1), queue("mail", 2));
        saw(3_600, queue("mail", 3));
        assertThat(window.lines()).hasSize(2);
        saw(3_601, queue("mail", 4));
        assertThat(window.lines()).containsExactly(new Line("mail", List.of(point(3_600, 3), point(3_601, 4))));
    }

    @Test
    void the_number_of_queues_is_bounded() {
        saw(0, IntStream.range(0, 300).mapToObj(i -> queue("queue-" + i, i)).toArray(QueueInfo[]::new));
        assertThat(window.lines()).hasSize(200);
    }

    private void seeOneHour(int queues) {
        for (int second = 0; second <= 3_600; second += 15) {
            int waiting = second;
            saw(
                    second,
                    IntStream.range(0, queues)
                            .mapToObj(i -> queue("queue-" + i, waiting))
                            .toArray(QueueInfo[]::new));
        }
    }

    @Test
    void an_answer_about_many_queues_has_fewer_points_of_each() {
        seeOneHour(200);
        assertThat(window.lines()).hasSize(200).allSatisfy(line -> {
            assertThat(line.points()).hasSizeBetween(20, 24);
            assertThat(line.points().getLast()).isEqualTo(point(3_600, 3_600));
            assertThat(line.points().getFirst().at()).isBefore(BEGINNING.plusSeconds(180));
        });
        assertThat(window.line("queue-7"))
                .singleElement()
                .satisfies(line -> assertThat(line.points()).hasSizeGreaterThan(230));
        assertThat(window.line("nobody")).isEmpty();
    }

    @Test
    void an_answer_about_few_queues_has_all_points() {
        seeOneHour(3);
        assertThat(window.lines())
                .hasSize(3)
                .allSatisfy(line -> assertThat(line.points()).hasSizeGreaterThan(230));
    }

    @Test
    void queues_that_come_later_find_no_room_until_others_are_forgotten() {
        saw(0, IntStream.range(0, 200).mapToObj(i -> queue("queue-" + i, i)).toArray(QueueInfo[]::new));
        saw(60, queue("late", 1));
        assertThat(window.line("late")).isEmpty();
        saw(3_601, queue("late", 2));
        saw(3_602, queue("late", 3));
        assertThat(window.line("late")).isNotEmpty();
    }
}

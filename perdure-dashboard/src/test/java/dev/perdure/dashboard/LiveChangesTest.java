package dev.perdure.dashboard;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.perdure.http.exchange.ApiResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** One question in a period for all open pages. The test gives each answer of the store, so it counts the questions. */
class LiveChangesTest {
    private static final String ALIVE = ": alive\n\n";
    private static final String CHANGED = "event: changed\ndata: {}\n\n";
    private static final String OUT_OF_REACH = "";
    private static final Duration PERIOD = Duration.ofMillis(20);
    private static final int UNTIL_SIGN_OF_LIFE = 4;

    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final AtomicInteger questions = new AtomicInteger();
    private final LiveChanges changes = new LiveChanges(this::answer, PERIOD);
    private final List<Thread> streams = new ArrayList<>();

    @AfterEach
    void close() throws InterruptedException {
        changes.close();
        answers.add("the end");
        for (Thread stream : streams) {
            assertThat(stream.join(Duration.ofSeconds(10))).isTrue();
        }
    }

    private String answer() {
        questions.incrementAndGet();
        try {
            String answer = answers.poll(20, TimeUnit.SECONDS);
            if (answer == null || answer.equals(OUT_OF_REACH)) {
                throw new IllegalStateException("The store is out of reach.");
            }
            return answer;
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(stopped);
        }
    }

    private BlockingQueue<String> open() {
        BlockingQueue<String> got = new LinkedBlockingQueue<>();
        follow(part -> got.add(new String(part, UTF_8)), got);
        return got;
    }

    private void follow(ApiResponse.Sink sink, BlockingQueue<String> got) {
        streams.add(Thread.ofVirtual().start(() -> {
            try {
                changes.writeTo(sink);
            } catch (IOException | InterruptedException ended) {
                got.add("ended");
            }
        }));
    }

    private static String next(BlockingQueue<String> stream) throws InterruptedException {
        return stream.poll(20, TimeUnit.SECONDS);
    }

    @Test
    void all_pages_hear_of_a_change_by_one_question() throws InterruptedException {
        List<BlockingQueue<String>> pages = List.of(open(), open(), open());
        for (BlockingQueue<String> page : pages) {
            assertThat(next(page)).isEqualTo(ALIVE);
        }
        for (String answer : List.of("0", "1")) { // the first answer differs from none
            answers.add(answer);
            for (BlockingQueue<String> page : pages) {
                assertThat(next(page)).isEqualTo(CHANGED);
            }
        }
        assertThat(questions.get()).isBetween(2, 3); // the third one may be on its way
    }

    @Test
    void where_many_pages_are_open_they_take_turns_and_none_is_forgotten() throws InterruptedException {
        int rounds = UNTIL_SIGN_OF_LIFE + 2; // the last ones get a sign of life before their turn
        List<BlockingQueue<String>> pages = new ArrayList<>();
        for (int i = 0; i < rounds * LiveChanges.MOST_TOLD; i++) {
            pages.add(open());
        }
        for (BlockingQueue<String> page : pages) {
            assertThat(next(page)).isEqualTo(ALIVE);
        }
        for (int round = 1; round <= rounds; round++) {
            answers.add("the same change");
            int told = round * LiveChanges.MOST_TOLD;
            await().until(() ->
                    pages.stream().filter(page -> page.contains(CHANGED)).count() == told);
        }
    }

    @Test
    void a_page_gets_signs_of_life_while_nothing_changes() throws InterruptedException {
        BlockingQueue<String> page = open();
        assertThat(next(page)).isEqualTo(ALIVE);
        answers.add("0");
        assertThat(next(page)).isEqualTo(CHANGED);
        for (int i = 0; i < UNTIL_SIGN_OF_LIFE; i++) {
            assertThat(page).isEmpty();
            answers.add("0");
        }

        assertThat(next(page)).isEqualTo(ALIVE);
    }

    @Test
    void the_last_change_is_told_once_more() throws InterruptedException {
        BlockingQueue<String> page = open();
        for (int i = 0; i < 1 + LiveChanges.ONCE_MORE + UNTIL_SIGN_OF_LIFE; i++) {
            answers.add("0");
        }
        await().until(answers::isEmpty);
        changes.close();

        assertThat(page.stream().filter(CHANGED::equals).count()).isEqualTo(2);
    }

    @Test
    void a_page_hears_nothing_while_the_store_does_not_answer_and_of_the_change_afterwards()
            throws InterruptedException {
        BlockingQueue<String> page = open();
        assertThat(next(page)).isEqualTo(ALIVE);
        answers.add("0");
        assertThat(next(page)).isEqualTo(CHANGED);
        for (int i = 0; i < 2 * UNTIL_SIGN_OF_LIFE; i++) {
            answers.add(OUT_OF_REACH);
        }
        answers.add("1");

        assertThat(next(page)).isEqualTo(CHANGED);
    }

    @Test
    void a_question_is_asked_once_in_a_period() {
        long begin = System.nanoTime();
        open();
        answers.addAll(List.of("0", "1", "2"));
        await().until(answers::isEmpty);

        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThanOrEqualTo(PERIOD.multipliedBy(3));
    }

    @Test
    void nothing_is_asked_without_a_page() throws InterruptedException {
        BlockingQueue<String> gone = new LinkedBlockingQueue<>();
        follow(
                part -> {
                    gone.add(new String(part, UTF_8));
                    if (gone.size() == 2) {
                        throw new IOException("The client is gone.");
                    }
                },
                gone);
        answers.add("0");
        await().until(() -> gone.contains("ended"));
        answers.add("0"); // a question may be on its way
        await().until(() -> !changes.isAsking());
        int before = questions.get();
        answers.clear();

        BlockingQueue<String> page = open(); // begins to ask again
        assertThat(next(page)).isEqualTo(ALIVE);
        answers.add("2");
        assertThat(next(page)).isEqualTo(CHANGED);
        assertThat(questions.get()).isGreaterThan(before);
    }
}

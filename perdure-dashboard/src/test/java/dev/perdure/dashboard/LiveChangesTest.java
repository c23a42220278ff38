package dev.perdure.dashboard;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** One question a second for all open pages. */
class LiveChangesTest {
    private static final String CHANGED = "event: changed\ndata: {}\n\n";

    private final AtomicInteger questions = new AtomicInteger();
    private final AtomicReference<String> mark = new AtomicReference<>("0");
    private final LiveChanges changes = new LiveChanges(() -> {
        questions.incrementAndGet();
        String answer = mark.get();
        if (answer.isEmpty()) {
            throw new IllegalStateException("The store is out of reach.");
        }
        return answer;
    });
    private final List<Thread> streams = new ArrayList<>();

    @AfterEach
    void close() throws InterruptedException {
        changes.close();
        for (Thread stream : streams) {
            assertThat(stream.join(Duration.ofSeconds(10))).isTrue();
        }
    }

    private BlockingQueue<String> open() {
        BlockingQueue<String> got = new LinkedBlockingQueue<>();
        streams.add(Thread.ofVirtual().start(() -> {
            try {
                changes.writeTo(part -> got.add(new String(part, UTF_8)));
            } catch (IOException | InterruptedException ended) {
                got.add("ended");
            }
        }));
        return got;
    }

    private static String next(BlockingQueue<String> stream) throws InterruptedException {
        return stream.poll(20, TimeUnit.SECONDS);
    }

    @Test
    void all_pages_hear_of_a_change_by_one_question() throws InterruptedException {
        List<BlockingQueue<String>> pages = List.of(open(), open(), open());
        for (BlockingQueue<String> page : pages) {
            assertThat(next(page)).isEqualTo(": alive\n\n");
            assertThat(next(page)).isEqualTo(CHANGED); // the first answer differs from none
        }
        int before = questions.get();
        mark.set("1");

        for (BlockingQueue<String> page : pages) {
            assertThat(next(page)).isEqualTo(CHANGED);
        }
        assertThat(questions.get() - before).isBetween(1, 3);
    }

    @Test
    void a_page_gets_signs_of_life_while_nothing_changes() throws InterruptedException {
        BlockingQueue<String> page = open();
        assertThat(next(page)).isEqualTo(": alive\n\n");
        assertThat(next(page)).isEqualTo(CHANGED);

        assertThat(next(page)).isEqualTo(": alive\n\n");
    }

    @Test
    void a_page_hears_nothing_while_the_store_does_not_answer_and_of_the_change_afterwards()
            throws InterruptedException {
        BlockingQueue<String> page = open();
        assertThat(next(page)).isEqualTo(": alive\n\n");
        assertThat(next(page)).isEqualTo(CHANGED);
        mark.set("");
        int before = questions.get();
        await().until(() -> questions.get() >= before + 6); // longer than until a sign of life
        assertThat(page).isEmpty();

        mark.set("1");
        assertThat(next(page)).isEqualTo(CHANGED);
    }

    @Test
    void nothing_is_asked_without_a_page() throws InterruptedException {
        BlockingQueue<String> gone = new LinkedBlockingQueue<>();
        streams.add(Thread.ofVirtual().start(() -> {
            try {
                changes.writeTo(part -> {
                    gone.add(new String(part, UTF_8));
                    if (gone.size() == 2) {
                        throw new IOException("The client is gone.");
                    }
                });
            } catch (IOException | InterruptedException ended) {
                gone.add("ended");
            }
        }));
        await().until(() -> gone.contains("ended"));
        await().until(() -> !changes.isAsking());
        int before = questions.get();

        BlockingQueue<String> page = open(); // begins to ask again
        assertThat(next(page)).isEqualTo(": alive\n\n");
        mark.set("2");
        assertThat(next(page)).isEqualTo(CHANGED);
        assertThat(questions.get()).isGreaterThan(before);
    }
}

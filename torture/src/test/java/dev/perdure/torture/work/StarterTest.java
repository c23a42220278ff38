package dev.perdure.torture.work;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.error.RunConflictException;
import dev.perdure.error.StoreException;
import dev.perdure.memory.MemoryStore;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** No piece stays in doubt, and no workload ends unnoticed: the checker counts on both. */
@Timeout(30)
class StarterTest {
    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch answered = new CountDownLatch(1);

    /** Work whose first start does not come back with an answer. */
    private final class Work implements Workload {
        private final RuntimeException first;

        Work(RuntimeException first) {
            this.first = first;
        }

        @Override
        public String name() {
            return "work";
        }

        @Override
        public void register(PerdureBuilder worker, Parts parts) {}

        @Override
        public void start(Perdure client, Parts parts, int number) {
            if (asked.getCount() > 0) {
                asked.countDown();
                await().until(() -> answered.getCount() == 0);
                throw first;
            }
        }

        @Override
        public List<String> violations(Seen seen) {
            return List.of();
        }
    }

    private List<String> stoppedDuringItsFirstStart(Starter starter) throws Exception {
        asked.await();
        CompletableFuture<List<String>> trouble = new CompletableFuture<>();
        Thread stopping = Thread.ofVirtual().start(() -> {
            try {
                trouble.complete(starter.stop());
            } catch (InterruptedException interrupted) {
                trouble.completeExceptionally(interrupted);
            }
        });
        await().until(() -> stopping.getState() == Thread.State.TIMED_WAITING);
        answered.countDown();
        return trouble.get();
    }

    @Test
    void a_start_whose_answer_was_lost_is_repeated_before_the_starts_stop() throws Exception {
        try (MemoryStore store = new MemoryStore();
                Perdure client = Perdure.on(store).client()) {
            StoreException lost = new StoreException(StoreException.Kind.UNAVAILABLE, "The answer was lost.", null);
            Starter starter = new Starter(new Work(lost), client, new Workload.Parts(null, null), Starter.BETWEEN);
            assertThat(stoppedDuringItsFirstStart(starter)).isEmpty();
            assertThat(starter.acknowledged()).isEqualTo(1);
        }
    }

    @Test
    void a_workload_that_cannot_be_started_is_reported() throws Exception {
        try (MemoryStore store = new MemoryStore();
                Perdure client = Perdure.on(store).client()) {
            IllegalStateException broken = new IllegalStateException("The workload is broken.");
            Starter starter = new Starter(new Work(broken), client, new Workload.Parts(null, null), Starter.BETWEEN);
            assertThat(stoppedDuringItsFirstStart(starter))
                    .containsExactly(
                            "The starts of 'work' have ended: java.lang.IllegalStateException: The workload is broken.");
        }
    }

    @Test
    void a_start_that_is_refused_as_a_conflict_with_itself_is_reported() throws Exception {
        try (MemoryStore store = new MemoryStore();
                Perdure client = Perdure.on(store).client()) {
            RunConflictException conflict = new RunConflictException("Run 'work-0' has another input.");
            Starter starter = new Starter(new Work(conflict), client, new Workload.Parts(null, null), Starter.BETWEEN);
            assertThat(stoppedDuringItsFirstStart(starter))
                    .containsExactly("A start of 'work' was refused as a conflict with itself: "
                            + "Run 'work-0' has another input.");
        }
    }
}

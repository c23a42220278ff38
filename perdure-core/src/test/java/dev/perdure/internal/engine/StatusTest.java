package dev.perdure.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.StartOptions;
import dev.perdure.memory.MemoryStore;
import dev.perdure.status.Finding;
import dev.perdure.status.StoreStatus;
import org.junit.jupiter.api.Test;

class StatusTest {
    private static final Definition<String, String> ECHO =
            Definition.of("echo", String.class, String.class, (ctx, in) -> in);

    @Test
    void ready_runs_without_a_worker_are_a_finding_that_names_the_oldest() {
        MemoryStore store = new MemoryStore();
        try (Perdure client = Perdure.on(store).client()) {
            client.start(Invocation.of(ECHO, "x"), StartOptions.id("first"));
            client.start(Invocation.of(ECHO, "x"), StartOptions.id("second"));
            client.start(Invocation.of(ECHO, "x"), StartOptions.id("third")).pause("to look at it");
            StoreStatus status = client.status();
            assertThat(status.workers()).isZero();
            assertThat(status.runs())
                    .extracting(runs -> runs.state() + " " + runs.count() + " " + runs.oldest())
                    .containsExactly("READY 2 first", "PAUSED 1 third");
            assertThat(status.findings()).singleElement().satisfies(finding -> {
                assertThat(finding.kind()).isEqualTo(Finding.Kind.NO_WORKER);
                assertThat(finding.what())
                        .startsWith("No worker is alive. Ready runs wait: 2, the oldest, 'first', since ");
                assertThat(finding.remedy()).contains("Start a process with a worker");
            });
        }
    }

    @Test
    void with_a_worker_nothing_is_wrong() {
        MemoryStore store = new MemoryStore();
        try (Perdure worker = Perdure.on(store).register(ECHO).start()) {
            worker.start(Invocation.of(ECHO, "x")).result();
            StoreStatus fresh = worker.status();
            assertThat(fresh.workers()).isEqualTo(1);
            assertThat(fresh.findings()).isEmpty();
            assertThat(fresh.runs()).isEmpty();
            assertThat(fresh.removal().due()).isZero();
        }
    }
}

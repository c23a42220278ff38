package dev.perdure.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.History;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Store;
import dev.perdure.testing.HistoryMismatchError;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The versions of a workflow that {@code docs/guides/versioning.md} quotes. */
class VersioningTest {
    private final List<String> done = new CopyOnWriteArrayList<>();

    // region before
    final Definition<String, String> before = Definition.of("parcel", String.class, String.class, (ctx, parcel) -> {
        ctx.step("pack", () -> done.add("pack"));
        ctx.sleep(Duration.ofDays(1));
        ctx.step("send", () -> done.add("send"));
        return parcel;
    });
    // endregion

    final Definition<String, String> unguarded = Definition.of("parcel", String.class, String.class, (ctx, parcel) -> {
        ctx.step("weigh", () -> done.add("weigh"));
        ctx.step("pack", () -> done.add("pack"));
        ctx.sleep(Duration.ofDays(1));
        ctx.step("send", () -> done.add("send"));
        return parcel;
    });

    // region patched
    final Definition<String, String> patched = Definition.of("parcel", String.class, String.class, (ctx, parcel) -> {
        if (ctx.patched("weigh first")) { // false for runs that have already passed this line
            ctx.step("weigh", () -> done.add("weigh"));
        }
        ctx.step("pack", () -> done.add("pack"));
        ctx.sleep(Duration.ofDays(1));
        ctx.step("send", () -> done.add("send"));
        return parcel;
    });
    // endregion

    // region cleaned
    final Definition<String, String> cleaned = Definition.of("parcel", String.class, String.class, (ctx, parcel) -> {
        ctx.step("weigh", () -> done.add("weigh")); // a replay skips the entry of the patch
        ctx.step("pack", () -> done.add("pack"));
        ctx.sleep(Duration.ofDays(1));
        ctx.step("send", () -> done.add("send"));
        return parcel;
    });
    // endregion

    // region check
    @Test
    void the_code_fits_the_runs_of_production() {
        try (PerdureTest perdure = PerdureTest.create()) {
            perdure.register(patched);
            perdure.check(History.read(Path.of("src/test/resources/parcels.jsonl")));
        }
    }
    // endregion

    @Test
    void the_check_finds_the_change_that_is_not_guarded() {
        List<History> histories = History.read(Path.of("src/test/resources/parcels.jsonl"));
        try (PerdureTest perdure = PerdureTest.create()) {
            perdure.register(unguarded);
            assertThatThrownBy(() -> perdure.check(histories))
                    .isInstanceOf(HistoryMismatchError.class)
                    .hasMessage("""
                            2 of 2 histories do not fit this code:
                            - The code does not fit the journal of run 'parcel-2' at position 1: recorded is step 'pack', the code asked for step 'weigh'. Guard the change with ctx.patched(…), or deploy it as another version, to which runs are pinned.
                            - The code does not fit the journal of run 'parcel-1' at position 1: recorded is step 'pack', the code asked for step 'weigh'. Guard the change with ctx.patched(…), or deploy it as another version, to which runs are pinned.""");
        }
        assertThat(done).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void an_unguarded_change_pauses_old_runs_until_the_old_code_is_back(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(before);
            Run<String> run = perdure.start(Invocation.of(before, "p-1"));
            perdure.settle();
            perdure.deploy(unguarded);
            perdure.advance(Duration.ofDays(1));
            assertThat(run.info().reason().orElseThrow())
                    .contains("at position 1: recorded is step 'pack', the code asked for step 'weigh'");
            assertThat(done).containsExactly("pack");

            perdure.deploy(before);
            run.resume();
            assertThat(run.result()).isEqualTo("p-1");
        }
    }

    // region test
    @ParameterizedTest
    @EnumSource
    void old_runs_end_the_old_way_and_new_runs_go_the_new_way(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(before);
            Run<String> old = perdure.start(Invocation.of(before, "p-1"));
            perdure.settle(); // the order is packed and sleeps
            perdure.deploy(patched);
            assertThat(old.result()).isEqualTo("p-1");
            assertThat(done).containsExactly("pack", "send");

            assertThat(perdure.start(Invocation.of(patched, "p-2")).result()).isEqualTo("p-2");
            assertThat(done).containsExactly("pack", "send", "weigh", "pack", "send");
        }
    }
    // endregion

    @ParameterizedTest
    @EnumSource
    void the_patch_can_go_when_the_old_runs_are_gone(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(patched);
            Run<String> run = perdure.start(Invocation.of(patched, "p-2"));
            perdure.settle();
            perdure.deploy(cleaned);
            assertThat(run.result()).isEqualTo("p-2");
            assertThat(run.state()).isEqualTo(RunState.COMPLETED);
            assertThat(done).containsExactly("weigh", "pack", "send");
        }
    }

    @Test
    void a_pinned_run_waits_for_a_worker_of_its_version() {
        Store store = new MemoryStore();
        Definition<String, String> echo = Definition.of("echo", String.class, String.class, (ctx, text) -> text);
        // region pinned
        try (Perdure old = Perdure.on(store).register(echo).version("v1").start()) {
            Run<String> run = old.start(
                    Invocation.of(echo, "hello"), StartOptions.id("e-1").version("v2"));
            assertThat(run.state()).isEqualTo(RunState.READY);
            assertThat(run.info().reason()).hasValue("No live worker has the definition 'echo' in version 'v2'.");
            try (Perdure next = Perdure.on(store).register(echo).version("v2").start()) {
                assertThat(next.run(run.id(), TypeRef.of(String.class)).result())
                        .isEqualTo("hello");
            }
        }
        // endregion
    }
}

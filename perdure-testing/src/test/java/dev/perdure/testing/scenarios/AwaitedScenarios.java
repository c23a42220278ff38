package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.ChildOptions;
import dev.perdure.Definition;
import dev.perdure.DurableFuture;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.error.ResultUnavailableException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The info of a waiting run lists what it waits for. */
abstract class AwaitedScenarios extends Scenarios {
    private static final Topic<String> PAID = Topic.of("paid", String.class);
    private static final Topic<String> APPROVAL = Topic.of("approval", String.class);
    private static final Topic<String> STOCK = Topic.of("stock", String.class);

    @ParameterizedTest
    @EnumSource
    void a_waiting_run_says_for_what_until_it_has_come(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> child =
                    workflow("child", (ctx, in) -> ctx.receive(PAID).await());
            Definition<String, String> flow = workflow("parent", (ctx, in) -> {
                var begun = ctx.startChild(Invocation.of(child, in), ChildOptions.childId("the-child"));
                var awakeable = ctx.awakeable(String.class);
                return DurableFuture.all(List.of(ctx.promise(APPROVAL), begun, awakeable, ctx.event(STOCK)))
                        .await()
                        .toString();
            });
            perdure.register(flow, child);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("p"));
            perdure.settle();
            perdure.advance(Duration.ofMinutes(1));
            assertThat(run.info().awaited())
                    .containsExactly(
                            "promise 'approval'", "run 'the-child'", "awakeable at position 2", "event 'stock'");
            assertThat(perdure.run(RunId.of("the-child"), TypeRef.of(String.class))
                            .info()
                            .awaited())
                    .containsExactly("message 'paid'");
            run.promise(APPROVAL).resolve("yes");
            perdure.emit(STOCK, "full");
            perdure.settle();
            assertThatThrownBy(() -> run.result(Duration.ofMinutes(1)))
                    .isInstanceOf(ResultUnavailableException.class)
                    .hasMessage(
                            "Run 'p' has not ended after PT1M; it is SUSPENDED: Waits for run 'the-child', awakeable at"
                                    + " position 2. It continues; wait again.");
        }
    }
}

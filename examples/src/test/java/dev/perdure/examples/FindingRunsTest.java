package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunInfo;
import dev.perdure.WorkflowContext;
import dev.perdure.attribute.Attribute;
import dev.perdure.testing.PerdureTest;
import java.util.List;
import org.junit.jupiter.api.Test;

final class FindingRunsTest {
    private static final Attribute<Number> TOTAL = Attribute.number("total");
    private static final Attribute<String> STAGE = Attribute.text("stage");

    private static final Definition<Basket, String> ORDER =
            Definition.of("basket", Basket.class, String.class, FindingRunsTest::process);

    record Basket(String customer, List<String> items, int total) {}

    // region from-inside
    static String process(WorkflowContext ctx, Basket basket) {
        ctx.attribute(TOTAL, basket.total());
        ctx.status("Waits for the payment");
        String receipt = ctx.step("charge", () -> "receipt of " + basket.customer());
        ctx.attribute(STAGE, "paid");
        ctx.status("Packs %d items".formatted(basket.items().size()));
        ctx.step("pack", () -> {});
        return receipt;
    }
    // endregion

    @Test
    void a_run_is_found_by_what_its_workflow_has_set() {
        try (PerdureTest perdure = PerdureTest.create()) {
            perdure.register(ORDER);
            Run<String> run = perdure.start(Invocation.of(ORDER, new Basket("Ada", List.of("tea"), 7)), id("o-1"));
            run.result();

            List<RunInfo> paid = perdure.runs(
                            RunFilter.all().where(STAGE.is("paid")).where(TOTAL.below(10)))
                    .list();
            assertThat(paid).extracting(RunInfo::id).containsExactly(run.id());
            assertThat(run.info().description().status()).contains("Packs 1 items");
        }
    }
}

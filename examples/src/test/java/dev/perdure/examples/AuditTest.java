package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.TypeRef;
import dev.perdure.audit.AuditEntry;
import dev.perdure.audit.AuditFilter;
import dev.perdure.audit.Operator;
import dev.perdure.testing.PerdureTest;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The code that the documentation of the audit quotes. */
class AuditTest {
    @Test
    void the_audit_says_who_cancelled_an_order() {
        Definition<String, String> order = Definition.of("order", String.class, String.class, (ctx, item) -> {
            ctx.sleep(Duration.ofDays(1));
            return item;
        });
        try (PerdureTest perdure = PerdureTest.create().register(order)) {
            Run<String> run = perdure.start(Invocation.of(order, "book"), id("order-42"));
            perdure.settle();
            // region audit
            Operator anna = Operator.named("anna").from("10.0.0.7");
            perdure.as(anna).run(run.id(), TypeRef.of(String.class)).cancel("ordered twice");
            List<AuditEntry> entries = perdure.audit().list(AuditFilter.run("order-42"));
            // endregion
            assertThat(entries)
                    .extracting(AuditEntry::text)
                    .containsExactly("CANCEL run 'order-42' by anna@10.0.0.7: ordered twice");
        }
    }
}

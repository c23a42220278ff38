package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.interceptor.Interceptor;
import dev.perdure.interceptor.SendCall;
import dev.perdure.interceptor.StartCall;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Headers of runs and of messages, as SQL shows them. */
final class HeadersIT {
    private static final Topic<String> PAID = Topic.of("paid", String.class);
    private static final Topic<String> OTHER = Topic.of("other", String.class);

    private static final Interceptor TENANTS = new Interceptor() {
        @Override
        public StartCall start(StartCall call) {
            return call.with("tenant", "acme");
        }

        @Override
        public SendCall send(SendCall call) {
            return call.with("from", "anna").with("tenant", "acme");
        }
    };

    @Test
    void views_show_the_headers_of_a_run_of_its_mail_and_of_what_it_has_received() {
        String schema = TestServer.schemaOf(HeadersIT.class);
        Definition<String, String> flow = Definition.of(
                "flow",
                String.class,
                String.class,
                (ctx, in) -> ctx.receive(PAID).await());
        try (PostgresStore store = PostgresStore.on(TestServer.plain())
                        .schema(schema)
                        .notifications(false)
                        .open();
                Perdure perdure = Perdure.on(store)
                        .register(flow)
                        .interceptor(TENANTS)
                        .warmWindow(Duration.ofMillis(1))
                        .start()) {
            Run<String> run = perdure.start(Invocation.of(flow, ""), StartOptions.id("r"));
            await().until(() -> run.state() == RunState.SUSPENDED);
            run.send(OTHER, "unread");
            assertThat(TestServer.query("SELECT headers FROM %s.runs".formatted(schema)))
                    .isEqualTo("tenant=acme");
            assertThat(TestServer.query("SELECT headers FROM %s.mails".formatted(schema)))
                    .isEqualTo("from=anna\ntenant=acme");

            run.send(PAID, "yes");
            assertThat(run.result()).isEqualTo("yes");
            assertThat(TestServer.query("SELECT headers IS NULL FROM %s.mails WHERE taken".formatted(schema)))
                    .as("the journal has them now")
                    .isEqualTo("t");
            String recorded = "SELECT payload #>> '{}' FROM %s.journals WHERE status = 'HEADERS'".formatted(schema);
            assertThat(TestServer.query(recorded)).isEqualTo("from=anna\ntenant=acme");

            TestServer.execute("UPDATE %s.journal SET payload = '\\xff' WHERE status = 7".formatted(schema));
            assertThat(TestServer.query(recorded)).as("edited by hand").isEqualTo("/w==");
            assertThat(run.history()).isNotEmpty();
        }
    }
}

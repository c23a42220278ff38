package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.PayloadException;
import dev.perdure.error.ResultUnavailableException;
import dev.perdure.error.TerminalException;
import dev.perdure.interceptor.Interceptor;
import dev.perdure.interceptor.StartCall;
import dev.perdure.interceptor.StepCall;
import dev.perdure.interceptor.WorkflowCall;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Codec;
import dev.perdure.spi.change.Payload;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/** What the page on configuration shows. */
class ConfigurationTest {
    private static final ThreadLocal<@Nullable String> TENANT = new ThreadLocal<>();

    private final BlockingQueue<String> alerts = new LinkedBlockingQueue<>();
    private final MemoryStore store = new MemoryStore();

    /** The input of a workflow. */
    public record Invoice(String customerName, int cents) {}

    /** Sends invoices. */
    public static final class Invoices {
        @Workflow("invoice")
        public String send(WorkflowContext ctx, Invoice invoice) {
            return switch (invoice.cents()) {
                case 0 -> throw new TerminalException("nothing to pay");
                case 1 -> {
                    ctx.sleep(Duration.ofDays(1));
                    yield "later";
                }
                default -> ctx.step("send", () -> "sent to " + invoice.customerName());
            };
        }

        @Workflow("tenants")
        public String tenants(WorkflowContext ctx, String what) {
            String asked =
                    ctx.stepAsync("ask", () -> what + " of " + TENANT.get()).await();
            return asked + " for " + TENANT.get();
        }
    }

    @Test
    void a_listener_raises_an_alert() throws Exception {
        Consumer<String> pager = alerts::add;
        Invoices invoices = new Invoices();
        // region listener
        Perdure perdure = Perdure.on(store)
                .register(invoices)
                .listener(change -> {
                    if (change.state() == RunState.FAILED || change.state() == RunState.PAUSED) {
                        pager.accept("%s is %s: %s"
                                .formatted(
                                        change.runId(),
                                        change.state(),
                                        change.reason().orElse("")));
                    }
                })
                .start();
        // endregion
        try (perdure) {
            perdure.start(Invoices::send, new Invoice("Ada", 0), id("i-1"));
            assertThat(alerts.poll(20, TimeUnit.SECONDS))
                    .isEqualTo("i-1 is FAILED: dev.perdure.error.TerminalException: nothing to pay");
        }
    }

    @Test
    void a_caller_waits_for_a_limited_time() {
        try (Perdure perdure = Perdure.on(store).register(new Invoices()).start()) {
            Run<String> run = perdure.start(Invoices::send, new Invoice("Ada", 1), id("i-2"));
            assertThat(answer(run)).isEqualTo("not yet: i-2");
            assertThatThrownBy(() -> run.result(Duration.ofMillis(1))).isInstanceOf(ResultUnavailableException.class);
            Run<String> quick = perdure.start(Invoices::send, new Invoice("Ada", 5));
            assertThat(quick.result(Duration.ofSeconds(20))).isEqualTo("sent to Ada");
        }
    }

    // region result
    private static String answer(Run<String> run) {
        try {
            return run.result(Duration.ofMillis(200));
        } catch (ResultUnavailableException stillRunning) { // the run continues
            return "not yet: " + run.id();
        }
    }
    // endregion

    // region interceptor
    /** The tenant of a caller is that of the runs that it starts, and of their steps. */
    static final class Tenants implements Interceptor {
        @Override
        public StartCall start(StartCall call) {
            String tenant = TENANT.get(); // on the thread of the caller
            return tenant == null ? call : call.with("tenant", tenant);
        }

        @Override
        public <T extends @Nullable Object> Callable<T> workflow(WorkflowCall call, Callable<T> code) {
            return () -> as(call.headers().get("tenant"), code); // each time that a process enters the code
        }

        @Override
        public <T extends @Nullable Object> Callable<T> step(StepCall call, Callable<T> body) {
            return () -> as(call.workflow().headers().get("tenant"), body); // maybe on another thread
        }

        private static <T extends @Nullable Object> T as(@Nullable String tenant, Callable<T> code) throws Exception {
            String before = TENANT.get();
            TENANT.set(tenant);
            try {
                return code.call();
            } finally {
                TENANT.set(before);
            }
        }
    }
    // endregion

    @Test
    void the_tenant_of_a_caller_reaches_workflows_and_the_bodies_of_asynchronous_steps() {
        try (Perdure perdure = Perdure.on(store)
                .register(new Invoices())
                .interceptor(new Tenants())
                .start()) {
            TENANT.set("acme");
            assertThat(perdure.start(Invoices::tenants, "invoice").result()).isEqualTo("invoice of acme for acme");
        } finally {
            TENANT.remove();
        }
    }

    // region codec
    /** Values as the application's own mapper writes them. */
    record OwnMapper(JsonMapper mapper) implements Codec {
        @Override
        public Payload encode(@Nullable Object value, Type type) {
            try {
                return new Payload(mapper.writerFor(mapper.constructType(type)).writeValueAsBytes(value));
            } catch (JacksonException unwritable) {
                throw new PayloadException("It cannot be written: " + unwritable.getOriginalMessage(), unwritable);
            }
        }

        @Override
        public @Nullable Object decode(Payload payload, Type type) {
            try {
                return type == void.class ? null : mapper.readValue(payload.bytes(), mapper.constructType(type));
            } catch (JacksonException unreadable) {
                throw new PayloadException("It cannot be read: " + unreadable.getOriginalMessage(), unreadable);
            }
        }

        @Override
        public @Nullable Object verify(@Nullable Object value, Payload payload, Type type) {
            return decode(payload, type);
        }

        @Override
        public void check(Type type) {
            mapper.constructType(type);
        }
    }
    // endregion

    @Test
    void values_are_written_by_the_mapper_of_the_application() {
        JsonMapper mapper = JsonMapper.builder()
                .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
                .build();
        OwnMapper codec = new OwnMapper(mapper);
        Payload written = codec.encode(new Invoice("Ada", 5), Invoice.class);
        assertThat(new String(written.bytes(), StandardCharsets.UTF_8))
                .isEqualTo("{\"customer_name\":\"Ada\",\"cents\":5}");
        try (Perdure perdure =
                Perdure.on(store).register(new Invoices()).codec(codec).start()) {
            assertThat(perdure.start(Invoices::send, new Invoice("Ada", 5)).result())
                    .isEqualTo("sent to Ada");
        }
    }
}

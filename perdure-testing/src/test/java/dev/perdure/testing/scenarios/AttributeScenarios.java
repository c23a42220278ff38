package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.ForkOptions;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunInfo;
import dev.perdure.Saga;
import dev.perdure.attribute.Attribute;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.TerminalException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What runs say about themselves. */
abstract class AttributeScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Attribute<String> CUSTOMER = Attribute.text("customer");
    private static final Attribute<Number> TOTAL = Attribute.number("total");
    private static final Attribute<String> STAGE = Attribute.text("stage");

    private static List<String> found(PerdureTest perdure, RunFilter filter) {
        return perdure.runs(filter).list().stream()
                .map(RunInfo::id)
                .map(Object::toString)
                .toList();
    }

    /** Says at which hour it is, and adds up. */
    private static Definition<String, String> hours(AtomicInteger entered) {
        return workflow("hours", (ctx, in) -> {
            entered.incrementAndGet();
            for (int hour = 1; hour <= 3; hour++) {
                ctx.attribute(TOTAL, hour * 10);
                ctx.attribute(STAGE, "hour " + hour);
                ctx.status("Hour %d of 3".formatted(hour));
                ctx.step("work", () -> {});
                ctx.sleep(HOUR);
            }
            ctx.attribute(STAGE, null);
            return in;
        });
    }

    @ParameterizedTest
    @EnumSource
    void a_run_is_found_by_what_it_was_started_with_and_by_what_it_says_since(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = hours(new AtomicInteger());
            perdure.register(flow);
            Run<String> run = perdure.start(
                    Invocation.of(flow, "x"), id("a").attribute(CUSTOMER, "c-7").memo("Called on Monday"));
            perdure.settle();
            assertThat(found(perdure, RunFilter.all().where(CUSTOMER.is("c-7")).where(TOTAL.is(10))))
                    .containsExactly("a");
            assertThat(run.info().description().status()).contains("Hour 1 of 3");
            perdure.advance(HOUR);
            assertThat(found(perdure, RunFilter.all().where(STAGE.is("hour 1"))))
                    .isEmpty();
            assertThat(found(perdure, RunFilter.all().where(STAGE.is("hour 2"))))
                    .containsExactly("a");
            run.result();
            assertThat(run.info().description().get(STAGE)).isEmpty();
            assertThat(run.info().description().get(TOTAL)).contains(new BigDecimal("30"));
            assertThat(run.info().description().memo()).contains("Called on Monday");
            assertThat(run.info().description().status()).contains("Hour 3 of 3");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_replayed_run_sets_nothing_twice(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger entered = new AtomicInteger();
            Definition<String, String> flow = hours(entered);
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("a"));
            perdure.settle();
            perdure.advance(HOUR);
            assertThat(run.info().description().get(TOTAL)).contains(new BigDecimal("20"));
            perdure.crash();
            perdure.settle();
            assertThat(run.info().description().get(TOTAL)).contains(new BigDecimal("20"));
            assertThat(run.info().description().status()).contains("Hour 2 of 3");
            run.result();
            assertThat(entered.get()).isGreaterThan(1);
            assertThat(run.history())
                    .filteredOn(event -> event.text().contains("attribute"))
                    .hasSize(7);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_saga_says_that_it_compensates(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("saga", (ctx, in) -> {
                Saga saga = new Saga(ctx);
                try {
                    ctx.attribute(STAGE, "charged");
                    saga.undo("refund", () -> {});
                    ctx.step("ship", () -> {
                        throw new TerminalException("no carrier");
                    });
                    return in;
                } catch (RuntimeException failed) {
                    ctx.attribute(STAGE, "refunding");
                    throw saga.compensate(failed);
                }
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("a"));
            assertThatThrownBy(run::result).isInstanceOf(RunFailedException.class);
            assertThat(found(perdure, RunFilter.all().where(STAGE.is("refunding"))))
                    .containsExactly("a");
            assertThat(found(perdure, RunFilter.all().where(STAGE.is("charged"))))
                    .isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void retried_forked_and_continued_runs_keep_what_they_said(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicBoolean down = new AtomicBoolean(true);
            Definition<String, String> flow = workflow("flow", (ctx, in) -> {
                if (in.equals("first")) {
                    ctx.attribute(STAGE, "begun");
                    ctx.status("Begins");
                    throw ctx.continueAsNew("second");
                }
                ctx.attribute(TOTAL, 5);
                ctx.step("ship", () -> {
                    if (down.get()) {
                        throw new TerminalException("no carrier");
                    }
                });
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "first"), id("a").attribute(CUSTOMER, "c-7"));
            assertThatThrownBy(run::result).isInstanceOf(RunFailedException.class);
            RunFilter all = RunFilter.all()
                    .where(CUSTOMER.is("c-7"))
                    .where(STAGE.is("begun"))
                    .where(TOTAL.is(5));
            assertThat(found(perdure, all)).containsExactly("a");
            down.set(false);
            run.retry();
            assertThat(run.result()).isEqualTo("second");
            assertThat(found(perdure, all)).containsExactly("a");
            Run<String> forked = run.fork(ForkOptions.from(2).id("b"));
            forked.result();
            assertThat(found(perdure, all)).containsExactlyInAnyOrder("a", "b");
            assertThat(forked.info().description().status()).contains("Begins");
        }
    }

    @ParameterizedTest
    @EnumSource
    void what_cannot_be_stored_fails_the_run_before_anything_is_written(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("wrong", (ctx, in) -> {
                ctx.status("s".repeat(201));
                return in;
            });
            Definition<String, String> many = workflow("many", (ctx, in) -> {
                for (int i = 0; i < 10; i++) {
                    ctx.attribute(Attribute.text("name-" + i), "v".repeat(400));
                }
                return in;
            });
            perdure.register(flow, many);
            Run<String> wrong = perdure.start(Invocation.of(flow, "x"));
            assertThatThrownBy(wrong::result)
                    .isInstanceOf(RunFailedException.class)
                    .hasMessageContaining("The status has 201 characters; at most 200 are allowed. Shorten it.");
            assertThatThrownBy(perdure.start(Invocation.of(many, "x"))::result)
                    .isInstanceOf(RunFailedException.class)
                    .hasMessageContaining("With the attribute 'name-4' the attributes of the run have 2030 bytes");
            assertThat(wrong.info().description().status()).isEmpty();
        }
    }
}

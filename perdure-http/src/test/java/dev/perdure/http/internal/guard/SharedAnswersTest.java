package dev.perdure.http.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.internal.guard.SharedAnswers.Question;
import dev.perdure.http.internal.route.Parameter;
import dev.perdure.http.internal.route.Route;
import dev.perdure.http.security.Caller;
import dev.perdure.http.security.Role;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Requests that read the same at the same moment ask the store once. */
class SharedAnswersTest {
    private static final Caller ANNA = new Caller("anna", Role.VIEWER);
    private static final Route STREAM = Route.get("/stream", "Streams.")
            .with(new Parameter("Last-Event-ID", Parameter.Place.HEADER, "The last event.", false));
    private static final Question OVERVIEW = asked(ApiRequest.of("GET", "/api/v1/status"), ANNA);

    private static Question asked(ApiRequest request, Caller caller) {
        return Question.of(request, STREAM, caller);
    }

    @AutoClose
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    private final AtomicLong changes = new AtomicLong();
    private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 5); // it may overflow, as nanoTime may
    private final Turns turns = new Turns(2, 1);
    private final SharedAnswers shared = new SharedAnswers(turns, changes::get, clock::get);
    private final AtomicInteger asked = new AtomicInteger();

    private ApiResponse ask() {
        return ask(0);
    }

    private ApiResponse ask(int bytes) {
        return new ApiResponse(
                200, Map.of("Number", "" + asked.incrementAndGet()), new ApiResponse.Bytes(new byte[bytes]));
    }

    private String number() throws InterruptedException {
        return number(OVERVIEW);
    }

    private String number(Question question) throws InterruptedException {
        return shared.answer(question, this::ask).headers().get("Number");
    }

    @Test
    void the_same_question_is_asked_once() throws InterruptedException {
        assertThat(number()).isEqualTo("1");
        assertThat(number()).isEqualTo("1");
    }

    @Test
    void another_target_another_role_and_another_header_ask_for_themselves() throws InterruptedException {
        ApiRequest request = ApiRequest.of("GET", OVERVIEW.target());
        assertThat(number()).isEqualTo("1");
        assertThat(number(asked(ApiRequest.of("GET", "/api/v1/status?x"), ANNA)))
                .isEqualTo("2");
        assertThat(number(asked(request, new Caller("anna", Role.ADMIN)))).isEqualTo("3");
        assertThat(number(asked(request, new Caller("berta", Role.VIEWER)))).isEqualTo("1");
        assertThat(number(asked(request.with("Last-Event-ID", "7"), ANNA))).isEqualTo("4");
        assertThat(number(asked(request.with("Accept", "text/plain"), ANNA))).isEqualTo("1");
    }

    @Test
    void a_page_that_hears_of_a_change_gets_no_answer_from_before() throws InterruptedException {
        assertThat(number()).isEqualTo("1");
        changes.incrementAndGet();
        assertThat(number()).isEqualTo("2");
    }

    @Test
    void a_page_that_has_acted_gets_no_answer_from_before() throws InterruptedException {
        assertThat(number()).isEqualTo("1");
        shared.acted();
        assertThat(number()).isEqualTo("2");
    }

    @Test
    void an_answer_is_shared_for_a_second_at_most() throws InterruptedException {
        assertThat(number()).isEqualTo("1");
        clock.addAndGet(Duration.ofSeconds(1).toNanos() - 1);
        assertThat(number()).isEqualTo("1");
        clock.incrementAndGet();
        assertThat(number()).isEqualTo("2");
    }

    /** Asks as a page does that takes answers up to ten seconds old; the answer takes this long. */
    private ApiResponse page(Duration takes) throws InterruptedException {
        return page(OVERVIEW.target(), () -> {
            clock.addAndGet(takes.toNanos());
            return ask();
        });
    }

    private ApiResponse page(String target, Turns.Question<ApiResponse> ask) throws InterruptedException {
        ApiRequest request = ApiRequest.of("GET", target).with("Cache-Control", "max-age=10");
        return shared.answer(request, STREAM, ANNA, ask);
    }

    private String numberOf(ApiResponse response) {
        return response.headers().get("Number");
    }

    @Test
    void a_costly_answer_is_shared_for_fifty_times_as_long_as_it_took() throws InterruptedException {
        Duration takes = Duration.ofMillis(80);
        assertThat(numberOf(page(takes))).isEqualTo("1");
        changes.incrementAndGet();
        clock.addAndGet(takes.multipliedBy(49).toNanos() - 1);
        assertThat(page(takes).headers()).containsEntry("Number", "1").containsEntry("Age", "3");
        clock.incrementAndGet();
        assertThat(page(takes).headers()).containsEntry("Number", "2").doesNotContainKey("Age");
    }

    @Test
    void two_costly_answers_are_each_shared_for_twice_as_long() throws InterruptedException {
        Duration takes = Duration.ofMillis(40);
        page("/api/v1/queues", () -> {
            clock.addAndGet(Duration.ofSeconds(1).toNanos());
            return ask();
        });
        assertThat(numberOf(page(takes))).isEqualTo("2");
        changes.incrementAndGet();
        clock.addAndGet(takes.multipliedBy(99).toNanos() - 1);
        assertThat(numberOf(page(takes))).isEqualTo("2");
        clock.incrementAndGet();
        assertThat(numberOf(page(takes))).isEqualTo("3");
    }

    @Test
    void the_wait_for_a_turn_is_no_cost_of_an_answer() throws Exception {
        CountDownLatch taken = new CountDownLatch(2);
        CountDownLatch over = new CountDownLatch(1);
        Turns.Question<Boolean> holds = () -> {
            taken.countDown();
            return over.await(10, TimeUnit.SECONDS);
        };
        Future<Boolean> first = threads.submit(() -> turns.with(holds));
        Future<Boolean> second = threads.submit(() -> turns.with(holds));
        assertThat(taken.await(10, TimeUnit.SECONDS)).isTrue();
        FutureTask<ApiResponse> waiting = new FutureTask<>(() -> page(Duration.ZERO));
        Thread waits = Thread.ofPlatform().start(waiting);
        await().until(() -> waits.getState() == Thread.State.TIMED_WAITING);
        clock.addAndGet(Duration.ofSeconds(1).toNanos());
        over.countDown();
        assertThat(first.get() && second.get()).isTrue();
        assertThat(numberOf(waiting.get(10, TimeUnit.SECONDS))).isEqualTo("1");

        changes.incrementAndGet();
        assertThat(numberOf(page(Duration.ZERO))).isEqualTo("2");
    }

    @Test
    void an_answer_that_was_asked_for_earlier_and_took_longer_does_not_replace_a_newer_one() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch goes = new CountDownLatch(1);
        Future<ApiResponse> slow = threads.submit(() -> page(OVERVIEW.target(), () -> {
            begun.countDown();
            goes.await();
            return ask();
        }));
        begun.await();
        clock.incrementAndGet();
        changes.incrementAndGet();
        assertThat(numberOf(page(Duration.ofSeconds(1)))).isEqualTo("1");
        goes.countDown();
        assertThat(numberOf(slow.get(10, TimeUnit.SECONDS))).isEqualTo("2");

        changes.incrementAndGet();
        assertThat(numberOf(page(Duration.ofSeconds(1)))).isEqualTo("1");
    }

    @Test
    void a_page_gets_no_costly_answer_that_is_older_than_it_allows() throws InterruptedException {
        Duration takes = Duration.ofSeconds(1);
        assertThat(numberOf(page(takes))).isEqualTo("1");
        clock.addAndGet(Duration.ofSeconds(9).toNanos() - 1);
        assertThat(numberOf(page(takes))).isEqualTo("1");
        clock.incrementAndGet();
        assertThat(numberOf(page(takes))).isEqualTo("2");
    }

    @Test
    void a_client_that_allows_no_age_asks_anew_after_a_change() throws InterruptedException {
        assertThat(numberOf(page(Duration.ofSeconds(1)))).isEqualTo("1");
        changes.incrementAndGet();
        assertThat(number()).isEqualTo("2");
    }

    @Test
    void a_quick_answer_is_not_older_than_the_last_change_although_the_page_allows_it() throws InterruptedException {
        Duration takes = Duration.ofMillis(19);
        assertThat(numberOf(page(takes))).isEqualTo("1");
        changes.incrementAndGet();
        assertThat(numberOf(page(takes))).isEqualTo("2");
    }

    @Test
    void a_page_that_has_acted_gets_no_costly_answer_from_before() throws InterruptedException {
        assertThat(numberOf(page(Duration.ofSeconds(1)))).isEqualTo("1");
        shared.acted();
        assertThat(numberOf(page(Duration.ofSeconds(1)))).isEqualTo("2");
    }

    @Test
    void a_large_answer_is_not_kept() throws InterruptedException {
        shared.answer(OVERVIEW, () -> ask(64 * 1024 + 1));
        assertThat(shared.answer(OVERVIEW, () -> ask(64 * 1024)).headers()).containsEntry("Number", "2");
        assertThat(number()).isEqualTo("2");
    }

    @Test
    void while_a_thousand_answers_are_kept_further_questions_are_not_shared() throws InterruptedException {
        for (int i = 1; i <= 1_000; i++) {
            assertThat(number(asked(ApiRequest.of("GET", "/api/v1/runs/" + i), ANNA)))
                    .isEqualTo("" + i);
        }
        assertThat(number()).isEqualTo("1001");
        assertThat(number()).isEqualTo("1002");
        assertThat(number(asked(ApiRequest.of("GET", "/api/v1/runs/7"), ANNA))).isEqualTo("7");
        changes.incrementAndGet();
        assertThat(number()).isEqualTo("1003");
        assertThat(number()).isEqualTo("1003");
    }

    @Test
    void a_request_waits_for_the_one_that_asks_the_same() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch goes = new CountDownLatch(1);
        Future<ApiResponse> first = threads.submit(() -> shared.answer(OVERVIEW, () -> {
            begun.countDown();
            goes.await();
            return ask();
        }));
        begun.await();
        Future<String> second = threads.submit((Callable<String>) this::number);
        goes.countDown();

        assertThat(second.get(10, TimeUnit.SECONDS)).isEqualTo("1");
        assertThat(first.get(10, TimeUnit.SECONDS).headers()).containsEntry("Number", "1");
    }

    @Test
    void a_request_that_fails_leaves_the_others_to_ask_for_themselves() throws InterruptedException {
        assertThatThrownBy(() -> shared.answer(OVERVIEW, () -> {
                    throw new IllegalStateException("The store is out of reach.");
                }))
                .hasMessage("The store is out of reach.");
        assertThat(number()).isEqualTo("1");
    }
}

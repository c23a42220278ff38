package dev.perdure.http.internal.guard;

import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.internal.route.Parameter;
import dev.perdure.http.internal.route.Route;
import dev.perdure.http.security.Caller;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Lets requests share an answer that read the same at the same moment, so that many open pages ask the store as little
 * as one. Thread-safe.
 *
 * <p>A moment ends when something may have changed in the store, when an action through this API has been carried out,
 * and after a second. The answer that a request gets was therefore begun after the last change that its client can know
 * of: a page that hears of a change, or has acted, never gets an answer from before.
 *
 * <p>What is kept is bounded. A large answer goes to those who wait for it and is then dropped, and while many answers are
 * kept, further questions are asked without sharing.
 */
public final class SharedAnswers {
    private static final long LONGEST = Duration.ofSeconds(1).toNanos();
    private static final int MOST_ANSWERS = 1_000;
    private static final int MOST_BYTES = 64 * 1024;

    private final LongSupplier changes;
    private final LongSupplier nanoTime;
    private final AtomicLong actions = new AtomicLong();
    private volatile Moment moment = new Moment(-1, -1, 0);

    /**
     * Shares answers.
     *
     * @param changes how often something may have changed in the store
     * @param nanoTime the clock
     */
    public SharedAnswers(LongSupplier changes, LongSupplier nanoTime) {
        this.changes = changes;
        this.nanoTime = nanoTime;
    }

    /**
     * What a request asks.
     *
     * @param caller who asks: an answer may say who the caller is
     * @param target what is read, with its query
     * @param headers what the headers say that are parameters of the route
     */
    public record Question(Caller caller, String target, List<String> headers) {
        /** What this request asks of its route. */
        public static Question of(ApiRequest request, Route route, Caller caller) {
            return new Question(
                    caller,
                    request.target(),
                    route.parameters().stream()
                            .filter(parameter -> parameter.place() == Parameter.Place.HEADER)
                            .map(parameter -> request.header(parameter.name()).orElse(""))
                            .toList());
        }
    }

    private record Moment(
            long changes, long actions, long began, ConcurrentMap<Question, CompletableFuture<ApiResponse>> answers) {
        Moment(long changes, long actions, long began) {
            this(changes, actions, began, new ConcurrentHashMap<>());
        }
    }

    /** An action has been carried out: whoever reads from now on sees it. */
    public void acted() {
        actions.incrementAndGet();
    }

    /** Asks, or waits for the request that asks the same. */
    public ApiResponse answer(Question question, Turns.Question<ApiResponse> ask) throws InterruptedException {
        CompletableFuture<ApiResponse> mine = new CompletableFuture<>();
        ConcurrentMap<Question, CompletableFuture<ApiResponse>> answers = now().answers();
        CompletableFuture<ApiResponse> other =
                answers.size() < MOST_ANSWERS ? answers.putIfAbsent(question, mine) : answers.get(question);
        if (other != null) {
            try {
                return other.get();
            } catch (ExecutionException failed) { // that request may have been interrupted
                return ask.ask();
            }
        }
        try {
            ApiResponse response = ask.ask();
            mine.complete(response);
            if (response.bytes().length > MOST_BYTES) {
                answers.remove(question, mine);
            }
            return response;
        } finally {
            if (!mine.isDone()) {
                answers.remove(question, mine);
                mine.completeExceptionally(new IllegalStateException("The request was not answered."));
            }
        }
    }

    private Moment now() {
        long changed = changes.getAsLong();
        long acted = actions.get();
        long time = nanoTime.getAsLong();
        Moment last = moment;
        if (last.changes() == changed && last.actions() == acted && time - last.began() < LONGEST) {
            return last;
        }
        Moment next = new Moment(changed, acted, time);
        moment = next; // two requests at once may make two: the answers of one of them are shared less
        return next;
    }
}

package dev.perdure.http.internal.guard;

import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.internal.route.Parameter;
import dev.perdure.http.internal.route.Route;
import dev.perdure.http.security.Caller;
import dev.perdure.http.security.Role;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Lets requests share an answer that read the same at the same moment, so that many open pages ask the store as little
 * as one. Thread-safe.
 *
 * <p>A moment ends when something may have changed in the store, when an action through this API has been carried out,
 * and after a second. The answer that a request gets was therefore begun after the last change that its client can know
 * of: a page that hears of a change, or has acted, never gets an answer from before.
 *
 * <p>Some answers are costly: counts and rates read many rows. A client that allows an older answer, with {@code
 * Cache-Control: max-age}, shares a costly one for longer: {@value #REST} times as long as it took, and as many times that
 * as there are costly answers. So all of them together keep at most a fiftieth of a processor busy, however many pages ask
 * and however large the store is, unless a client allows no answer that is so old. An action ends that too.
 *
 * <p>What an answer took is counted from its turn on: a request that waits for its turn costs the store nothing.
 *
 * <p>What is kept is bounded. A large answer goes to those who wait for it and is then dropped, and while many answers are
 * kept, further questions are asked without sharing.
 */
public final class SharedAnswers {
    private static final long LONGEST = Duration.ofSeconds(1).toNanos();
    private static final int REST = 50;
    private static final int MOST_ANSWERS = 1_000;
    private static final int MOST_COSTLY = 100;
    private static final int MOST_BYTES = 64 * 1024;
    private static final Pattern MAX_AGE = Pattern.compile("max-age=(\\d{1,4})");

    private final Turns turns;
    private final LongSupplier changes;
    private final LongSupplier nanoTime;
    private final AtomicLong actions = new AtomicLong();
    private final ConcurrentMap<Question, Costly> costly = new ConcurrentHashMap<>();
    private volatile Moment moment = new Moment(-1, -1, 0);

    /**
     * Shares answers.
     *
     * @param turns bounds how many requests ask the store at once
     * @param changes how often something may have changed in the store
     * @param nanoTime the clock
     */
    public SharedAnswers(Turns turns, LongSupplier changes, LongSupplier nanoTime) {
        this.turns = turns;
        this.changes = changes;
        this.nanoTime = nanoTime;
    }

    /**
     * What a request asks.
     *
     * @param role what the caller may do: an answer may depend on it, and never on who the caller is
     * @param target what is read, with its query
     * @param headers what the headers say that are parameters of the route
     */
    public record Question(Role role, String target, List<String> headers) {
        /** What this request asks of its route. */
        public static Question of(ApiRequest request, Route route, Caller caller) {
            return new Question(
                    caller.role(),
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

    /**
     * An answer that took long.
     *
     * @param response the answer
     * @param actions how many actions had been carried out when it was asked for
     * @param began when the store was asked
     * @param rest for how long it is not asked for again
     */
    private record Costly(ApiResponse response, long actions, long began, long rest) {
        boolean isOver(long actions, long time, long allowed) {
            return this.actions != actions || time - began >= Math.min(rest, allowed);
        }

        /** Whether the store was asked for this one later than for the other one, which may have taken longer. */
        boolean isNewerThan(Costly other) {
            return began - other.began > 0;
        }

        boolean isWorthKeeping() {
            return rest >= LONGEST && response.bytes().length <= MOST_BYTES;
        }
    }

    /** How old the answer may be that a request asks for, in nanoseconds; 0 if it does not allow an old one. */
    static long allowedAge(ApiRequest request) {
        Matcher age = MAX_AGE.matcher(request.header("Cache-Control").orElse(""));
        return age.matches() ? Duration.ofSeconds(Long.parseLong(age.group(1))).toNanos() : 0;
    }

    /** An action has been carried out: whoever reads from now on sees it. */
    public void acted() {
        actions.incrementAndGet();
    }

    /**
     * Answers a request to read.
     *
     * @param ask asks the store, with a turn
     */
    public ApiResponse answer(ApiRequest request, Route route, Caller caller, Turns.Question<ApiResponse> ask)
            throws InterruptedException {
        Question question = Question.of(request, route, caller);
        long allowed = allowedAge(request);
        return allowed == 0 ? answer(question, () -> turns.with(ask)) : answer(question, allowed, ask);
    }

    /** Takes an answer that took long, or asks and keeps what took long. */
    private ApiResponse answer(Question question, long allowed, Turns.Question<ApiResponse> ask)
            throws InterruptedException {
        Costly kept = costly.get(question);
        long time = nanoTime.getAsLong();
        if (kept != null && !kept.isOver(actions.get(), time, allowed)) {
            return kept.response()
                    .with(
                            "Age",
                            Long.toString(Duration.ofNanos(time - kept.began()).toSeconds()));
        }
        return answer(question, () -> turns.with(() -> timed(question, ask)));
    }

    /** Asks the store, and keeps the answer if it took long. */
    private ApiResponse timed(Question question, Turns.Question<ApiResponse> ask) throws InterruptedException {
        long acted = actions.get();
        long began = nanoTime.getAsLong();
        ApiResponse response = ask.ask();
        long took = nanoTime.getAsLong() - began;
        costly.values().removeIf(old -> old.isOver(acted, began, Long.MAX_VALUE));
        int others = costly.containsKey(question) ? costly.size() - 1 : costly.size();
        Costly answer = new Costly(response, acted, began, took * REST * (1 + others));
        if (others < MOST_COSTLY) {
            costly.compute(question, (same, kept) -> {
                if (kept != null && kept.isNewerThan(answer)) {
                    return kept;
                }
                return answer.isWorthKeeping() ? answer : null;
            });
        }
        return response;
    }

    /** Asks, or waits for the request that asks the same. */
    ApiResponse answer(Question question, Turns.Question<ApiResponse> ask) throws InterruptedException {
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

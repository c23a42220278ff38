package dev.perdure.http;

import dev.perdure.Perdure;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.PerdureException;
import dev.perdure.error.UnknownTokenException;
import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.internal.admin.ObjectRoutes;
import dev.perdure.http.internal.admin.QueueRoutes;
import dev.perdure.http.internal.admin.ReactionRoutes;
import dev.perdure.http.internal.admin.ScheduleRoutes;
import dev.perdure.http.internal.admin.StoreRoutes;
import dev.perdure.http.internal.admin.VersionRoutes;
import dev.perdure.http.internal.client.DeclaredWebhook;
import dev.perdure.http.internal.client.MailRoutes;
import dev.perdure.http.internal.client.StartRoutes;
import dev.perdure.http.internal.client.StreamRoutes;
import dev.perdure.http.internal.guard.Bodies;
import dev.perdure.http.internal.guard.Gate;
import dev.perdure.http.internal.guard.SharedAnswers;
import dev.perdure.http.internal.guard.Turns;
import dev.perdure.http.internal.json.Shape;
import dev.perdure.http.internal.openapi.OpenApi;
import dev.perdure.http.internal.route.Answers;
import dev.perdure.http.internal.route.Body;
import dev.perdure.http.internal.route.Call;
import dev.perdure.http.internal.route.Problem;
import dev.perdure.http.internal.route.Problems;
import dev.perdure.http.internal.route.Route;
import dev.perdure.http.internal.route.RouteTable;
import dev.perdure.http.internal.runs.BulkRoutes;
import dev.perdure.http.internal.runs.CommandRoutes;
import dev.perdure.http.internal.runs.FindRoutes;
import dev.perdure.http.internal.runs.ReadRoutes;
import dev.perdure.http.internal.runs.ReportRoutes;
import dev.perdure.http.internal.runs.StatisticsRoutes;
import dev.perdure.http.internal.runs.TaskRoutes;
import dev.perdure.http.internal.runs.WaitRoutes;
import dev.perdure.http.internal.show.Services;
import dev.perdure.http.internal.show.Shown;
import dev.perdure.http.security.Authentication;
import dev.perdure.http.security.Caller;
import dev.perdure.http.security.Redaction;
import dev.perdure.http.security.Webhook;
import dev.perdure.spi.EngineView;
import dev.perdure.spi.report.EngineLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * The HTTP API of an engine: a request in, a response out, whoever serves it. {@link ApiServer} serves it with the HTTP
 * server of the JDK. Thread-safe.
 *
 * <pre>{@code
 * HttpApi api = HttpApi.on(perdure)
 *         .authentication(Tokens.none().with("anna", Role.OPERATOR, System.getenv("ANNA_TOKEN")))
 *         .build();
 * try (ApiServer server = ApiServer.of(api).port(8080).start()) { … }
 * }</pre>
 *
 * <p>Without authentication it only reads, and only under the names of this machine's loopback address. Every action
 * needs authentication, the header {@value Authentication#ACTION_HEADER} and an origin of its own.
 */
public final class HttpApi implements AutoCloseable {
    /** The path of the API unless another one is given. */
    public static final String DEFAULT_PREFIX = "/api/v1";

    private static final Logger LOG = EngineLog.of("dev.perdure.http");
    private static final String ME = "/me";
    private static final int LONGEST_TARGET = 8 * 1024;

    private static final Shape<Caller> CALLER = Shape.<Caller>named("Caller")
            .text("name", "The name that the audit records.", Caller::name)
            .text("role", "What the caller may do.", Caller::role);

    private final String prefix;
    private final boolean authenticated;
    private final @Nullable Pages pages;
    private final Gate gate;
    private final Turns turns;
    private final Bodies bodies;
    private final @Nullable SharedAnswers shared;
    private final Shown shown;
    private final RouteTable table;
    private final AtomicBoolean closing = new AtomicBoolean();

    private HttpApi(Builder settings) {
        this.prefix = settings.prefix;
        this.authenticated = settings.authentication != null;
        this.pages = settings.pages;
        this.gate = new Gate(settings.hosts, settings.origins, settings.authentication, System::nanoTime);
        this.turns = new Turns(settings.concurrency, settings.waiting);
        this.bodies = new Bodies(settings.maxBodyBytes);
        this.shared = settings.changes == null ? null : new SharedAnswers(turns, settings.changes, System::nanoTime);
        EngineView view = EngineView.of(settings.perdure);
        this.shown = new Shown(view, settings.redaction);
        Services services = new Services(settings.perdure, view, shown, turns, settings.longestWait, closing::get);
        this.table = new RouteTable(routes(services, settings.webhooks));
    }

    private List<Route> routes(Services services, Map<String, DeclaredWebhook> webhooks) {
        List<Route> routes = new ArrayList<>();
        routes.addAll(new FindRoutes(services).routes());
        routes.addAll(new ReadRoutes(services).routes());
        routes.addAll(new ReportRoutes(services).routes());
        routes.addAll(new StatisticsRoutes(services).routes());
        routes.addAll(new WaitRoutes(services).routes());
        routes.addAll(new CommandRoutes(services).routes());
        routes.addAll(new TaskRoutes(services).routes());
        routes.addAll(new BulkRoutes(services).routes());
        routes.addAll(new QueueRoutes(services).routes());
        routes.addAll(new ScheduleRoutes(services).routes());
        routes.addAll(new ReactionRoutes(services).routes());
        routes.addAll(new StoreRoutes(services).routes());
        routes.addAll(new VersionRoutes(services).routes());
        routes.addAll(new ObjectRoutes(services).routes());
        routes.addAll(new StartRoutes(services).routes());
        routes.addAll(new MailRoutes(services, webhooks).routes());
        routes.addAll(new StreamRoutes(services).routes());
        routes.add(Route.get(ME, "Tells who the caller is.")
                .answers(200, "The caller.", CALLER)
                .does(call -> Answers.ok(CALLER.json(call.caller()))));
        routes.add(Route.get("/openapi.json", "Describes this API.")
                .answers(200, "An OpenAPI 3.1 document.")
                .does(call -> Answers.ok(OpenApi.document(table.routes(), prefix))));
        return routes;
    }

    /** Begins to set up the API of an engine. */
    public static Builder on(Perdure perdure) {
        return new Builder(perdure);
    }

    /** Sets up an API. Every option has a default that suits an application on one machine. */
    public static final class Builder {
        private static final Duration LONGEST_LONG_POLL = Duration.ofMinutes(5);

        private final Perdure perdure;
        private String prefix = DEFAULT_PREFIX;
        private Set<String> hosts = new TreeSet<>(List.of("localhost", "127.0.0.1", "[::1]"));
        private final Set<String> origins = new TreeSet<>();
        private final Map<String, DeclaredWebhook> webhooks = new TreeMap<>();
        private @Nullable Authentication authentication;
        private @Nullable Redaction redaction;
        private @Nullable Pages pages;
        private @Nullable LongSupplier changes;
        private int maxBodyBytes = 4 * 1024 * 1024;
        private int concurrency = 8;
        private int waiting = 1_000;
        private Duration longestWait = Duration.ofSeconds(30);

        private Builder(Perdure perdure) {
            this.perdure = perdure;
        }

        /** The path under which the API is. {@value HttpApi#DEFAULT_PREFIX} by default. */
        public Builder prefix(String path) {
            require(
                    path.isEmpty() || path.matches("(/[A-Za-z0-9._~-]+)+"),
                    "the prefix is '%s'; it is empty, or a path such as /perdure without a slash at its end"
                            .formatted(path));
            prefix = path;
            return this;
        }

        /** Tells who sends a request. Without it, the API only reads. */
        public Builder authentication(Authentication how) {
            authentication = how;
            return this;
        }

        /**
         * The names by which clients call this API, in place of localhost, 127.0.0.1 and [::1]. A request for another
         * host is refused: a page of another site could have made its own name point to this address.
         */
        public Builder hosts(String... names) {
            require(names.length > 0, "the list of hosts is empty; give at least one");
            hosts = new TreeSet<>();
            Arrays.stream(names).map(name -> name.toLowerCase(Locale.ROOT)).forEach(hosts::add);
            return this;
        }

        /** The origins of pages of other sites that may act, such as {@code https://tools.example.com}. */
        public Builder origins(String... values) {
            origins.addAll(Arrays.asList(values));
            return this;
        }

        /** What answers requests to read outside of the path of the API, such as the dashboard. */
        public Builder pages(Pages beside) {
            pages = beside;
            return this;
        }

        /**
         * Lets requests share an answer that read the same, for a second at most and only as long as this number stays
         * the same: for pages that hear of changes and read again, all at once. A request with the header {@code
         * Cache-Control: max-age=10} also takes an answer that is up to ten seconds old, if it was costly.
         *
         * @param number how often something may have changed in the store
         */
        public Builder sharing(LongSupplier number) {
            changes = number;
            return this;
        }

        /** Removes from what is shown what callers must not see. */
        public Builder redaction(Redaction how) {
            redaction = how;
            return this;
        }

        /**
         * Takes webhooks of this name at {@code /webhooks/{name}/{token}}: the body resolves the awakeable with the
         * token, if its sender has signed it. The token alone then answers none of these awakeables: it is part of an
         * address, which proxies and senders log.
         *
         * @param name the name of the webhook
         * @param check checks the signature
         * @param definitions the definitions of the runs whose awakeables are answered so; if none is given, all
         */
        public Builder webhook(String name, Webhook check, String... definitions) {
            require(
                    name.matches("[A-Za-z0-9_-]+"),
                    "the webhook '%s' has a name of other than letters, digits, _ and -".formatted(name));
            webhooks.put(name, new DeclaredWebhook(check, Set.copyOf(Arrays.asList(definitions))));
            return this;
        }

        /**
         * How many bytes the body of a request has at most. 4 MiB by default. Bodies of more than 16 KiB together have 16
         * times as many; one more waits until another request has been answered.
         */
        public Builder maxBodyBytes(int bytes) {
            require(bytes >= 1 && bytes < Integer.MAX_VALUE, "maxBodyBytes is " + bytes + "; it is at least 1");
            maxBodyBytes = bytes;
            return this;
        }

        /**
         * How many requests ask the store at once; others wait for their turn. 8 by default. Keep it below the number of
         * connections, so that the engine always has some.
         */
        public Builder concurrency(int requests) {
            require(requests >= 1, "concurrency is " + requests + "; it is at least 1");
            concurrency = requests;
            return this;
        }

        /** How many requests wait for runs at once. 1,000 by default. */
        public Builder waiting(int requests) {
            require(requests >= 1, "waiting is " + requests + "; it is at least 1");
            waiting = requests;
            return this;
        }

        /** How long a request waits for a run at most. 30 seconds by default. */
        public Builder longestWait(Duration limit) {
            require(
                    !limit.isNegative() && limit.compareTo(LONGEST_LONG_POLL) <= 0,
                    "longestWait is %s; it is at most %s".formatted(limit, LONGEST_LONG_POLL));
            longestWait = limit;
            return this;
        }

        private static void require(boolean holds, String reason) {
            if (!holds) {
                throw new InvalidRequestException("Cannot set up the HTTP API: " + reason + ".");
            }
        }

        /** The API. */
        public HttpApi build() {
            return new HttpApi(this);
        }
    }

    /** Whether it knows who sends a request. */
    public boolean hasAuthentication() {
        return authenticated;
    }

    /** The path under which it is. */
    public String prefix() {
        return prefix;
    }

    /** Answers a request. It throws nothing: what goes wrong is part of the response. */
    public ApiResponse handle(ApiRequest request) {
        try {
            return finished(answered(request));
        } catch (RuntimeException ofTheRedaction) { // which is asked for the text of a refusal, too
            return finished(unexpected(request, ofTheRedaction));
        }
    }

    private ApiResponse answered(ApiRequest request) {
        try {
            return answer(request);
        } catch (Problem problem) {
            if (problem.isWrongSecret()) {
                gate.failed(request);
            }
            return problem.response();
        } catch (UnknownTokenException wrongSecret) {
            gate.failed(request);
            return Problems.of(wrongSecret, shown::problem).response();
        } catch (PerdureException refusal) {
            Problem problem = Problems.of(refusal, shown::problem);
            return problem.status() == 500 ? unexpected(request, refusal) : problem.response();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return new Problem(503, "Interrupted", "The request was interrupted. Send it again.").response();
        } catch (RuntimeException | StackOverflowError unexpected) {
            return unexpected(request, unexpected);
        }
    }

    /** The client gets a number, and the log has the rest: the texts of a database or of a codec may have secrets. */
    private static ApiResponse unexpected(ApiRequest request, Throwable thrown) {
        UUID number = UUID.randomUUID();
        LOG.error("The HTTP API could not answer {}; the response has the number {}.", request, number, thrown);
        return new Problem(
                        500,
                        "InternalError",
                        "Something went wrong inside Perdure. The log of the process has the details under the number %s."
                                .formatted(number))
                .response();
    }

    private ApiResponse answer(ApiRequest request) throws InterruptedException {
        if (request.target().length() > LONGEST_TARGET) {
            throw new Problem(
                    414,
                    "TargetTooLong",
                    "Path and query have more than %s characters. Shorten them.".formatted(LONGEST_TARGET));
        }
        gate.checkHost(request);
        if (closing.get()) {
            throw new Problem(503, "Closing", "This process is shutting down. Send the request to another one.");
        }
        if (pages != null && isPage(request)) {
            if (pages.needsCaller(request)) {
                gate.admitToPage(request);
            }
            return pages.answer(request);
        }
        RouteTable.Match match = table.find(request.method(), path(request.target()));
        Caller caller = gate.admit(request, match.route());
        if (match.route().role().isEmpty()) {
            turns.with(() -> checked(match));
        }
        boolean takesNone = match.route().body() instanceof Body.None;
        try (Bodies.Held body = takesNone ? bodies.none(request) : bodies.all(request)) {
            return answer(new Call(request, match, caller, body.bytes()), match, caller);
        }
    }

    private ApiResponse answer(Call call, RouteTable.Match match, Caller caller) throws InterruptedException {
        Turns.Question<ApiResponse> asked = () -> match.route().answer(call);
        if (shared == null || match.route().path().equals(ME)) { // which says who the caller is, and asks no store
            return turns.with(asked);
        }
        if (!match.route().isAction()) {
            return shared.answer(call.request(), match.route(), caller, asked);
        }
        try {
            return turns.with(asked);
        } finally {
            shared.acted();
        }
    }

    private static RouteTable.Match checked(RouteTable.Match match) {
        match.route().checkSecret(match.values());
        return match;
    }

    private boolean isPage(ApiRequest request) {
        boolean reads = request.method().equals("GET") || request.method().equals("HEAD");
        return reads && !withoutQuery(request.target()).startsWith(prefix + "/");
    }

    private static String withoutQuery(String target) {
        int query = target.indexOf('?');
        return query < 0 ? target : target.substring(0, query);
    }

    private String path(String target) {
        String path = withoutQuery(target);
        if (!path.startsWith(prefix + "/")) {
            throw Problem.unknown("UnknownRoute", "The API is under the path %s/.".formatted(prefix));
        }
        return path.substring(prefix.length());
    }

    private static final Map<String, String> SAFE = Map.of(
            "Cache-Control", "no-store",
            "X-Content-Type-Options", "nosniff",
            "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'",
            "Referrer-Policy", "no-referrer");

    /**
     * What every response says unless it is a page that says it itself: it is for this caller alone, it is no page, and
     * other sites get nothing of it.
     */
    private static ApiResponse finished(ApiResponse response) {
        Map<String, String> headers = new HashMap<>(SAFE);
        headers.putAll(response.headers());
        ApiResponse safe = new ApiResponse(response.status(), headers, response.content());
        return switch (safe.status()) {
            case 401 -> safe.with("WWW-Authenticate", "Bearer");
            case 429 -> safe.with("Retry-After", "60");
            case 503 -> safe.with("Retry-After", "1");
            default -> safe;
        };
    }

    /** Refuses requests from now on, and ends those that wait for runs. It leaves the engine open. */
    @Override
    public void close() {
        closing.set(true);
        if (pages != null) {
            pages.close();
        }
    }
}

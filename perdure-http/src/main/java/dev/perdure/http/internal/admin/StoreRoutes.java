package dev.perdure.http.internal.admin;

import static dev.perdure.http.internal.route.Body.Property.optional;
import static dev.perdure.http.internal.route.Body.Property.required;

import dev.perdure.RunState;
import dev.perdure.audit.AuditEntry;
import dev.perdure.audit.AuditFilter;
import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.internal.json.Shape;
import dev.perdure.http.internal.route.Answers;
import dev.perdure.http.internal.route.Body.ValueType;
import dev.perdure.http.internal.route.Call;
import dev.perdure.http.internal.route.Parameter;
import dev.perdure.http.internal.route.Problem;
import dev.perdure.http.internal.route.Route;
import dev.perdure.http.internal.show.AuditView;
import dev.perdure.http.internal.show.Paging;
import dev.perdure.http.internal.show.Services;
import dev.perdure.http.security.Role;
import dev.perdure.retention.Retention;
import dev.perdure.retention.Retention.Match;
import dev.perdure.retention.RetentionInfo;
import dev.perdure.spi.EngineView.Signature;
import dev.perdure.status.Finding;
import dev.perdure.status.StoreStatus;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The store, the retention, the audit and what is registered. */
public final class StoreRoutes {
    private static final String FOREVER = "forever";

    private static final Shape<StoreStatus.InState> IN_STATE = Shape.<StoreStatus.InState>named("LiveRuns")
            .text("state", "The state.", StoreStatus.InState::state)
            .number("runs", "How many runs.", StoreStatus.InState::count)
            .text("oldest", "The one that was started first.", StoreStatus.InState::oldest)
            .time("oldest_created_at", "When that was.", StoreStatus.InState::oldestCreatedAt);

    private static final Shape<StoreStatus.Table> TABLE = Shape.<StoreStatus.Table>named("Table")
            .text("name", "Its name.", StoreStatus.Table::name)
            .number("rows", "How many rows it has, about.", StoreStatus.Table::rows)
            .number("dead_rows", "How many rows wait for vacuum, about.", StoreStatus.Table::deadRows)
            .number("bytes", "Its size without indexes.", StoreStatus.Table::bytes)
            .number("index_bytes", "The size of its indexes.", StoreStatus.Table::indexBytes)
            .number("free_bytes", "How much of it is free space, estimated.", StoreStatus.Table::freeBytes)
            .time("vacuumed_at", "When vacuum was last there.", StoreStatus.Table::vacuumedAt);

    private static final Shape<StoreStatus.Transaction> TRANSACTION = Shape.<StoreStatus.Transaction>named(
                    "Transaction")
            .time("since", "When it began.", StoreStatus.Transaction::since)
            .text("session", "Whose it is.", StoreStatus.Transaction::session)
            .text("state", "What the session does.", StoreStatus.Transaction::state);

    private static final Shape<Finding> FINDING = Shape.<Finding>named("Finding")
            .text("kind", "What kind of trouble it is.", Finding::kind)
            .text("what", "What is wrong.", Finding::what)
            .text("remedy", "What to do.", Finding::remedy);

    private static final Shape<StoreStatus> STATUS = Shape.<StoreStatus>named("StoreStatus")
            .time("at", "When this was read.", StoreStatus::at)
            .number("workers", "How many workers are alive.", StoreStatus::workers)
            .list("runs", "The runs that have not ended, by state.", IN_STATE, StoreStatus::runs)
            .number(
                    "removal_due",
                    "How many runs retention looks at next, 10000 at most.",
                    status -> status.removal().due())
            .flag(
                    "removal_more",
                    "Whether there are more.",
                    status -> status.removal().more())
            .list("tables", "The tables, the largest first.", TABLE, StoreStatus::tables)
            .object(
                    "oldest_transaction",
                    "The transaction that has been open for longest.",
                    TRANSACTION,
                    StoreStatus::oldestTransaction)
            .list("findings", "What is wrong and what to do.", FINDING, StoreStatus::findings);

    private static final Shape<Retention.Rule> RULE = Shape.<Retention.Rule>named("RetentionRule")
            .text("runs", "The runs that it is for, in words.", Retention.Rule::runs)
            .text(
                    "definition",
                    "Only runs of this definition.",
                    rule -> rule.runs().definition())
            .text("queue", "Only runs of this queue.", rule -> rule.runs().queue())
            .text(
                    "outcome",
                    "Only runs that ended in this state.",
                    rule -> rule.runs().outcome())
            .text("period", "How long they are kept.", rule -> period(rule.period()));

    private static final Shape<Retention> RULES = Shape.<Retention>named("RetentionRules")
            .text("all", "How long runs are kept that no rule matches.", retention -> period(retention.all()))
            .list("rules", "The rules, in the order in which they are tried.", RULE, Retention::rules)
            .text(
                    "ids",
                    "How long ids are remembered, if that was asked for.",
                    retention -> retention.ids().map(StoreRoutes::period))
            .text("audit", "How long the audit is kept.", retention -> period(retention.audit()));

    private static final Shape<RetentionInfo> RETENTION = Shape.<RetentionInfo>named("Retention")
            .object("effective", "What is in effect.", RULES, info -> Optional.of(info.effective()))
            .object("declared", "What the code declares.", RULES, info -> Optional.of(info.declared()))
            .object("changed", "What an operator has put in its place.", RULES, RetentionInfo::changed)
            .time(
                    "pass_began",
                    "When the last pass over old runs began.",
                    info -> info.pass().began())
            .number(
                    "pass_looked",
                    "At how many runs it has looked.",
                    info -> info.pass().looked())
            .number(
                    "pass_removed",
                    "How many of these it has removed.",
                    info -> info.pass().removed())
            .time("next_pass", "When the next pass may begin.", RetentionInfo::nextPass);

    private static final Shape<Signature> SIGNATURE = Shape.<Signature>named("Definition")
            .text("name", "Its name.", Signature::name)
            .text("kind", "WORKFLOW, DAG or HANDLER.", Signature::kind)
            .text(
                    "input",
                    "The Java type of its input; missing if it takes none.",
                    signature -> signature.takesInput()
                            ? Optional.of(signature.inputType().getTypeName())
                            : Optional.empty())
            .text(
                    "result",
                    "The Java type of its result.",
                    signature -> signature.resultType().getTypeName());

    private static final Shape<List<Signature>> DEFINITIONS = Shape.<List<Signature>>named("Definitions")
            .list("definitions", "By name.", SIGNATURE, signatures -> signatures);

    private final Services services;

    /** With these services. */
    public StoreRoutes(Services services) {
        this.services = services;
    }

    private static String period(Duration period) {
        return period.equals(Retention.FOREVER) ? FOREVER : period.toString();
    }

    /** The routes. */
    public List<Route> routes() {
        return List.of(
                Route.get(
                                "/status",
                                "Shows how the store is: its size, what holds it up, what is wrong and what to do.")
                        .answers(200, "The status.", STATUS)
                        .does(call -> Answers.ok(STATUS.json(services.perdure().status()))),
                Route.get("/definitions", "Lists what is registered in this process and can be started here.")
                        .answers(200, "The definitions.", DEFINITIONS)
                        .does(call ->
                                Answers.ok(DEFINITIONS.json(services.view().signatures()))),
                Route.get("/audit", "Lists the commands that have changed something, newest first.")
                        .with(
                                Parameter.query("subject", "The kind of thing; needs a name."),
                                Parameter.query("name", "The name of the thing; needs a subject."))
                        .with(Paging.PARAMETERS)
                        .answers(200, "A page.", AuditView.PAGE)
                        .does(call -> Answers.ok(AuditView.PAGE.json(AuditView.page(services, audit(call))))),
                Route.get("/retention", "Shows how long runs are kept, and how far the workers are with it.")
                        .answers(200, "The retention.", RETENTION)
                        .does(call -> retention()),
                Route.put("/retention", "Keeps runs for these periods, in place of what the code declares.")
                        .role(Role.ADMIN)
                        .body(
                                required(
                                        "all",
                                        ValueType.TEXT,
                                        "The period of runs that no rule matches, such as P30D, or 'forever'."),
                                optional(
                                        "rules",
                                        ValueType.MAPS,
                                        "Periods of other runs; the first rule that matches counts. Each has a 'period', and 'definition', 'queue' or 'outcome'."),
                                optional("ids", ValueType.TEXT, "How long ids are remembered."),
                                optional("audit", ValueType.TEXT, "How long the audit is kept."))
                        .answers(200, "The retention afterwards.", RETENTION)
                        .does(this::change),
                Route.post("/retention/reset", "Goes back to what the code declares.")
                        .role(Role.ADMIN)
                        .answers(200, "The retention afterwards.", RETENTION)
                        .does(call -> {
                            services.perdure().as(call.operator()).retention().reset();
                            return retention();
                        }));
    }

    private static AuditFilter audit(Call call) {
        AuditFilter page = AuditFilter.all().limit(Paging.limit(call));
        if (call.query("subject").isPresent() != call.query("name").isPresent()) {
            throw Problem.invalid("The parameters 'subject' and 'name' go together. Give both, or none.");
        }
        AuditFilter of = call.query("subject")
                .map(subject -> page.of(
                        Call.constant(AuditEntry.Subject.class, "subject", subject),
                        call.query("name").orElse("")))
                .orElse(page);
        return call.query("after").map(AuditView::decoded).map(of::after).orElse(of);
    }

    private ApiResponse retention() {
        return Answers.ok(RETENTION.json(services.perdure().retention().info()));
    }

    private ApiResponse change(Call call) {
        Retention retention = Retention.of(period(call, "all").orElseThrow());
        for (JsonNode rule : call.property("rules").map(JsonNode::values).orElse(List.of())) {
            retention = withRule(retention, rule);
        }
        retention = period(call, "ids").map(retention::rememberIds).orElse(retention);
        Retention whole = period(call, "audit").map(retention::keepAudit).orElse(retention);
        services.perdure().as(call.operator()).retention().change(whole);
        return retention();
    }

    private static Retention withRule(Retention retention, JsonNode rule) {
        Match runs = Retention.runs();
        @Nullable Duration period = null;
        for (var each : rule.properties()) {
            String value = each.getValue().asString();
            switch (each.getKey()) {
                case "definition" -> runs = runs.definition(value);
                case "queue" -> runs = runs.queue(value);
                case "outcome" -> runs = runs.outcome(Call.constant(RunState.class, "state", value));
                case "period" ->
                    period = value.equals(FOREVER)
                            ? Retention.FOREVER
                            : Call.parsed("period", value, Duration::parse, "a duration such as P30D, or 'forever'");
                default ->
                    throw Problem.invalid(
                            "A rule of the retention has no property '%s'. It has 'period', 'definition', 'queue' and 'outcome'."
                                    .formatted(each.getKey()));
            }
        }
        if (period == null) {
            throw Problem.invalid("A rule of the retention has no 'period'. Give one such as P30D, or 'forever'.");
        }
        return retention.keep(runs, period);
    }

    private static Optional<Duration> period(Call call, String name) {
        return call.text(name).filter(FOREVER::equals).isPresent()
                ? Optional.of(Retention.FOREVER)
                : call.bodyDuration(name);
    }
}

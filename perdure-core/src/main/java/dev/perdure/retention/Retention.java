package dev.perdure.retention;

import dev.perdure.RunState;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.text.Names;
import dev.perdure.internal.text.Texts;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How long the store keeps runs that have ended. Immutable. Without any, it keeps every run for 30 days after its end.
 *
 * <pre>{@code
 * Perdure.on(store)
 *         .register(new Orders())
 *         .retention(Retention.days(30)
 *                 .keep(runs().definition("audit"), Retention.FOREVER)
 *                 .keep(runs().outcome(RunState.FAILED), Duration.ofDays(90)))
 *         .start();
 * }</pre>
 *
 * <p>The first rule that matches a run gives its period. A run is removed together with its children and tasks, when
 * the period of each of them is over.
 */
public final class Retention {
    /** As a period: the run is never removed. */
    public static final Duration FOREVER = ChronoUnit.FOREVER.getDuration();

    private static final Duration SHORTEST = Duration.ofSeconds(1);
    private static final int MAX_NAME = 100;
    private static final int MOST_RULES = 1_000;
    private static final String ALL = "all";
    private static final String IDS = "ids";
    private static final String AUDIT = "audit";
    private static final String RULE = "rule:";
    private static final String NEVER = "forever";
    /** Names have no control characters, so this separates them. */
    private static final char SEPARATOR = '\t';

    private static final Duration STANDARD_AUDIT = Duration.ofDays(365);
    private static final Retention STANDARD = new Retention(Duration.ofDays(30), List.of(), null, null);

    private final Duration all;
    private final List<Rule> rules;
    private final @Nullable Duration ids;
    private final @Nullable Duration audit;

    private Retention(Duration all, List<Rule> rules, @Nullable Duration ids, @Nullable Duration audit) {
        this.all = all;
        this.rules = rules;
        this.ids = ids;
        this.audit = audit;
    }

    /**
     * A period and the runs that it is for.
     *
     * @param runs the runs
     * @param period how long after their end they are kept, or {@link #FOREVER}
     */
    public record Rule(Match runs, Duration period) {}

    /** The runs that a rule is for. Immutable. */
    public static final class Match {
        private static final Match ANY = new Match(null, null, null);

        private final @Nullable String definition;
        private final @Nullable String queue;
        private final @Nullable RunState outcome;

        private Match(@Nullable String definition, @Nullable String queue, @Nullable RunState outcome) {
            this.definition = definition;
            this.queue = queue;
            this.outcome = outcome;
        }

        /** Only runs of this definition. */
        public Match definition(String name) {
            return new Match(Names.require("definition", name, MAX_NAME), queue, outcome);
        }

        /** Only runs that were started in this queue. */
        public Match queue(String name) {
            return new Match(definition, Names.require("queue", name, MAX_NAME), outcome);
        }

        /** Only runs that ended in this state. */
        public Match outcome(RunState state) {
            Texts.requireGiven("outcome", state);
            if (!state.isTerminal()) {
                throw new InvalidRequestException(
                        "A run does not end as %s. Give COMPLETED, FAILED, CANCELLED or SKIPPED.".formatted(state));
            }
            return new Match(definition, queue, state);
        }

        /** The definition of the runs, if it matters. */
        public Optional<String> definition() {
            return Optional.ofNullable(definition);
        }

        /** The queue in which the runs were started, if it matters. */
        public Optional<String> queue() {
            return Optional.ofNullable(queue);
        }

        /** The state in which the runs ended, if it matters. */
        public Optional<RunState> outcome() {
            return Optional.ofNullable(outcome);
        }

        private boolean matches(String ofDefinition, String ofQueue, RunState state) {
            return (definition == null || definition.equals(ofDefinition))
                    && (queue == null || queue.equals(ofQueue))
                    && (outcome == null || outcome == state);
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Match match
                    && Objects.equals(definition, match.definition)
                    && Objects.equals(queue, match.queue)
                    && outcome == match.outcome;
        }

        @Override
        public int hashCode() {
            return Objects.hash(definition, queue, outcome);
        }

        /** The conditions, such as {@code definition 'order', outcome FAILED}. */
        @Override
        public String toString() {
            String conditions = String.join(
                    ", ",
                    Stream.of(
                                    definition == null ? "" : "definition '" + definition + "'",
                                    queue == null ? "" : "queue '" + queue + "'",
                                    outcome == null ? "" : "outcome " + outcome)
                            .filter(condition -> !condition.isEmpty())
                            .toList());
            return conditions.isEmpty() ? "all" : conditions;
        }
    }

    /** All runs, to be narrowed: {@code runs().definition("order").outcome(RunState.FAILED)}. */
    public static Match runs() {
        return Match.ANY;
    }

    /** 30 days for every run. */
    public static Retention standard() {
        return STANDARD;
    }

    /** This period for every run that no rule matches; or {@link #FOREVER}. */
    public static Retention of(Duration period) {
        return new Retention(requirePeriod(period), List.of(), null, null);
    }

    /** So many days for every run that no rule matches. */
    public static Retention days(int days) {
        return of(Duration.ofDays(days));
    }

    /** For stores: a retention with the settings that {@link #settings()} returned. */
    public static Retention of(Map<String, String> settings) {
        Duration all = STANDARD.all;
        Duration ids = null;
        Duration audit = null;
        List<Rule> rules = new ArrayList<>();
        for (Map.Entry<String, String> each : new TreeMap<>(settings).entrySet()) {
            if (each.getKey().equals(ALL)) {
                all = period(each.getValue());
            } else if (each.getKey().equals(IDS)) {
                ids = period(each.getValue());
            } else if (each.getKey().equals(AUDIT)) {
                audit = period(each.getValue());
            } else if (each.getKey().startsWith(RULE)) {
                rules.add(rule(each.getValue()));
            }
        }
        return new Retention(all, List.copyOf(rules), ids, audit);
    }

    /** Keeps these runs for this long, unless an earlier rule matches; {@link #FOREVER} keeps them always. */
    public Retention keep(Match runs, Duration period) {
        if (rules.size() == MOST_RULES) {
            throw new InvalidRequestException(
                    "The retention has %s rules, and can have no more. Combine some of them.".formatted(MOST_RULES));
        }
        List<Rule> more = new ArrayList<>(rules);
        more.add(new Rule(runs, requirePeriod(period)));
        return new Retention(all, List.copyOf(more), ids, audit);
    }

    /**
     * Remembers ids for this long after the end of their runs, if that is longer than their period: the id, the input
     * and the outcome stay, so that a start under the id still finds the run and its result. Everything else is removed
     * when the period is over. Without this, the id is free again then; or, in a change of an operator, when the code
     * declares it.
     */
    public Retention rememberIds(Duration period) {
        return new Retention(all, rules, requirePeriod(period), audit);
    }

    /**
     * Keeps the entries of the audit for this long, or {@link #FOREVER}. Without this, 365 days; or, in a change of an
     * operator, as long as the code declares.
     */
    public Retention keepAudit(Duration period) {
        return new Retention(all, rules, ids, requirePeriod(period));
    }

    /**
     * For stores: what is in effect when an operator has put this retention in the place of what the code declares. The
     * periods of ids and of the audit protect against loss that nobody sees, so they stay as declared unless this
     * retention names them.
     */
    public Retention inPlaceOf(Retention declared) {
        return new Retention(all, rules, ids == null ? declared.ids : ids, audit == null ? declared.audit : audit);
    }

    /** The period of a run. */
    public Duration period(String definition, String queue, RunState state) {
        return rules.stream()
                .filter(rule -> rule.runs().matches(definition, queue, state))
                .findFirst()
                .map(Rule::period)
                .orElse(all);
    }

    /** How long ids are remembered, if that was asked for. */
    public Optional<Duration> ids() {
        return Optional.ofNullable(ids);
    }

    /** The period of the entries of the audit. */
    public Duration audit() {
        return audit == null ? STANDARD_AUDIT : audit;
    }

    /** The period of runs that no rule matches. */
    public Duration all() {
        return all;
    }

    /** The rules, in the order in which they are tried. */
    public List<Rule> rules() {
        return rules;
    }

    /** The shortest of all periods. */
    public Duration shortest() {
        return Stream.concat(Stream.of(all), rules.stream().map(Rule::period))
                .min(Duration::compareTo)
                .orElseThrow();
    }

    /** For stores: everything that it says, as names with texts. */
    public Map<String, String> settings() {
        Map<String, String> settings = new TreeMap<>();
        settings.put(ALL, text(all));
        if (ids != null) {
            settings.put(IDS, text(ids));
        }
        if (audit != null) {
            settings.put(AUDIT, text(audit));
        }
        for (int i = 0; i < rules.size(); i++) {
            settings.put(String.format(Locale.ROOT, "%s%04d", RULE, i), text(rules.get(i)));
        }
        return settings;
    }

    private static String text(Rule rule) {
        Match runs = rule.runs();
        return String.join(
                String.valueOf(SEPARATOR),
                text(rule.period()),
                runs.outcome == null ? "" : runs.outcome.name(),
                Objects.requireNonNullElse(runs.queue, ""),
                Objects.requireNonNullElse(runs.definition, ""));
    }

    private static Rule rule(String text) {
        int first = text.indexOf(SEPARATOR);
        int second = text.indexOf(SEPARATOR, first + 1);
        int third = text.indexOf(SEPARATOR, second + 1);
        String outcome = text.substring(first + 1, second);
        String queue = text.substring(second + 1, third);
        String definition = text.substring(third + 1);
        Match runs = new Match(
                definition.isEmpty() ? null : definition,
                queue.isEmpty() ? null : queue,
                outcome.isEmpty() ? null : RunState.valueOf(outcome));
        return new Rule(runs, period(text.substring(0, first)));
    }

    private static String text(Duration period) {
        return period.equals(FOREVER) ? NEVER : period.toString();
    }

    private static Duration period(String text) {
        return text.equals(NEVER) ? FOREVER : Duration.parse(text);
    }

    private static Duration requirePeriod(@Nullable Duration period) {
        Duration given = Texts.requireGiven("retention period", period);
        if (given.compareTo(SHORTEST) < 0) {
            throw new InvalidRequestException(
                    "The retention period is %s; it is at least %s, or FOREVER.".formatted(given, SHORTEST));
        }
        return given;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Retention retention && settings().equals(retention.settings());
    }

    @Override
    public int hashCode() {
        return settings().hashCode();
    }

    /** All periods, such as {@code all PT720H; definition 'audit' forever}. */
    @Override
    public String toString() {
        List<String> parts = new ArrayList<>();
        rules.forEach(rule -> parts.add(rule.runs() + " " + text(rule.period())));
        parts.add((rules.isEmpty() ? "all " : "all others ") + text(all));
        if (ids != null) {
            parts.add("ids " + text(ids));
        }
        if (audit != null) {
            parts.add("audit " + text(audit));
        }
        return String.join("; ", parts);
    }
}

package dev.perdure.internal.schedule;

import dev.perdure.attribute.AttributeValue;
import dev.perdure.attribute.Description;
import dev.perdure.schedule.CatchUp;
import dev.perdure.schedule.Overlap;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A schedule as it is stored: all that a worker needs to fire, without the code that declares it. A field that a later
 * version adds must allow null.
 *
 * @param what what it runs
 * @param rules when
 * @param exclusions but not on these days
 * @param bounds from when, until when, how often, how much later
 * @param policies what happens if something gets in the way
 * @param options how the runs are started
 */
public record ScheduleSpec(
        Target what, List<Rule> rules, List<Exclusion> exclusions, Bounds bounds, Policies policies, Options options) {
    /**
     * What is run.
     *
     * @param definition its name
     * @param dag whether it is a DAG
     * @param input the encoded input, in Base64
     */
    public record Target(String definition, boolean dag, String input) {}

    /** Which kind of rule. */
    public enum RuleKind {
        CRON,
        EVERY,
        AFTER_END,
        AT
    }

    /**
     * A rule by which times come.
     *
     * @param kind which; the other fields are of one kind each
     */
    public record Rule(
            RuleKind kind,
            @Nullable String cron,
            @Nullable String zone,
            @Nullable Duration duration,
            @Nullable List<Instant> instants) {}

    /** A day without times. */
    public record Exclusion(String zone, LocalDate day) {}

    /** From when, until when, how often (0: without end), and how much later at most. */
    public record Bounds(@Nullable Instant from, @Nullable Instant until, int limit, Duration jitter) {}

    /**
     * What happens if something gets in the way.
     *
     * @param overlap if a run has not ended
     * @param catchUp if no worker was there
     * @param within how late a time may be then, or null
     * @param pauseAfter after how many failures it is paused; 0 for never
     * @param reaction what is started then, or null
     */
    public record Policies(
            Overlap overlap,
            CatchUp.Kind catchUp,
            @Nullable Duration within,
            int pauseAfter,
            @Nullable Target reaction) {}

    /** How the runs are started, with attributes as {@link AttributeValue#encoded}. */
    public record Options(
            String queue,
            int priority,
            @Nullable String version,
            @Nullable Duration timeout,
            @Nullable Duration startWithin,
            @Nullable String key,
            int weight,
            Map<String, String> attributes,
            @Nullable String placement,
            @Nullable String memo) {
        /** The attributes of a description, by name. */
        static Map<String, String> encoded(Description description) {
            Map<String, String> encoded = new TreeMap<>();
            description.attributes().forEach((name, value) -> encoded.put(name, value.encoded()));
            return encoded;
        }

        /** What the runs are started with. */
        Description description() {
            Map<String, AttributeValue> values = new TreeMap<>();
            attributes.forEach((name, value) -> values.put(name, AttributeValue.decoded(value)));
            return new Description(values, Optional.ofNullable(memo), Optional.empty());
        }
    }

    boolean has(RuleKind kind) {
        return rules.stream().anyMatch(rule -> rule.kind() == kind);
    }
}

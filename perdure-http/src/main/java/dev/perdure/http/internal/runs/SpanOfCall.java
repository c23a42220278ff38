package dev.perdure.http.internal.runs;

import dev.perdure.http.internal.route.Call;
import dev.perdure.http.internal.route.Parameter;
import dev.perdure.http.internal.route.Problem;
import dev.perdure.spi.statistics.Statistics.Span;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** The parameters for a time that is cut into bars. */
final class SpanOfCall {
    private static final int DEFAULT_BARS = 30;
    private static final int MOST_BARS = 120;
    private static final Instant EARLIEST = Instant.parse("1970-01-01T00:00:00Z");
    private static final Instant LATEST = Instant.parse("9999-01-01T00:00:00Z");

    static final List<Parameter> PARAMETERS = List.of(
            Parameter.query("from", "The first instant."),
            Parameter.query("to", "The instant before which it ends."),
            Parameter.query("bars", "How many bars, 1 to %s. %s by default.".formatted(MOST_BARS, DEFAULT_BARS)));

    private SpanOfCall() {}

    /**
     * The time that a request asks for.
     *
     * @param ended whether runs belong to the bar in which they ended
     */
    static Span of(Call call, boolean ended) {
        Instant from = time(call, "from");
        Instant to = time(call, "to");
        int bars = call.number("bars", DEFAULT_BARS, 1, MOST_BARS);
        if (Duration.between(from, to).compareTo(Duration.ofMillis(bars)) < 0) {
            throw Problem.invalid(
                    "The time from %s to %s has less than a millisecond for each of %s bars. Give a longer one."
                            .formatted(from, to, bars));
        }
        return new Span(from, to, bars, ended);
    }

    private static Instant time(Call call, String name) {
        Instant time = call.time(name)
                .orElseThrow(() -> Problem.invalid("The parameter '%s' is missing. Give a time.".formatted(name)));
        if (time.isBefore(EARLIEST) || time.isAfter(LATEST)) {
            throw Problem.invalid("The parameter '%s' is %s; it is %s to %s.".formatted(name, time, EARLIEST, LATEST));
        }
        return time;
    }
}

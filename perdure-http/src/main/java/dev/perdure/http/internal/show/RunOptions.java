package dev.perdure.http.internal.show;

import static dev.perdure.http.internal.route.Body.Property.optional;

import dev.perdure.StartOptions;
import dev.perdure.attribute.Attribute;
import dev.perdure.attribute.AttributeValue;
import dev.perdure.attribute.Condition;
import dev.perdure.http.internal.route.Body;
import dev.perdure.http.internal.route.Body.ValueType;
import dev.perdure.http.internal.route.Call;
import dev.perdure.http.internal.route.Parameter;
import dev.perdure.http.internal.route.Problem;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;

/** How runs are started. A start has these options in its query, a schedule has the same in its body. */
public final class RunOptions {
    /** The properties of a body. */
    public static final List<Body.Property> PROPERTIES = List.of(
            optional("queue", ValueType.TEXT, "The queue."),
            optional("key", ValueType.TEXT, "The key in the queue."),
            optional("priority", ValueType.INTEGER, "The priority; higher runs begin first."),
            optional("weight", ValueType.INTEGER, "How many units of the queue's rate a run takes. 1 by default."),
            optional("version", ValueType.TEXT, "The version to which runs are pinned."),
            optional("requires", ValueType.TEXTS, "Labels that a worker must have, such as gpu=true or memory>=16."),
            optional("prefers", ValueType.TEXTS, "Labels of workers that take a run first, if there are such workers."),
            optional("timeout", ValueType.TEXT, "The timeout, such as PT1H."),
            optional(
                    "start_within", ValueType.TEXT, "Cancels a run that has not begun within this time, such as PT5M."),
            optional(
                    "attributes",
                    ValueType.TEXTS,
                    "What runs are found by: customer=c-7, total=100, urgent=true, due=2026-01-31T00:00:00Z, tags~new. "
                            + "Types are those of 'where' in a list of runs."),
            optional("memo", ValueType.TEXT, "What a person reads about a run."));

    /** The same as parameters of a query. */
    public static final List<Parameter> PARAMETERS = PROPERTIES.stream()
            .map(property -> new Parameter(
                    property.name(), Parameter.Place.QUERY, property.about(), property.type() == ValueType.TEXTS))
            .toList();

    /** Where options are: the query or the body of a request. */
    private interface Source {
        Optional<String> text(String name);

        List<String> texts(String name);

        Optional<Integer> number(String name);

        Optional<Duration> duration(String name);
    }

    private record Query(Call call) implements Source {
        @Override
        public Optional<String> text(String name) {
            return call.query(name);
        }

        @Override
        public List<String> texts(String name) {
            return call.all(name);
        }

        @Override
        public Optional<Integer> number(String name) {
            return call.query(name).map(given -> call.number(name, 0, Integer.MIN_VALUE, Integer.MAX_VALUE));
        }

        @Override
        public Optional<Duration> duration(String name) {
            return call.duration(name);
        }
    }

    private record Properties(Call call) implements Source {
        @Override
        public Optional<String> text(String name) {
            return call.text(name);
        }

        @Override
        public List<String> texts(String name) {
            return call.texts(name);
        }

        @Override
        public Optional<Integer> number(String name) {
            return call.bodyNumber(name);
        }

        @Override
        public Optional<Duration> duration(String name) {
            return call.bodyDuration(name);
        }
    }

    private RunOptions() {}

    /** These options, and those in the query of a request. */
    public static StartOptions ofQuery(StartOptions options, Call call) {
        return of(options, new Query(call));
    }

    /** The options in the body of a request. */
    public static StartOptions ofBody(Call call) {
        return of(StartOptions.defaults(), new Properties(call));
    }

    private static StartOptions of(StartOptions given, Source source) {
        StartOptions options = given;
        options = and(options, source.text("queue"), StartOptions::queue);
        options = and(options, source.text("key"), StartOptions::key);
        options = and(options, source.number("priority"), StartOptions::priority);
        options = and(options, source.number("weight"), StartOptions::weight);
        options = and(options, source.text("version"), StartOptions::version);
        options = options.requires(source.texts("requires").toArray(String[]::new));
        options = options.prefers(source.texts("prefers").toArray(String[]::new));
        options = and(options, source.duration("timeout"), StartOptions::timeout);
        options = and(options, source.duration("start_within"), StartOptions::startWithin);
        options = attributes(options, source.texts("attributes"));
        return and(options, source.text("memo"), StartOptions::memo);
    }

    /** An option that may be there. */
    public static <S, T> S and(S some, Optional<T> value, BiFunction<S, T, S> option) {
        return value.map(given -> option.apply(some, given)).orElse(some);
    }

    /** Read like the conditions of a list, so that the same text finds the run again. */
    private static StartOptions attributes(StartOptions given, List<String> texts) {
        StartOptions options = given;
        Map<String, List<String>> keywords = new LinkedHashMap<>();
        for (String text : texts) {
            Condition condition = Condition.parsed(text);
            String name = condition.name();
            options = switch (condition.comparison()) {
                case IS -> attribute(options, name, condition.value());
                case CONTAINS -> {
                    keywords.computeIfAbsent(name, none -> new ArrayList<>())
                            .addAll(condition.value().texts());
                    yield options;
                }
                case AT_LEAST, BELOW ->
                    throw Problem.invalid(
                            "The attribute '%s' is a range. Give it a value: NAME=VALUE, or NAME~WORD for each of its keywords."
                                    .formatted(text));
            };
        }
        for (Map.Entry<String, List<String>> each : keywords.entrySet()) {
            options = options.attribute(Attribute.keywords(each.getKey()), each.getValue());
        }
        return options;
    }

    private static StartOptions attribute(StartOptions options, String name, AttributeValue value) {
        return switch (value) {
            case AttributeValue.Text text -> options.attribute(Attribute.text(name), text.value());
            case AttributeValue.Decimal number -> options.attribute(Attribute.number(name), number.value());
            case AttributeValue.Flag flag -> options.attribute(Attribute.flag(name), flag.value());
            case AttributeValue.Time time -> options.attribute(Attribute.time(name), time.value());
            case AttributeValue.Keywords words -> options.attribute(Attribute.keywords(name), words.texts());
            case AttributeValue.Encrypted encrypted ->
                throw Problem.invalid(
                        "The attribute '%s' is an encrypted value. Give the plain value.".formatted(name));
            case AttributeValue.Unreadable unreadable ->
                throw Problem.invalid(
                        "The attribute '%s' has no value that can be read. Give the plain value.".formatted(name));
        };
    }
}

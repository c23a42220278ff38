package dev.perdure.http.internal.route;

import dev.perdure.audit.Operator;
import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.http.internal.json.Json;
import dev.perdure.http.security.Caller;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** A request to a route, after everything about it that does not depend on the engine was checked. */
public final class Call {
    private static final int MAX_OPERATOR = 200;

    private final ApiRequest request;
    private final RouteTable.Match match;
    private final Caller caller;
    private final Map<String, List<String>> query;
    private final byte[] body;
    private final Optional<JsonNode> json;

    /**
     * Checks query and body.
     *
     * @param request the request
     * @param match its route
     * @param caller who sends it
     * @param body the body
     */
    public Call(ApiRequest request, RouteTable.Match match, Caller caller, byte[] body) {
        this.request = request;
        this.match = match;
        this.caller = caller;
        this.query = query(request.target(), match.route());
        this.body = body;
        this.json = json(match.route().body());
    }

    private static Map<String, List<String>> query(String target, Route route) {
        int mark = target.indexOf('?');
        Map<String, List<String>> found = new TreeMap<>();
        if (mark < 0 || mark == target.length() - 1) {
            return found;
        }
        for (String pair : target.substring(mark + 1).split("&", -1)) {
            int equals = pair.indexOf('=');
            String name = decoded(equals < 0 ? pair : pair.substring(0, equals));
            String value = equals < 0 ? "" : decoded(pair.substring(equals + 1));
            Parameter parameter = parameter(route, name);
            List<String> values = found.computeIfAbsent(name, unseen -> new ArrayList<>());
            if (!values.isEmpty() && !parameter.repeated()) {
                throw Problem.invalid("The parameter '%s' is given twice. Give it once.".formatted(name));
            }
            values.add(value);
        }
        return found;
    }

    private static String decoded(String text) {
        return RouteTable.decoded(text.replace("+", "%20"), "query");
    }

    private static Parameter parameter(Route route, String name) {
        List<Parameter> known = route.parameters().stream()
                .filter(parameter -> parameter.place() == Parameter.Place.QUERY)
                .toList();
        return known.stream()
                .filter(parameter -> parameter.name().equals(name))
                .findFirst()
                .orElseThrow(() -> Problem.invalid("There is no parameter '%s' here. %s"
                        .formatted(
                                name,
                                known.isEmpty()
                                        ? "Leave it out."
                                        : "There are: %s."
                                                .formatted(String.join(
                                                        ", ",
                                                        known.stream()
                                                                .map(Parameter::name)
                                                                .toList())))));
    }

    // ---- the body

    private Optional<JsonNode> json(Body declared) {
        return switch (declared) {
            case Body.Raw raw -> Optional.empty();
            case Body.None none -> {
                if (body.length > 0) {
                    throw Problem.invalid("This request takes no body. Leave it out.");
                }
                yield Optional.empty();
            }
            case Body.Any any -> parsed();
            case Body.Properties object -> {
                Optional<JsonNode> parsed = parsed();
                check(object, parsed.orElseGet(Json::object));
                yield parsed;
            }
        };
    }

    private Optional<JsonNode> parsed() {
        if (body.length == 0) {
            return Optional.empty();
        }
        String type = request.header("Content-Type").orElse("").split(";", 2)[0].strip();
        if (!type.toLowerCase(Locale.ROOT).equals("application/json")) {
            throw new Problem(
                    415,
                    "UnsupportedMediaType",
                    "The body has the Content-Type '%s'. Send JSON as application/json.".formatted(type));
        }
        try {
            return Optional.of(Json.read(body));
        } catch (JacksonException wrong) {
            throw Problem.invalid(
                    "The body is not JSON: %s. Send JSON in UTF-8.".formatted(wrong.getOriginalMessage()));
        } catch (StackOverflowError tooDeep) {
            throw Problem.invalid("The body is nested too deeply. Send a flatter value.");
        }
    }

    private static void check(Body.Properties declared, JsonNode given) {
        List<String> names =
                declared.properties().stream().map(Body.Property::name).toList();
        if (!given.isObject()) {
            throw Problem.invalid("The body is not a JSON object. It has the properties %s.".formatted(names));
        }
        given.propertyNames().forEach(name -> {
            if (!names.contains(name)) {
                throw Problem.invalid("The body has a property '%s'. It has the properties %s.".formatted(name, names));
            }
        });
        for (Body.Property property : declared.properties()) {
            JsonNode value = given.get(property.name());
            if (value == null) {
                if (property.required()) {
                    throw Problem.invalid(
                            "The body has no property '%s': %s Give it.".formatted(property.name(), property.about()));
                }
            } else if (!fits(property.type(), value)) {
                throw Problem.invalid("The property '%s' of the body is no %s. Give it one."
                        .formatted(property.name(), named(property.type())));
            }
        }
    }

    private static boolean fits(Body.ValueType type, JsonNode value) {
        return switch (type) {
            case TEXT, TIME -> value.isString();
            case INTEGER -> value.isIntegralNumber() && value.canConvertToInt();
            case MAP -> value.isObject() && value.values().stream().allMatch(JsonNode::isString);
            case TEXTS -> value.isArray() && value.values().stream().allMatch(JsonNode::isString);
            case MAPS -> value.isArray() && value.values().stream().allMatch(each -> fits(Body.ValueType.MAP, each));
            case ANY -> true;
        };
    }

    private static String named(Body.ValueType type) {
        return switch (type) {
            case TEXT -> "text";
            case TIME -> "time such as 2026-01-31T12:00:00Z";
            case INTEGER -> "whole number of at most 32 bits";
            case MAP -> "object whose values are texts";
            case TEXTS -> "list of texts";
            case MAPS -> "list of objects whose values are texts";
            case ANY -> "JSON";
        };
    }

    /** The bytes of the body. */
    public byte[] bytes() {
        return body;
    }

    /** The body as JSON, if there is one. */
    public Optional<JsonNode> json() {
        return json;
    }

    /** A property of the body, if it is there. */
    public Optional<JsonNode> property(String name) {
        return json.map(object -> object.get(name));
    }

    /** A text of the body, if it is there. */
    public Optional<String> text(String name) {
        return property(name).map(JsonNode::asString);
    }

    /** A text of the body that the route requires. */
    public String requiredText(String name) {
        return text(name).orElseThrow();
    }

    /** The texts of a list of the body; empty if it is not there. */
    public List<String> texts(String name) {
        return property(name).stream()
                .flatMap(list -> list.values().stream())
                .map(JsonNode::asString)
                .toList();
    }

    /** A number of the body, if it is there. */
    public Optional<Integer> bodyNumber(String name) {
        return property(name).map(JsonNode::asInt);
    }

    /** A number of the body that the route requires. */
    public int requiredNumber(String name) {
        return property(name).orElseThrow().asInt();
    }

    /** A time of the body. */
    public Optional<Instant> bodyTime(String name) {
        return text(name)
                .map(text -> parsed("property", name, text, Instant::parse, "a time such as 2026-01-31T12:00:00Z"));
    }

    /** A time span of the body. */
    public Optional<Duration> bodyDuration(String name) {
        return text(name).map(text -> parsed("property", name, text, Duration::parse, "a duration such as PT30S"));
    }

    // ---- path, query and headers

    /** The value of a name in the path. */
    public String path(String name) {
        return match.values().getOrDefault(name, "");
    }

    /** A number in the path. */
    public int pathNumber(String name) {
        return parsed("part of the path", name, path(name), Integer::parseInt, "a whole number");
    }

    /** A parameter of the query, if it is there. */
    public Optional<String> query(String name) {
        return all(name).stream().findFirst();
    }

    /** All values of a parameter of the query. */
    public List<String> all(String name) {
        return query.getOrDefault(name, List.of());
    }

    /** All values of a parameter, which may also be separated by commas. */
    public List<String> each(String name) {
        return all(name).stream()
                .flatMap(value -> Arrays.stream(value.split(",", -1)))
                .toList();
    }

    /** A whole number of the query. */
    public int number(String name, int otherwise, int least, int most) {
        int value = query(name)
                .map(text -> parsed("parameter", name, text, Integer::parseInt, "a whole number"))
                .orElse(otherwise);
        if (value < least || value > most) {
            throw Problem.invalid("The parameter '%s' is %s; it is %s to %s.".formatted(name, value, least, most));
        }
        return value;
    }

    /** A long number of the query. */
    public Optional<Long> offset(String name) {
        return query(name).map(text -> parsed("parameter", name, text, Long::parseLong, "a whole number"));
    }

    /** A time of the query. */
    public Optional<Instant> time(String name) {
        return query(name)
                .map(text -> parsed("parameter", name, text, Instant::parse, "a time such as 2026-01-31T12:00:00Z"));
    }

    /** A duration of the query. */
    public Optional<Duration> duration(String name) {
        return query(name).map(text -> parsed("parameter", name, text, Duration::parse, "a duration such as PT30S"));
    }

    /** Whether a parameter of the query is given as true. */
    public boolean flag(String name) {
        return query(name)
                .map(text -> switch (text) {
                    case "", "true" -> true;
                    case "false" -> false;
                    default -> throw Problem.invalid("The parameter '%s' is neither true nor false.".formatted(name));
                })
                .orElse(false);
    }

    /** A value of an enum. */
    public static <E extends Enum<E>> E constant(Class<E> type, String what, String text) {
        try {
            return Enum.valueOf(type, text);
        } catch (IllegalArgumentException unknown) {
            throw Problem.invalid(
                    "'%s' is no %s. There are: %s.".formatted(text, what, Arrays.toString(type.getEnumConstants())));
        }
    }

    /** A value in the body that is part of another one. */
    public static <T> T parsed(String name, String text, Function<String, T> parser, String expected) {
        return parsed("property", name, text, parser, expected);
    }

    private static <T> T parsed(String what, String name, String text, Function<String, T> parser, String expected) {
        try {
            return parser.apply(text);
        } catch (DateTimeException | NumberFormatException | ArithmeticException wrong) {
            throw Problem.invalid("The %s '%s' is '%s'. Give %s.".formatted(what, name, text, expected));
        }
    }

    /** A header, if it is there. */
    public Optional<String> header(String name) {
        return request.header(name);
    }

    /** The request. */
    public ApiRequest request() {
        return request;
    }

    /** Who sends it. */
    public Caller caller() {
        return caller;
    }

    /** Who sends it, for the audit. */
    public Operator operator() {
        String address = request.address();
        return Operator.named(caller.name())
                .from(address.length() > MAX_OPERATOR ? address.substring(0, MAX_OPERATOR) : address);
    }
}

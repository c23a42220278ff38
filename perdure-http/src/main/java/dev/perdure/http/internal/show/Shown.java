package dev.perdure.http.internal.show;

import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.attribute.AttributeValue;
import dev.perdure.error.PayloadException;
import dev.perdure.error.RecordedException;
import dev.perdure.http.internal.json.Json;
import dev.perdure.http.security.Redaction;
import dev.perdure.http.security.Redaction.Kind;
import dev.perdure.http.security.Redaction.Subject;
import dev.perdure.spi.EngineView;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.EncryptedPayload;
import dev.perdure.spi.payload.PayloadPlace;
import dev.perdure.spi.payload.PayloadReference;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Shows payloads and texts, after the redaction. Thread-safe. */
public final class Shown {
    /** How many bytes of a payload a list shows at most. */
    public static final int MOST_BYTES = 256 * 1024;

    /** The definition of bulk actions. */
    public static final String BULK = "perdure.bulk";

    /** What the definitions of schedules begin with. */
    private static final String SCHEDULES = "perdure.schedule";

    /** What the definitions of edits of objects end with. */
    private static final String EDIT = "/(edit)";

    private static final String NOT_SHOWN = "(not shown, because a redaction is set up, which cannot read it)";

    private static final Pattern NAMED_DEFINITION = Pattern.compile(" definition=([^\\s,]+)");

    private final EngineView view;
    private final @Nullable Redaction redaction;

    /** With this redaction, or none. */
    public Shown(EngineView view, @Nullable Redaction redaction) {
        this.view = view;
        this.redaction = redaction;
    }

    /**
     * A payload as JSON; empty if it has no bytes. A payload that is not JSON is shown as text, or as an object with its
     * Base64; a large one, which is kept apart from its row, as an object with its hash and its size; an encrypted one as
     * an object with the id of its key and its size.
     */
    public Optional<JsonNode> payload(Subject what, Payload payload) {
        return payload.size() == 0 ? Optional.empty() : Optional.of(redacted(what, parsed(payload)));
    }

    /** A payload, unless it is too large for a list. */
    public Optional<JsonNode> small(Subject what, Payload payload) {
        return payload.size() > MOST_BYTES ? Optional.empty() : payload(what, payload);
    }

    /** The result of a run. If its codec does not write JSON, it is read as the registered type. */
    public Optional<JsonNode> typed(Subject what, Payload payload, PayloadPlace place, Optional<Type> type) {
        return typed(what, payload, List.of(place), type);
    }

    /** The same for a value that was made for one of these places. */
    private Optional<JsonNode> typed(Subject what, Payload payload, List<PayloadPlace> places, Optional<Type> type) {
        if (payload.size() == 0 || PayloadReference.of(payload).isPresent()) {
            return payload(what, payload);
        }
        try {
            return Optional.of(redacted(what, Json.read(payload.bytes())));
        } catch (JacksonException ofAnotherCodec) {
            return type.or(() -> EncryptedPayload.of(payload).map(encrypted -> Object.class))
                    .map(declared -> redacted(what, decoded(payload, places, declared)))
                    .or(() -> payload(what, payload));
        }
    }

    private JsonNode decoded(Payload payload, List<PayloadPlace> places, Type type) {
        return places.stream()
                .flatMap(place -> decoded(payload, place, type).stream())
                .findFirst()
                .orElseGet(() -> parsed(payload));
    }

    /** Empty if it was made for another place, or cannot be read. */
    private Optional<JsonNode> decoded(Payload payload, PayloadPlace place, Type type) {
        try {
            return Optional.of(Json.read(view.writeJson(view.codec(place).decode(payload, type), type)));
        } catch (PayloadException unreadable) {
            return Optional.empty();
        }
    }

    private static JsonNode parsed(Payload payload) {
        PayloadReference large = PayloadReference.of(payload).orElse(null);
        if (large != null) {
            return Json.object().put("payload", large.hash()).put("size", large.size());
        }
        EncryptedPayload encrypted = EncryptedPayload.of(payload).orElse(null);
        if (encrypted != null) {
            return sealed(encrypted);
        }
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(payload.bytes()))
                    .toString();
            try {
                return Json.read(text);
            } catch (JacksonException ofAnotherCodec) {
                return Json.text(text);
            }
        } catch (CharacterCodingException notText) {
            return Json.object().put("base64", Base64.getEncoder().encodeToString(payload.bytes()));
        }
    }

    /** A value after the redaction. */
    public JsonNode redacted(Subject what, JsonNode value) {
        JsonNode json = outputsByTask(value).orElse(value);
        if (redaction == null) {
            return json;
        }
        if (hasEncodedValues(what)) {
            return Json.text(NOT_SHOWN);
        }
        String shown = redaction.shown(what, Json.text(json));
        try {
            return Json.read(shown);
        } catch (JacksonException noJson) {
            return Json.text(shown);
        }
    }

    /**
     * Whether it has values of other definitions inside, as Base64, so that no redaction can tell what it hides: what a
     * schedule knows has the input of its runs, and the edit of an object has the values of its state.
     */
    private static boolean hasEncodedValues(Subject what) {
        return switch (what.kind()) {
            case INPUT, ENTRY, MAIL ->
                what.definition().startsWith(SCHEDULES) || what.definition().endsWith(EDIT);
            case RESULT, PUBLISHED, STATE, FAILURE, DESCRIPTION, LOG -> false;
        };
    }

    /** The outputs inside the result of a DAG without a task as its result; empty for any other value. */
    private static Optional<JsonNode> outputsByTask(JsonNode value) {
        if (value.size() != 1 || !(value.path("byTask") instanceof ObjectNode byTask)) {
            return Optional.empty();
        }
        ObjectNode outputs = Json.object();
        for (Map.Entry<String, JsonNode> task : byTask.properties()) {
            Optional<JsonNode> output =
                    task.getValue().isNull() ? Optional.of(task.getValue()) : encoded(task.getValue());
            if (output.isEmpty()) {
                return Optional.empty();
            }
            outputs.set(task.getKey(), output.get());
        }
        return Optional.of(outputs);
    }

    /** What this Base64 has; empty if it is none. */
    private static Optional<JsonNode> encoded(JsonNode base64) {
        try {
            return base64.isString()
                    ? Optional.of(parsed(new Payload(Base64.getDecoder().decode(base64.asString()))))
                    : Optional.empty();
        } catch (IllegalArgumentException noBase64) {
            return Optional.empty();
        }
    }

    /** A text after the redaction. */
    public String text(Subject what, String text) {
        if (redaction == null) {
            return text;
        }
        JsonNode shown = redacted(what, Json.text(text));
        return shown.isString() ? shown.asString() : Json.text(shown);
    }

    /** What to show of the message of an exception that may have a value of a run in it. */
    public String problem(String message) {
        return text(new Subject(Kind.FAILURE, "", ""), message);
    }

    /** A run in a list. */
    public RunView run(RunInfo stored) {
        RunInfo info = view.decrypted(stored);
        Subject described = new Subject(Kind.DESCRIPTION, info.definition(), "");
        Subject failed = new Subject(Kind.FAILURE, info.definition(), "");
        JsonNode attributes = redacted(described, attributes(info));
        return new RunView(
                info,
                info.reason().map(reason -> text(failed, reason)),
                info.description().status().map(status -> text(described, status)),
                info.description().memo().map(memo -> memo(info, text(described, memo))),
                attributes,
                unsearchable(stored).filter(attributes::has).toList());
    }

    /** The names of attributes by which no run is found, although {@code info} may have their values decrypted. */
    private static Stream<String> unsearchable(RunInfo stored) {
        return stored.description().attributes().entrySet().stream()
                .filter(each -> switch (each.getValue().kind()) {
                    case ENCRYPTED, UNREADABLE -> true;
                    case TEXT, NUMBER, FLAG, TIME, KEYWORDS -> false;
                })
                .map(Map.Entry::getKey);
    }

    private String memo(RunInfo info, String text) {
        return selected(info).map(runs -> text(runs, text)).orElse(text);
    }

    /** The input of a run. */
    public Optional<JsonNode> input(RunInfo info, Payload payload, Optional<Type> type) {
        Optional<JsonNode> input =
                typed(new Subject(Kind.INPUT, info.definition(), ""), payload, inputPlaces(info.id()), type);
        return selected(info)
                .flatMap(runs -> input.map(json -> redacted(runs, json)))
                .or(() -> input);
    }

    /** A task of a DAG has the input of the DAG's run, whose id is that of the task without its name. */
    private static List<PayloadPlace> inputPlaces(RunId run) {
        int name = run.value().lastIndexOf('/');
        return name <= 0
                ? List.of(PayloadPlace.input(run))
                : List.of(
                        PayloadPlace.input(run),
                        PayloadPlace.input(RunId.of(run.value().substring(0, name))));
    }

    /**
     * The runs that a bulk action is for. What it shows of itself has its filter, and that has values of their attributes;
     * so what is hidden of them is hidden there, too.
     */
    private static Optional<Subject> selected(RunInfo info) {
        if (!info.definition().equals(BULK)) {
            return Optional.empty();
        }
        Matcher named = NAMED_DEFINITION.matcher(info.description().memo().orElse(""));
        return Optional.of(new Subject(Kind.DESCRIPTION, named.find() ? named.group(1) : "", ""));
    }

    private static JsonNode attributes(RunInfo info) {
        ObjectNode values = Json.object();
        info.description().attributes().forEach((name, value) -> {
            switch (value) {
                case AttributeValue.Text text -> values.put(name, text.value());
                case AttributeValue.Decimal number -> values.put(name, number.value());
                case AttributeValue.Flag flag -> values.put(name, flag.value());
                case AttributeValue.Time time -> values.put(name, time.value().toString());
                case AttributeValue.Keywords keywords -> keywords.words().forEach(values.withArray(name)::add);
                case AttributeValue.Encrypted encrypted -> values.set(name, sealed(encrypted));
                case AttributeValue.Unreadable unreadable ->
                    values.set(name, Json.object().put("unreadable", unreadable.encoded()));
            }
        });
        return values;
    }

    /** An attribute that this process cannot decrypt. */
    private static JsonNode sealed(AttributeValue.Encrypted value) {
        return EncryptedPayload.of(value)
                .map(Shown::sealed)
                .orElseGet(() -> Json.object().put("encrypted", "").put("size", 0));
    }

    private static ObjectNode sealed(EncryptedPayload encrypted) {
        return Json.object().put("encrypted", encrypted.key()).put("size", encrypted.size());
    }

    /** The headers of a run. */
    public JsonNode headers(RunInfo info) {
        ObjectNode headers = Json.object();
        info.description().headers().forEach(headers::put);
        return redacted(new Subject(Kind.DESCRIPTION, info.definition(), ""), headers);
    }

    /** An exception as it was recorded. */
    public JsonNode failure(String definition, RecordedException thrown) {
        StringWriter stack = new StringWriter();
        thrown.printStackTrace(new PrintWriter(stack, true));
        ObjectNode json = Json.object().put("type", thrown.type());
        if (thrown.getMessage() != null) {
            json.put("message", thrown.getMessage());
        }
        json.put("stack", stack.toString());
        return redacted(new Subject(Kind.FAILURE, definition, ""), json);
    }
}

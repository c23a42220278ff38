package dev.perdure.internal.history;

import dev.perdure.History;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Premise;
import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.change.RunRef;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Exported runs as JSON, one object in one line. A payload that is UTF-8 is a text with exactly these bytes, because
 * its parsed form could lose digits; any other payload is {@code {"base64": …}}. The seed is a text, because many tools
 * for JSON cannot hold 64 bits.
 */
public final class HistoryFormat {
    /** Rises when a reader of the format before would misread it. A new property that may be ignored does not count. */
    private static final int FORMAT = 1;

    private static final JsonMapper MAPPER = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxStringLength(Integer.MAX_VALUE)
                            .build())
                    .build())
            .build();

    private HistoryFormat() {}

    // ---- writing

    static History write(ExportedRun run) {
        ObjectNode json = MAPPER.createObjectNode();
        json.put("format", FORMAT);
        json.put("run", run.id().value());
        json.put("definition", run.definition());
        if (run.createdAt() != null) {
            json.put("created_at", run.createdAt().toString());
        }
        Runs.Basis basis = run.basis();
        if (basis.version() != null) {
            json.put("version", basis.version());
        }
        write(json, run.end().state(), run.end().reason(), run.end().outcome());
        json.put("changed_at", run.end().at().toString());
        json.put("seed", Long.toString(basis.seed()));
        if (basis.deadline() != null) {
            json.put("deadline", basis.deadline().toString());
        }
        ObjectCall object = basis.object();
        if (object != null) {
            json.putObject("object")
                    .put("type", object.object().type())
                    .put("key", object.object().key())
                    .put("hold", object.hold().name());
        }
        write(json, "input", basis.input());
        write(json, "premises", basis.premises());
        write(json, "tasks", run.tasks());
        ArrayNode journal = json.putArray("journal");
        run.journal().forEach(recorded -> write(journal.addObject(), recorded));
        return new History(MAPPER.writeValueAsString(json));
    }

    private static void write(ObjectNode json, RunState state, String reason, Payload outcome) {
        json.put("state", state.name());
        if (!reason.isEmpty()) {
            json.put("reason", reason);
        }
        write(json, "outcome", outcome);
    }

    private static void write(ObjectNode json, String name, List<Premise> runs) {
        if (!runs.isEmpty()) {
            ArrayNode list = json.putArray(name);
            for (Premise run : runs) {
                ObjectNode one = list.addObject().put("run", run.run().id().value());
                write(one, run.state(), run.reason(), run.outcome());
            }
        }
    }

    private static void write(ObjectNode json, Recorded recorded) {
        Entry entry = recorded.entry();
        json.put("position", entry.position());
        json.put("note", entry.note());
        json.put("kind", entry.kind().name());
        json.put("name", entry.name());
        json.put("status", entry.status().name());
        json.put("at", recorded.at().toString());
        write(json, "payload", entry.payload());
    }

    private static void write(ObjectNode json, String name, Payload payload) {
        if (payload.size() == 0) {
            return;
        }
        try {
            json.put(
                    name,
                    StandardCharsets.UTF_8
                            .newDecoder()
                            .decode(ByteBuffer.wrap(payload.bytes()))
                            .toString());
        } catch (CharacterCodingException notText) {
            json.putObject(name).put("base64", Base64.getEncoder().encodeToString(payload.bytes()));
        }
    }

    // ---- reading

    /**
     * Reads a history.
     *
     * @param number which of the histories it is, from 1, for messages
     */
    public static ExportedRun read(History history, int number) {
        try {
            JsonNode json = MAPPER.readTree(history.json());
            requireFormat(number, json.path("format"));
            return read(json);
        } catch (JacksonException | IllegalArgumentException | DateTimeException wrong) {
            throw unreadable(number, wrong);
        }
    }

    private static void requireFormat(int number, JsonNode format) {
        if (!format.isInt() || format.asInt() != FORMAT) {
            throw new InvalidRequestException(
                    "History %s has format %s, and this version of Perdure reads format %s. Export the run with './perdure runs export' of this version."
                            .formatted(number, format.isMissingNode() ? "'none'" : format, FORMAT));
        }
    }

    private static InvalidRequestException unreadable(int number, RuntimeException wrong) {
        String why = wrong instanceof JacksonException json ? json.getOriginalMessage() : wrong.getMessage();
        return new InvalidRequestException(
                "History %s cannot be read: %s. Give the lines as './perdure runs export' has written them."
                        .formatted(number, why));
    }

    private static ExportedRun read(JsonNode json) {
        ExportedRun.End end = new ExportedRun.End(
                RunState.valueOf(text(json, "state")),
                Instant.parse(text(json, "changed_at")),
                json.path("reason").asString(""),
                payload(json, "outcome"));
        Runs.Basis basis = new Runs.Basis(
                json.path("version").asString(null),
                payload(json, "input"),
                Long.parseLong(text(json, "seed")),
                optional(json, "deadline").map(Instant::parse).orElse(null),
                runs(json, "premises"),
                object(json.path("object")));
        return new ExportedRun(
                RunId.of(text(json, "run")),
                text(json, "definition"),
                optional(json, "created_at").map(Instant::parse).orElse(null),
                end,
                basis,
                list(json, "journal", HistoryFormat::recorded),
                runs(json, "tasks"));
    }

    private static @Nullable ObjectCall object(JsonNode json) {
        return json.isMissingNode()
                ? null
                : new ObjectCall(
                        new ObjectKey(text(json, "type"), text(json, "key")),
                        ObjectCall.Hold.valueOf(text(json, "hold")));
    }

    private static List<Premise> runs(JsonNode json, String name) {
        return list(
                json,
                name,
                one -> new Premise(
                        new RunRef(RunId.of(text(one, "run")), 0),
                        RunState.valueOf(text(one, "state")),
                        payload(one, "outcome"),
                        one.path("reason").asString("")));
    }

    private static Recorded recorded(JsonNode json) {
        return new Recorded(
                new Entry(
                        number(json, "position"),
                        number(json, "note"),
                        Entry.Kind.valueOf(text(json, "kind")),
                        text(json, "name"),
                        Entry.Status.valueOf(text(json, "status")),
                        payload(json, "payload")),
                Instant.parse(text(json, "at")));
    }

    private static <T> List<T> list(JsonNode json, String name, Function<JsonNode, T> reader) {
        List<T> list = new ArrayList<>();
        json.path(name).forEach(one -> list.add(reader.apply(one)));
        return List.copyOf(list);
    }

    private static Payload payload(JsonNode json, String name) {
        JsonNode value = json.path(name);
        if (value.isMissingNode()) {
            return Payload.EMPTY;
        }
        return new Payload(
                value.isObject()
                        ? Base64.getDecoder().decode(text(value, "base64"))
                        : value.asString().getBytes(StandardCharsets.UTF_8));
    }

    private static String text(JsonNode json, String name) {
        return optional(json, name).orElseThrow(() -> missing(name));
    }

    private static int number(JsonNode json, String name) {
        JsonNode value = json.path(name);
        if (!value.isInt()) {
            throw missing(name);
        }
        return value.asInt();
    }

    private static IllegalArgumentException missing(String name) {
        return new IllegalArgumentException("the property '%s' is missing".formatted(name));
    }

    private static Optional<String> optional(JsonNode json, String name) {
        JsonNode value = json.path(name);
        return value.isString() ? Optional.of(value.asString()) : Optional.empty();
    }
}

package dev.perdure.cli.output;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a command prints: parts with a name each. As text, the parts follow each other; as JSON, they are the members of
 * one object. Not thread-safe.
 */
public final class Page {
    private final Instant now;
    private final List<Line> lines = new ArrayList<>();
    private final Map<String, @Nullable Object> members = new LinkedHashMap<>();

    /**
     * A line of text.
     *
     * @param text what it says
     * @param cut whether a terminal cuts it where it ends, so that a table stays one
     */
    private record Line(String text, boolean cut) {
        Line {
            text = ControlCharacters.replaced(text);
        }
    }

    /** An empty page, with ages seen from this time. */
    public Page(Instant now) {
        this.now = now;
    }

    /** A sentence for people; the member {@code message} as JSON. */
    public Page message(String sentence) {
        add(sentence);
        members.put("message", sentence);
        return this;
    }

    /** A sentence for people that scripts do not need. */
    public Page note(String sentence) {
        add(sentence);
        return this;
    }

    /** One thing, a line for each value that it has. */
    public <T> Page one(String name, Fields<T> fields, T thing) {
        beginPart("");
        List<Fields.Field<T>> given = fields.forText().stream()
                .filter(field -> !Cells.isEmpty(field.value().apply(thing)))
                .toList();
        int width =
                given.stream().mapToInt(field -> field.label().length()).max().orElse(0);
        given.forEach(field -> add("%s%s  %s"
                .formatted(
                        field.label(),
                        " ".repeat(width - field.label().length()),
                        Cells.line(field.value().apply(thing), now))));
        return data(name, fields, thing);
    }

    /** One thing, as JSON only. */
    public <T> Page data(String name, Fields<T> fields, T thing) {
        members.put(name, members(fields, thing));
        return this;
    }

    /** One value, as JSON only. */
    public Page value(String name, Object value) {
        members.put(name, Cells.json(value));
        return this;
    }

    /** Many things: a table, or a sentence if there are none. An array as JSON. */
    public <T> Page many(String name, Fields<T> fields, List<T> things, String ifNone) {
        return text(name, fields, things, ifNone).array(name, fields, things);
    }

    /** Many things, as JSON only. */
    public <T> Page array(String name, Fields<T> fields, List<T> things) {
        members.put(name, things.stream().map(thing -> members(fields, thing)).toList());
        return this;
    }

    /** Sentences under a title, as text only. */
    public Page lines(String title, List<String> sentences) {
        beginPart(title);
        sentences.forEach(this::add);
        return this;
    }

    /** Many things, as text only. */
    public <T> Page text(String name, Fields<T> fields, List<T> things, String ifNone) {
        beginPart(name);
        if (things.isEmpty()) {
            add(ifNone);
        } else {
            Table.lines(fields, things, now).forEach(line -> lines.add(new Line(line, true)));
        }
        return this;
    }

    /** A text of several lines. */
    public Page block(String name, String text) {
        beginPart(name);
        text.lines().forEach(this::add);
        members.put(name, text);
        return this;
    }

    /** The first part of a page needs no title, because the command names it. */
    private void beginPart(String title) {
        if (!lines.isEmpty()) {
            add("");
            if (!title.isEmpty()) {
                add(title.substring(0, 1).toUpperCase(Locale.ROOT)
                        + title.substring(1).replace('_', ' '));
            }
        }
    }

    private void add(String text) {
        lines.add(new Line(text, false));
    }

    private static <T> Map<String, @Nullable Object> members(Fields<T> fields, T thing) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        fields.forJson()
                .forEach(field ->
                        members.put(field.name(), Cells.json(field.value().apply(thing))));
        return members;
    }

    /** The text, for a terminal if there is one. */
    List<String> lines(Optional<Terminal> terminal) {
        return lines.stream()
                .map(line -> line.cut() ? terminal.map(t -> t.fit(line.text())).orElse(line.text()) : line.text())
                .toList();
    }

    /** One line. */
    String json() {
        return ExactJson.MAPPER.writeValueAsString(members);
    }
}

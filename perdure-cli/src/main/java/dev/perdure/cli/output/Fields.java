package dev.perdure.cli.output;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The values of a thing that a command prints, in their order. A table has a column for each, a page a line, a JSON
 * object a member. The name is the key of the member; with spaces for underscores it is the label. Immutable.
 *
 * <p>A value is a text, a number, a boolean, an enum, an {@link java.time.Instant}, a {@link java.time.Duration}, a
 * {@link Bytes}, or an {@link java.util.Optional}, a list or a map of these.
 *
 * @param <T> the type of the thing
 */
public final class Fields<T> {
    /**
     * A value of a thing.
     *
     * @param name its name
     * @param value how to read it
     * @param text whether it is printed as text
     * @param json whether it is printed as JSON
     */
    record Field<T>(String name, Function<T, ? extends @Nullable Object> value, boolean text, boolean json) {
        String label() {
            return name.replace('_', ' ');
        }
    }

    private final List<Field<T>> fields;

    private Fields(List<Field<T>> fields) {
        this.fields = fields;
    }

    /** Nothing yet. */
    public static <T> Fields<T> of() {
        return new Fields<>(List.of());
    }

    /** A value for people and scripts. */
    public Fields<T> and(String name, Function<T, ? extends @Nullable Object> value) {
        return with(new Field<>(name, value, true, true));
    }

    /** A value for people: another wording of what scripts get. */
    public Fields<T> text(String name, Function<T, ? extends @Nullable Object> value) {
        return with(new Field<>(name, value, true, false));
    }

    /** A value for scripts. */
    public Fields<T> json(String name, Function<T, ? extends @Nullable Object> value) {
        return with(new Field<>(name, value, false, true));
    }

    private Fields<T> with(Field<T> field) {
        List<Field<T>> more = new ArrayList<>(fields);
        more.add(field);
        return new Fields<>(List.copyOf(more));
    }

    List<Field<T>> forText() {
        return fields.stream().filter(Field::text).toList();
    }

    List<Field<T>> forJson() {
        return fields.stream().filter(Field::json).toList();
    }
}

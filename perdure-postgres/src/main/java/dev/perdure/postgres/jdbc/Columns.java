package dev.perdure.postgres.jdbc;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The columns of a relation that is passed to a statement. Each column is declared once: its name, its type, and where
 * its value comes from. This gives both the SQL that reads the relation and its parameters: arrays for many rows, or
 * scalars for one row.
 *
 * <pre>{@code
 * static final Columns<End> ENDS = Columns.<End>of().bigint("key", End::key).text("reason", End::reason);
 * // (SELECT unnest(?::bigint[]) AS key, unnest(?::text[]) AS reason) AS g
 * }</pre>
 *
 * <p>Immutable: every method that adds a column returns a copy.
 *
 * @param <R> what a row is made of
 */
public final class Columns<R> {
    /** Binds parameters. */
    private interface Filling<T> {
        void fill(Parameters parameters, T rows) throws SQLException;
    }

    /**
     * The SQL type of a column.
     *
     * @param empty whether it is null in every row and is not passed
     */
    private record Column(String name, String type, boolean empty) {
        String one() {
            return (empty ? "NULL::" : "?::") + type;
        }

        String many() {
            return empty ? one() : "unnest(?::%s[])".formatted(type);
        }
    }

    private final List<Column> all;
    private final Filling<List<R>> many;
    private final Filling<R> one;
    private final Predicate<R> allNull;

    private Columns(List<Column> all, Filling<List<R>> many, Filling<R> one, Predicate<R> allNull) {
        this.all = List.copyOf(all);
        this.many = many;
        this.one = one;
        this.allNull = allNull;
    }

    public static <R> Columns<R> of() {
        return new Columns<>(List.of(), (parameters, rows) -> {}, (parameters, row) -> {}, row -> true);
    }

    private Columns<R> and(String name, String type, Filling<List<R>> many, Filling<R> one) {
        return orNull(name, type, many, one, row -> false);
    }

    private Columns<R> orNull(String name, String type, Filling<List<R>> many, Filling<R> one, Predicate<R> isNull) {
        return with(new Columns<>(List.of(new Column(name, type, false)), many, one, isNull));
    }

    public Columns<R> bigint(String name, ToLongFunction<R> value) {
        return and(
                name,
                "bigint",
                (parameters, rows) -> {
                    long[] values = new long[rows.size()];
                    for (int i = 0; i < values.length; i++) {
                        values[i] = value.applyAsLong(rows.get(i));
                    }
                    parameters.longs(values);
                },
                (parameters, row) -> parameters.number(value.applyAsLong(row)));
    }

    public Columns<R> bigintOrNull(String name, Function<R, @Nullable Long> value) {
        return orNull(
                name,
                "bigint",
                (parameters, rows) -> {
                    @Nullable Long[] values = new Long[rows.size()];
                    for (int i = 0; i < values.length; i++) {
                        values[i] = value.apply(rows.get(i));
                    }
                    parameters.longs(values);
                },
                (parameters, row) -> parameters.numberOrNull(value.apply(row)),
                row -> value.apply(row) == null);
    }

    public Columns<R> integer(String name, ToIntFunction<R> value) {
        return and(
                name,
                "int",
                (parameters, rows) -> {
                    int[] values = new int[rows.size()];
                    for (int i = 0; i < values.length; i++) {
                        values[i] = value.applyAsInt(rows.get(i));
                    }
                    parameters.ints(values);
                },
                (parameters, row) -> parameters.integer(value.applyAsInt(row)));
    }

    public Columns<R> integerOrNull(String name, Function<R, @Nullable Integer> value) {
        return orNull(
                name,
                "int",
                (parameters, rows) -> {
                    @Nullable Integer[] values = new Integer[rows.size()];
                    for (int i = 0; i < values.length; i++) {
                        values[i] = value.apply(rows.get(i));
                    }
                    parameters.ints(values);
                },
                (parameters, row) -> parameters.integer(value.apply(row)),
                row -> value.apply(row) == null);
    }

    public Columns<R> smallint(String name, ToIntFunction<R> value) {
        return and(
                name,
                "smallint",
                (parameters, rows) -> {
                    short[] values = new short[rows.size()];
                    for (int i = 0; i < values.length; i++) {
                        values[i] = (short) value.applyAsInt(rows.get(i));
                    }
                    parameters.shorts(values);
                },
                (parameters, row) -> parameters.number(value.applyAsInt(row)));
    }

    public Columns<R> float8OrNull(String name, Function<R, @Nullable Double> value) {
        return orNull(
                name,
                "float8",
                (parameters, rows) -> {
                    @Nullable Double[] values = new Double[rows.size()];
                    for (int i = 0; i < values.length; i++) {
                        values[i] = value.apply(rows.get(i));
                    }
                    parameters.doubles(values);
                },
                (parameters, row) -> parameters.object(value.apply(row)),
                row -> value.apply(row) == null);
    }

    public Columns<R> bool(String name, Predicate<R> value) {
        return and(
                name,
                "boolean",
                (parameters, rows) -> {
                    boolean[] values = new boolean[rows.size()];
                    for (int i = 0; i < values.length; i++) {
                        values[i] = value.test(rows.get(i));
                    }
                    parameters.bools(values);
                },
                (parameters, row) -> parameters.bool(value.test(row)));
    }

    public Columns<R> text(String name, Function<R, @Nullable String> value) {
        return orNull(
                name,
                "text",
                (parameters, rows) -> {
                    @Nullable String[] values = new String[rows.size()];
                    for (int i = 0; i < values.length; i++) {
                        values[i] = value.apply(rows.get(i));
                    }
                    parameters.texts(values);
                },
                (parameters, row) -> parameters.text(value.apply(row)),
                row -> value.apply(row) == null);
    }

    /** Takes JSON as text. */
    public Columns<R> jsonb(String name, Function<R, @Nullable String> value) {
        Columns<R> text = Columns.<R>of().text(name, value);
        return with(new Columns<>(List.of(new Column(name, "jsonb", false)), text.many, text.one, text.allNull));
    }

    public Columns<R> bytes(String name, Function<R, byte @Nullable []> value) {
        return orNull(
                name,
                "bytea",
                (parameters, rows) -> {
                    byte[] @Nullable [] values = new byte[rows.size()][];
                    for (int i = 0; i < values.length; i++) {
                        values[i] = value.apply(rows.get(i));
                    }
                    parameters.bytes(values);
                },
                (parameters, row) -> parameters.bytes(value.apply(row)),
                row -> value.apply(row) == null);
    }

    public Columns<R> uuid(String name, Function<R, @Nullable UUID> value) {
        return orNull(
                name,
                "uuid",
                (parameters, rows) -> {
                    @Nullable UUID[] values = new UUID[rows.size()];
                    for (int i = 0; i < values.length; i++) {
                        values[i] = value.apply(rows.get(i));
                    }
                    parameters.uuids(values);
                },
                (parameters, row) -> parameters.object(value.apply(row)),
                row -> value.apply(row) == null);
    }

    /** These columns followed by those. */
    public Columns<R> with(Columns<R> more) {
        List<Column> both = new ArrayList<>(all);
        both.addAll(more.all);
        return new Columns<>(
                both,
                (parameters, rows) -> {
                    many.fill(parameters, rows);
                    more.many.fill(parameters, rows);
                },
                (parameters, row) -> {
                    one.fill(parameters, row);
                    more.one.fill(parameters, row);
                },
                row -> allNull.test(row) && more.allNull.test(row));
    }

    /**
     * The same columns for rows in which all of them are null. They are not passed: each costs the server about as much
     * as one with values.
     */
    public Columns<R> empty() {
        return new Columns<>(
                all.stream()
                        .map(column -> new Column(column.name(), column.type(), true))
                        .toList(),
                (parameters, rows) -> {},
                (parameters, row) -> {},
                allNull);
    }

    /** Whether all columns are null in this row. */
    public boolean isEmpty(R row) {
        return allNull.test(row);
    }

    /** The same columns for a row that contains their row as a part. */
    public <S> Columns<S> in(Function<S, R> part) {
        return new Columns<>(
                all,
                (parameters, rows) -> {
                    List<R> parts = new ArrayList<>(rows.size());
                    for (S row : rows) {
                        parts.add(part.apply(row));
                    }
                    many.fill(parameters, parts);
                },
                (parameters, row) -> one.fill(parameters, part.apply(row)),
                row -> allNull.test(part.apply(row)));
    }

    /** Their names, for a list of columns: {@code id, definition}. */
    public String names() {
        return all.stream().map(Column::name).collect(Collectors.joining(", "));
    }

    /**
     * Many rows: {@code (SELECT unnest(?::bigint[]) AS key, unnest(?::text[]) AS id) AS g}. In a list of results the
     * arrays are read side by side, row by row; in {@code FROM} the server would first copy each of them into a store
     * of its own.
     */
    public String many(String alias) {
        return all.stream()
                .map(column -> "%s AS %s".formatted(column.many(), column.name()))
                .collect(Collectors.joining(", ", "(SELECT ", ") AS " + alias));
    }

    /** Many rows, numbered from one in a last column, {@code ordinal}. All columns are passed. */
    public String numbered(String alias) {
        if (all.stream().anyMatch(Column::empty)) {
            throw new IllegalStateException("Columns of numbered rows have to be passed: " + names());
        }
        String arrays = all.stream()
                .map(column -> "?::" + column.type() + "[]")
                .collect(Collectors.joining(", ", "unnest(", ")"));
        return "%s WITH ORDINALITY AS %s (%s, ordinal)".formatted(arrays, alias, names());
    }

    /** One row: {@code (SELECT ?::bigint AS key, ?::text AS id) AS g}. */
    public String one(String alias) {
        return all.stream()
                .map(column -> "%s AS %s".formatted(column.one(), column.name()))
                .collect(Collectors.joining(", ", "(SELECT ", ") AS " + alias));
    }

    public Parameters bind(Parameters parameters, List<R> rows) throws SQLException {
        many.fill(parameters, rows);
        return parameters;
    }

    public Parameters bindOne(Parameters parameters, R row) throws SQLException {
        one.fill(parameters, row);
        return parameters;
    }
}

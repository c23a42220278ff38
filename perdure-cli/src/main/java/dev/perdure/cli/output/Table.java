package dev.perdure.cli.output;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Lays out rows in columns that are as wide as their widest value. Numbers are aligned to the right. */
final class Table {
    private static final String GAP = "  ";

    private Table() {}

    static <T> List<String> lines(Fields<T> fields, List<T> rows, Instant now) {
        List<Fields.Field<T>> columns = fields.forText();
        List<List<String>> cells = new ArrayList<>();
        columns.forEach(column -> cells.add(cells(column, rows, now)));
        List<String> lines = new ArrayList<>();
        for (int line = 0; line <= rows.size(); line++) {
            StringBuilder text = new StringBuilder();
            for (int column = 0; column < columns.size(); column++) {
                text.append(column == 0 ? "" : GAP).append(cells.get(column).get(line));
            }
            lines.add(text.toString().stripTrailing());
        }
        return lines;
    }

    /** The heading and the values of a column, all of one width. */
    private static <T> List<String> cells(Fields.Field<T> column, List<T> rows, Instant now) {
        List<String> cells = new ArrayList<>(List.of(column.label().toUpperCase(Locale.ROOT)));
        rows.forEach(row -> cells.add(Cells.cell(column.value().apply(row), now)));
        int width = cells.stream().mapToInt(String::length).max().orElse(0);
        boolean numbers = rows.stream()
                .map(row -> column.value().apply(row))
                .filter(value -> !Cells.isEmpty(value))
                .allMatch(Cells::isNumber);
        return cells.stream()
                .map(cell ->
                        numbers ? " ".repeat(width - cell.length()) + cell : cell + " ".repeat(width - cell.length()))
                .toList();
    }
}

package dev.perdure.postgres.jdbc;

import dev.perdure.error.InvalidRequestException;
import java.util.regex.Pattern;

/**
 * The PostgreSQL schema of the tables, and the only place where its name enters SQL.
 *
 * @param name the name, which is checked so that it needs no quoting
 */
public record Schema(String name) {
    private static final Pattern LEGAL = Pattern.compile("[a-z_][a-z0-9_]{0,47}");
    private static final String RESERVED = "pg_";
    private static final String OPENING = "${";

    public Schema {
        if (!LEGAL.matcher(name).matches() || name.startsWith(RESERVED)) {
            throw new InvalidRequestException(
                    "The schema name '%s' is not allowed. Use up to 48 of a-z, 0-9 and _, not beginning with a digit or with pg_."
                            .formatted(name));
        }
    }

    /** The statement with the schema's name and with the numbers of names such as {@code ${READY}}. */
    public String sql(String text) {
        StringBuilder sql = new StringBuilder(text.length());
        int from = 0;
        for (int start = text.indexOf(OPENING); start >= 0; start = text.indexOf(OPENING, from)) {
            int end = text.indexOf('}', start);
            sql.append(text, from, start).append(value(text.substring(start + OPENING.length(), end)));
            from = end + 1;
        }
        return sql.append(text, from, text.length()).toString();
    }

    private String value(String wanted) {
        Integer number = Codes.NAMED.get(wanted);
        if (number == null && !wanted.equals("schema")) {
            throw new IllegalStateException("A statement has the unknown name ${%s}.".formatted(wanted));
        }
        return number == null ? name : number.toString();
    }

    /** The channel on which stores of this schema notify each other. */
    public String channel() {
        return "perdure_" + name;
    }
}

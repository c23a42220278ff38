package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.part.Pieces;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class PiecesTest {
    private static final Schema SCHEMA = new Schema("s");
    private static final Pattern WRITE =
            Pattern.compile("(?:INSERT INTO|DELETE FROM) \\$\\{schema}\\.(?:ready|event|held|timer|journal|mail)\\b");

    private static String squeezed(String statement) {
        return Pieces.sql(SCHEMA, statement).replaceAll("\\s+", " ").strip();
    }

    @Test
    void an_insert_takes_its_columns_from_the_relation() {
        assertThat(squeezed("${hold FROM started WHERE state = ${RUNNING}}"))
                .isEqualTo(
                        "INSERT INTO s.held (key, worker, partition) SELECT key, owner, partition FROM started WHERE state = 2");
    }

    @Test
    void a_column_may_have_another_value() {
        assertThat(squeezed("${hold(worker = COALESCE(?, owner), partition = key & 255) FROM given}"))
                .isEqualTo(
                        "INSERT INTO s.held (key, worker, partition) SELECT key, COALESCE(?, owner), key & 255 FROM given");
    }

    @Test
    void rows_of_an_insert_may_be_joined_to_others() {
        assertThat(squeezed("${set_timer FROM a UNION ALL ${set_timer.select(due_at = at) FROM b}}"))
                .isEqualTo("INSERT INTO s.timer (due_at, key, partition) SELECT wake_at, key, partition FROM a "
                        + "UNION ALL SELECT at, key, partition FROM b");
    }

    @Test
    void a_delete_looks_its_rows_up_first() {
        assertThat(squeezed("${clear_timer FROM decided d WHERE d.goes_on}"))
                .isEqualTo("DELETE FROM s.timer WHERE ctid = ANY (ARRAY( SELECT found.ctid FROM decided d "
                        + "CROSS JOIN LATERAL (SELECT ctid FROM s.timer WHERE timer.due_at = d.wake_at AND timer.key = d.key OFFSET 0) found "
                        + "WHERE d.goes_on))");
    }

    @Test
    void mistakes_are_named_when_the_statement_is_composed() {
        assertThatThrownBy(() -> squeezed("${enquue FROM decided}"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("There is no piece 'enquue'. There are: [lane, ");
        assertThatThrownBy(() -> squeezed("${hold(owner = ?) FROM decided}"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("The piece 'hold' has the columns [key, worker, partition], not all of [owner].");
        assertThatThrownBy(() -> squeezed("${let_go FROM decided}"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("The piece 'let_go' needs a relation with an alias: decided");
        assertThatThrownBy(() -> squeezed("${log FROM decided"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("Not closed: {log FROM decided");
    }

    /** The few that stay have scalars instead of a relation, or have found the rows already. */
    @Test
    void hardly_any_statement_writes_these_tables_without_a_piece() throws IOException {
        List<String> written = new ArrayList<>();
        try (Stream<Path> files = Files.walk(Path.of("src/main/java"))) {
            for (Path file : files.filter(path -> path.toString().endsWith("Sql.java"))
                    .sorted()
                    .toList()) {
                Matcher writes = WRITE.matcher(Files.readString(file));
                while (writes.find()) {
                    written.add(file.getFileName() + ": " + writes.group());
                }
            }
        }
        assertThat(written)
                .containsExactlyInAnyOrder(
                        "DispatchSql.java: DELETE FROM ${schema}.timer",
                        "DispatchSql.java: DELETE FROM ${schema}.ready",
                        "LimitedClaimSql.java: DELETE FROM ${schema}.ready",
                        "MailSql.java: DELETE FROM ${schema}.mail",
                        "MailSql.java: DELETE FROM ${schema}.event",
                        "RetrySql.java: DELETE FROM ${schema}.journal",
                        "RetrySql.java: DELETE FROM ${schema}.mail",
                        "RetrySql.java: INSERT INTO ${schema}.journal",
                        "DagSql.java: INSERT INTO ${schema}.journal",
                        "DagSql.java: DELETE FROM ${schema}.mail",
                        "RepairSql.java: INSERT INTO ${schema}.journal",
                        "OneChangeSql.java: DELETE FROM ${schema}.held",
                        "OneChangeSql.java: DELETE FROM ${schema}.held",
                        "TransactionSql.java: INSERT INTO ${schema}.journal");
    }
}

package dev.perdure.embedded;

import static dev.perdure.embedded.EmbeddedPostgresIT.execute;
import static dev.perdure.embedded.EmbeddedPostgresIT.query;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.SQLException;
import org.junit.jupiter.api.Test;

class SharedPostgresIT {
    @Test
    void every_caller_gets_a_database_of_its_own_on_one_server() throws SQLException {
        try (var one = SharedPostgres.database("Orders & more");
                var two = SharedPostgres.database("Orders & more")) {
            execute(one.dataSource(), "CREATE TABLE t AS SELECT 1");
            execute(two.dataSource(), "CREATE TABLE t AS SELECT 2");
            assertThat(query(one.dataSource(), "SELECT * FROM t")).isEqualTo("1");
            assertThat(one.name()).startsWith("orders_more_");
            assertThat(query(one.dataSource(), "SHOW port")).isEqualTo(query(two.dataSource(), "SHOW port"));
        }
    }

    @Test
    void a_closed_database_is_gone() {
        var database = SharedPostgres.database("x".repeat(100));
        database.close();
        database.close();
        assertThatThrownBy(() -> database.dataSource().getConnection()).hasMessageContaining("does not exist");
    }
}

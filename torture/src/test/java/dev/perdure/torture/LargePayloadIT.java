package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.embedded.SharedPostgres;
import dev.perdure.torture.setup.Address;
import dev.perdure.torture.setup.WorkerProcess;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Large values do not need a large heap, and are not in the journal. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
@Tag("thorough")
class LargePayloadIT {
    @Test
    void four_steps_return_64_mebibytes_at_once_with_a_heap_of_one_gibibyte() throws Exception {
        try (SharedPostgres.Fresh database = SharedPostgres.database("large_payloads")) {
            try (WorkerProcess worker = WorkerProcess.start(
                    List.of("-Xmx1g"),
                    LargePayloadWorker.class,
                    Address.of(database).arguments(),
                    ProcessBuilder.Redirect.INHERIT)) {
                worker.ready();
                assertThat(worker.says().toList())
                        .isEqualTo(Collections.nCopies(
                                LargePayloadWorker.AT_ONCE, Integer.toString(LargePayloadWorker.SIZE - 2)));
                assertThat(worker.exitCode()).isZero();
            }
            try (Connection connection = database.dataSource().getConnection();
                    Statement statement = connection.createStatement()) {
                assertThat(number(statement, "SELECT max(octet_length(payload)) FROM perdure.journal"))
                        .isLessThan(100);
                assertThat(number(statement, "SELECT count(*) FROM perdure.payload"))
                        .isEqualTo(LargePayloadWorker.AT_ONCE);
                assertThat(number(statement, "SELECT sum(octet_length(bytes)) FROM perdure.payload_chunk"))
                        .isEqualTo((long) LargePayloadWorker.AT_ONCE * LargePayloadWorker.SIZE);
            }
        }
    }

    private static long number(Statement statement, String query) throws SQLException {
        try (ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getLong(1);
        }
    }
}

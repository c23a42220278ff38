package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Each fault on three servers once. How fast it is depends on the machine, so only {@code ./perdure torture shards} judges that. */
@Tag("thorough")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class TortureShardsIT {
    @TempDir
    private Path logs;

    @Test
    void every_invariant_holds_after_each_fault_on_three_servers() throws Exception {
        ShardPlan plan = new ShardPlan(
                42, Duration.ofSeconds(1), 1, Duration.ofSeconds(5), Duration.ZERO, Duration.ofSeconds(1), 2, logs);
        try (ShardTorture torture = new ShardTorture(plan, System.out)) {
            ShardReport report = torture.run();
            System.out.println(report.text());
            assertThat(report.violations()).isEmpty();
            assertThat(report.done())
                    .allSatisfy(done -> assertThat(done.pieces()).isPositive());
            assertThat(report.struck()).hasSize(ShardTorture.Kind.values().length - 1);
        }
    }
}

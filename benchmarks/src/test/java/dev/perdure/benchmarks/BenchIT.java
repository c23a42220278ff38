package dev.perdure.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.benchmarks.measure.Contender;
import dev.perdure.benchmarks.measure.Scale;
import dev.perdure.benchmarks.measure.Workload;
import dev.perdure.benchmarks.report.Figure;
import dev.perdure.benchmarks.report.Goals;
import dev.perdure.benchmarks.report.Report;
import dev.perdure.benchmarks.server.Server;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checks that a run measures all figures that it announces, not how fast they are. */
@Tag("thorough")
final class BenchIT {
    private static final Pattern COST = Pattern.compile("\\.(cpu|cpu\\.process|cpu\\.server|wal|commits|round_trips)$");

    @TempDir
    private Path folder;

    @Test
    void a_run_gives_a_line_per_figure_and_files_to_keep() throws Exception {
        StringWriter printed = new StringWriter();
        PrintWriter out = new PrintWriter(printed, true);
        try (Server server = Server.embedded()) {
            Bench bench = new Bench(server, Scale.TINY, 0, folder, out, out);
            Report report = new Report(folder, out, figures -> new Goals(figures).lines());
            report.begin(server.description());
            bench.run(
                    EnumSet.of(Workload.RAW, Workload.W1),
                    EnumSet.of(Contender.RAW, Contender.PERDURE, Contender.TUNED, Contender.DBOS));
            report.end(bench.figures(), List.of("other virtual machines had a part"));
            assertThat(bench.failures()).isEmpty();
            assertThat(bench.figures().metrics())
                    .filteredOn(metric -> !COST.matcher(metric).find())
                    .containsExactly(
                            "raw.insert1.c1",
                            "raw.insert1.c8",
                            "raw.insert1.c32",
                            "raw.batch1000",
                            "w1.insert1.c1",
                            "w1.c4",
                            "w1.c4.p50",
                            "w1.c4.p99");
            assertThat(bench.figures().metrics())
                    .filteredOn(metric -> metric.endsWith(".round_trips"))
                    .containsExactly(
                            "raw.insert1.c1.round_trips",
                            "raw.insert1.c8.round_trips",
                            "raw.insert1.c32.round_trips",
                            "raw.batch1000.round_trips",
                            "w1.insert1.c1.round_trips",
                            "w1.c4.round_trips");
            assertThat(bench.figures().all())
                    // A JVM counts processor time in steps of ten milliseconds.
                    .filteredOn(figure -> !figure.metric().endsWith(".cpu.process"))
                    .extracting(Figure::median)
                    .allMatch(value -> value > 0);
        }
        assertThat(printed.toString())
                .containsPattern("(?m)^raw raw\\.insert1\\.c1 [0-9.]+ /s$")
                .containsPattern("(?m)^raw w1\\.insert1\\.c1 [0-9.]+ /s$")
                .containsPattern("(?m)^perdure w1\\.c4\\.p99 [0-9.]+ ms$")
                .containsPattern("(?m)^perdure w1\\.c4\\.cpu\\.process [0-9.]+ µs$")
                .containsPattern("(?m)^dbos w1\\.c4\\.wal [0-9.]+ bytes$")
                .containsPattern("(?m)^dbos w1\\.c4\\.commits [0-9.]+ count$")
                .containsPattern(
                        "(?m)^\\| `w1\\.c4` \\| dbos \\| [^|]+\\| [^|]+\\| [^|]+\\| [0-9]+ \\([0-9.]+ ×\\) \\|")
                .containsPattern(
                        "(?m)^\\| `w1\\.c4` \\| /s \\| [0-9.]+ \\| [0-9.]+ \\([0-9.]+ ×\\) \\| [0-9.]+ \\([0-9.]+ ×\\) \\|$");
        assertThat(printed.toString()).contains("# other virtual machines had a part");
        assertThat(Files.readString(folder.resolve("figures.txt")))
                .contains("fsync=on", "dbos w1.c4 ", "# other virtual machines had a part");
        assertThat(folder.resolve("tables.md")).isNotEmptyFile();
    }
}

package dev.perdure.benchmarks;

import dev.perdure.benchmarks.measure.Contender;
import dev.perdure.benchmarks.measure.Scale;
import dev.perdure.benchmarks.measure.Workload;
import dev.perdure.benchmarks.report.Figures;
import dev.perdure.benchmarks.report.Report;
import dev.perdure.benchmarks.server.BenchDatabase;
import dev.perdure.benchmarks.server.Server;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** The options of the commands that run workloads. */
final class RunOptions {
    @Option(names = "--quick", description = "Measure one short round each. For daily use, not for publication.")
    private boolean quick;

    @Option(
            names = "--finished",
            paramLabel = "N",
            defaultValue = "20000000",
            description = "How many finished runs w7 writes. Default: ${DEFAULT-VALUE}, 200,000 with --quick.")
    private long finished = 20_000_000;

    @Option(
            names = "--url",
            paramLabel = "JDBC-URL",
            description = "An external server whose user can create databases. Default: an embedded server.")
    private @Nullable String url;

    @Option(
            names = "--user",
            defaultValue = "${env:PGUSER}",
            description = "The database user, if the URL does not name it. Default: $PGUSER.")
    private @Nullable String user;

    @Option(
            names = "--password",
            defaultValue = "${env:PGPASSWORD}",
            description = "The password, if the URL does not have it. Default: $PGPASSWORD.")
    private @Nullable String password;

    @Option(
            names = "--folder",
            defaultValue = ".perdure/bench",
            description = "The folder for figures, tables, chart and logs. Default: ${DEFAULT-VALUE}.")
    private Path folder = Path.of(".perdure/bench");

    RunOptions() {}

    /** Runs the workloads, and prints and writes the report. Returns the exit code. */
    int run(
            CommandLine commandLine,
            Scale thorough,
            Set<Workload> workloads,
            Set<Contender> contenders,
            Function<Figures, List<String>> goals)
            throws Exception {
        Scale scale = quick ? Scale.QUICK : thorough;
        try (Server server = server()) {
            Bench bench = new Bench(server, scale, finished, folder, commandLine.getOut(), commandLine.getErr());
            Report report = new Report(folder, commandLine.getOut(), goals);
            report.begin(Machine.description(server, contenders));
            bench.run(workloads, contenders);
            report.end(bench.figures(), bench.disturbances());
            bench.failures().forEach(commandLine.getErr()::println);
            return bench.failures().isEmpty() ? 0 : 1;
        }
    }

    private Server server() throws SQLException {
        return url == null ? Server.embedded() : Server.at(BenchDatabase.of(url, user, password));
    }
}

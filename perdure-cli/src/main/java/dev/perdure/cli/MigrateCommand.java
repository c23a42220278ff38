package dev.perdure.cli;

import dev.perdure.cli.output.Output;
import dev.perdure.cli.output.Page;
import dev.perdure.postgres.PostgresStore;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Prints the migrations, or applies them. */
@Command(
        name = "migrate",
        mixinStandardHelpOptions = true,
        description = "Bring the schema of a database up to date, or print the SQL that would.")
final class MigrateCommand implements Callable<Integer> {
    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private DatabaseOptions database = new DatabaseOptions();

    @Option(
            names = "--print",
            arity = "0..1",
            fallbackValue = "",
            paramLabel = "SCHEMA",
            description = "Print the SQL for this schema (default: that of --schema) and change nothing.")
    private @Nullable String printed;

    @Mixin
    private Output output = new Output();

    MigrateCommand() {}

    @Override
    public Integer call() {
        if (printed != null) {
            PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
            out.print(PostgresStore.migrations(printed.isEmpty() ? database.schema() : printed));
            out.flush();
            return 0;
        }
        database.migrate();
        return output.print(new Page(Instant.now()).message("Schema %s is up to date.".formatted(database.schema())));
    }
}

package dev.perdure.cli;

import dev.perdure.postgres.PostgresStore;
import java.io.PrintWriter;
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

    MigrateCommand() {}

    @Override
    public Integer call() {
        if (printed != null) {
            out().print(PostgresStore.migrations(printed.isEmpty() ? database.schema() : printed));
        } else {
            database.withStore(true, store -> true);
            out().printf("Schema %s is up to date.%n", database.schema());
        }
        out().flush();
        return 0;
    }

    private PrintWriter out() {
        return Objects.requireNonNull(spec).commandLine().getOut();
    }
}

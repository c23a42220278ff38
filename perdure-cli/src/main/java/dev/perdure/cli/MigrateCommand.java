package dev.perdure.cli;

import dev.perdure.postgres.PostgresStore;
import java.io.PrintWriter;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
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

    @ArgGroup(multiplicity = "1")
    private Choice choice = new Choice();

    MigrateCommand() {}

    /** One of the two. */
    static final class Choice {
        @Option(
                names = "--print",
                arity = "0..1",
                fallbackValue = "perdure",
                paramLabel = "SCHEMA",
                description = "Print the SQL for this schema (default: perdure) and change nothing.")
        private @Nullable String printed;

        @ArgGroup(exclusive = false)
        private @Nullable DatabaseOptions database;

        Choice() {}
    }

    @Override
    public Integer call() {
        if (choice.printed != null) {
            out().print(PostgresStore.migrations(choice.printed));
        } else if (choice.database != null) {
            String schema = choice.database.schema();
            choice.database.withStore(true, store -> true);
            out().printf("Schema %s is up to date.%n", schema);
        }
        out().flush();
        return 0;
    }

    private PrintWriter out() {
        return Objects.requireNonNull(spec).commandLine().getOut();
    }
}

package dev.perdure.cli;

import dev.perdure.Perdure;
import dev.perdure.cli.demo.DemoCommand;
import dev.perdure.cli.output.ControlCharacters;
import dev.perdure.cli.shard.ShardsCommand;
import dev.perdure.embedded.EmbeddedPostgresException;
import dev.perdure.error.AlreadyResolvedException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.PerdureException;
import dev.perdure.error.RetryRefusedException;
import dev.perdure.error.RunConflictException;
import dev.perdure.error.RunEndedException;
import dev.perdure.error.StoreException;
import dev.perdure.error.UnknownLimiterException;
import dev.perdure.error.UnknownQueueException;
import dev.perdure.error.UnknownReactionException;
import dev.perdure.error.UnknownRunException;
import dev.perdure.error.UnknownScheduleException;
import dev.perdure.error.UnknownVersionException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.IVersionProvider;

/** The command line tool. */
@Command(
        name = "perdure",
        description = "Durable execution for Java on the PostgreSQL you already run.",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            AuditCommand.class,
            BenchCommand.class,
            DashboardCommand.class,
            DbCommand.class,
            DemoCommand.class,
            DevCommand.class,
            HttpCommand.class,
            LimitersCommand.class,
            MigrateCommand.class,
            QueuesCommand.class,
            ReactionsCommand.class,
            RetentionCommand.class,
            RunsCommand.class,
            SchedulesCommand.class,
            ShardsCommand.class,
            SleepersCommand.class,
            VersionsCommand.class,
            HelpCommand.class
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:Success.",
            "1:A check did not hold, or something failed.",
            "2:The command line is wrong.",
            "3:The database is out of reach or cannot be used.",
            "4:The run, the queue, the limiter, the schedule, the reaction or the version does not exist.",
            "5:The run has already ended, so the command did nothing.",
            "6:The run does not permit the command now, so nothing was done. The error says why."
        })
public final class Main {
    static final int FAILED = 1;
    static final int WRONG_USAGE = 2;
    static final int NO_DATABASE = 3;
    static final int NO_SUCH_RUN = 4;
    static final int HAS_ENDED = 5;
    static final int REFUSED = 6;

    Main() {}

    /** Runs a command and ends the process with its exit code. */
    public static void main(String... args) {
        System.exit(commandLine().execute(args));
    }

    static CommandLine commandLine() {
        return new CommandLine(new Main())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler((wrong, args) -> {
                    CommandLine command = wrong.getCommandLine();
                    printError(
                            command,
                            "%s. Try '%s --help'."
                                    .formatted(
                                            wrong.getMessage(),
                                            command.getCommandSpec().qualifiedName()));
                    return WRONG_USAGE;
                })
                .setExecutionExceptionHandler((thrown, command, parsed) -> {
                    printError(command, lineFor(thrown));
                    return exitCodeFor(thrown);
                });
    }

    private static void printError(CommandLine command, String line) {
        command.getErr().println(command.getColorScheme().errorText(ControlCharacters.replaced(line)));
    }

    private static String lineFor(Exception thrown) {
        String message = thrown.getMessage() == null ? thrown.toString() : thrown.getMessage();
        boolean ours = thrown instanceof PerdureException
                || thrown instanceof EmbeddedPostgresException
                || thrown instanceof CommandRefusedException;
        return ours ? message : thrown.getClass().getSimpleName() + ": " + message;
    }

    private static int exitCodeFor(Exception thrown) {
        return switch (thrown) {
            case InvalidRequestException wrong -> WRONG_USAGE;
            case StoreException trouble -> NO_DATABASE;
            case EmbeddedPostgresException trouble -> NO_DATABASE;
            case UnknownRunException unknown -> NO_SUCH_RUN;
            case UnknownQueueException unknown -> NO_SUCH_RUN;
            case UnknownLimiterException unknown -> NO_SUCH_RUN;
            case UnknownReactionException unknown -> NO_SUCH_RUN;
            case UnknownScheduleException unknown -> NO_SUCH_RUN;
            case UnknownVersionException unknown -> NO_SUCH_RUN;
            case RunEndedException ended -> HAS_ENDED;
            case CommandRefusedException refused -> REFUSED;
            case RetryRefusedException refused -> REFUSED;
            case AlreadyResolvedException refused -> REFUSED;
            case RunConflictException refused -> REFUSED;
            default -> FAILED;
        };
    }

    /** The version that the build wrote into the jar of the engine. */
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = Perdure.class.getPackage().getImplementationVersion();
            return new String[] {version == null ? "unknown, because the engine was not loaded from a jar" : version};
        }
    }
}

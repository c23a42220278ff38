package dev.perdure.cli;

import dev.perdure.Run;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.bulk.ReencryptionReport;
import dev.perdure.cli.output.Output;
import dev.perdure.cli.run.RunPage;
import dev.perdure.error.PayloadException;
import dev.perdure.error.ResultUnavailableException;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Encrypts all values with one key, by a run of its own. */
@Command(
        name = "reencrypt",
        mixinStandardHelpOptions = true,
        description = {
            "Encrypt all values with one key, so that the other keys can be thrown away.",
            "A worker of the application does it, also if this command ends. Let all processes encrypt with the key before."
        })
final class ReencryptCommand implements Callable<Integer> {
    /** How often it looks whether the run is paused. */
    private static final Duration LOOK = Duration.ofSeconds(1);

    @Mixin
    private DatabaseOptions database = new DatabaseOptions();

    @Mixin
    private Output output = new Output();

    @Option(names = "--key", paramLabel = "ID", required = true, description = "The id of the key that stays.")
    private String key = "";

    @Option(
            names = "--wait",
            description = "Wait until it has ended or is paused, and print what is left. Ctrl-C does not stop it.")
    private boolean waits;

    @Override
    public Integer call() {
        return database.with(this::started);
    }

    private int started(OpenDatabase open) {
        Run<ReencryptionReport> run = open.perdure().encryptedValues().reencrypt(key);
        boolean ended = !waits || hasEnded(run);
        RunInfo now = run.info();
        int code = output.print(open.page().message(text(now, ended)).data("run", RunPage.ROW, now));
        return ended ? code : ExitCode.SOFTWARE;
    }

    private String text(RunInfo now, boolean ended) {
        if (!ended) {
            return "The re-encryption %s is paused: %s Then resume it with './perdure runs resume %s'."
                    .formatted(now.id(), now.reason().orElse("no reason is known."), now.id());
        }
        return waits
                ? "The re-encryption %s has %s."
                        .formatted(now.id(), now.description().status().orElse("ended"))
                : "The re-encryption %s is started. A worker of the application does it; './perdure runs show %s --watch' shows how far it is."
                        .formatted(now.id(), now.id());
    }

    /**
     * Waits until it has ended, or is paused, which only a person changes. The report is encrypted, and the command line
     * has no keys; the status says the same.
     */
    private static boolean hasEnded(Run<ReencryptionReport> run) {
        while (true) {
            try {
                var unused = run.result(LOOK);
                return true;
            } catch (PayloadException encrypted) {
                return true;
            } catch (ResultUnavailableException notYet) {
                if (run.state() == RunState.PAUSED) {
                    return false;
                }
            }
        }
    }
}

package dev.perdure.cli;

import dev.perdure.Run;
import dev.perdure.RunInfo;
import dev.perdure.bulk.ReencryptionReport;
import dev.perdure.cli.output.Output;
import dev.perdure.cli.output.Page;
import dev.perdure.cli.run.RunPage;
import dev.perdure.error.PayloadException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
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
    @Mixin
    private DatabaseOptions database = new DatabaseOptions();

    @Mixin
    private Output output = new Output();

    @Option(names = "--key", paramLabel = "ID", required = true, description = "The id of the key that stays.")
    private String key = "";

    @Option(names = "--wait", description = "Wait until it has ended, and print what is left. Ctrl-C does not stop it.")
    private boolean waits;

    @Override
    public Integer call() {
        return database.with(open -> output.print(started(open)));
    }

    private Page started(OpenDatabase open) {
        Run<ReencryptionReport> run = open.perdure().encryptedValues().reencrypt(key);
        if (waits) {
            awaitEnd(run);
        }
        RunInfo now = run.info();
        String text = waits
                ? "The re-encryption %s has %s."
                        .formatted(now.id(), now.description().status().orElse("ended"))
                : "The re-encryption %s is started. A worker of the application does it; './perdure runs show %s --watch' shows how far it is."
                        .formatted(now.id(), now.id());
        return open.page().message(text).data("run", RunPage.ROW, now);
    }

    /** The report is encrypted, and the command line has no keys. The status says the same. */
    private static void awaitEnd(Run<ReencryptionReport> run) {
        try {
            var unused = run.result();
        } catch (PayloadException encrypted) {
            return;
        }
    }
}

package dev.perdure.cli;

import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.TypeRef;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.UnknownRunException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Writes runs with their journals, to replay them on other code. */
@Command(
        name = "export",
        mixinStandardHelpOptions = true,
        description = {
            "Export runs with their journals and all values, one JSON object in each line, to replay them on other code in a test.",
            "Name the runs, or select them by conditions, newest first."
        })
final class ExportCommand implements Callable<Integer> {
    @Spec
    private @Nullable CommandSpec command;

    @Mixin
    private DatabaseOptions database = new DatabaseOptions();

    @Mixin
    private FilterOptions conditions = new FilterOptions();

    @Parameters(
            paramLabel = "ID",
            arity = "0..*",
            description = "The runs. Without ids: those that the conditions select.")
    private List<String> ids = List.of();

    @Option(
            names = "--limit",
            defaultValue = "100",
            description = "The number of runs at most, up to 10000. Default: ${DEFAULT-VALUE}.")
    private int limit;

    @Option(names = "--file", description = "The file to write. Default: standard output.")
    private @Nullable Path file;

    ExportCommand() {}

    @Override
    public Integer call() throws IOException {
        if (!ids.isEmpty() && !conditions.isEmpty()) {
            throw new InvalidRequestException("Give the ids of runs, or conditions that select them, not both.");
        }
        if (file == null) {
            PrintWriter out = Objects.requireNonNull(command).commandLine().getOut();
            database.with(open -> export(open, out));
            out.flush();
        } else {
            tell("%s runs are exported to %s.".formatted(exportTo(file), file));
        }
        return 0;
    }

    /** An export that fails leaves the file that was there. */
    private int exportTo(Path target) throws IOException {
        boolean replaces = !Files.exists(target) || Files.isRegularFile(target);
        Path written = replaces ? target.resolveSibling(target.getFileName() + ".part") : target;
        try {
            int exported;
            try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(written))) {
                exported = database.with(open -> export(open, out));
                if (out.checkError()) {
                    throw new IOException("The file %s could not be written.".formatted(written));
                }
            }
            if (replaces) {
                Files.move(written, target, StandardCopyOption.REPLACE_EXISTING);
            }
            return exported;
        } finally {
            if (replaces) {
                Files.deleteIfExists(written);
            }
        }
    }

    private void tell(String line) {
        Objects.requireNonNull(command).commandLine().getErr().println(line);
    }

    private int export(OpenDatabase open, PrintWriter out) {
        if (!ids.isEmpty()) {
            ids.forEach(id -> out.println(export(open, RunId.of(id))));
            return ids.size();
        }
        int exported = 0;
        for (RunInfo run : open.perdure().runs(conditions.filter().limit(limit)).list()) {
            exported += exportListed(open, run.id(), out) ? 1 : 0;
        }
        return exported;
    }

    /** Leaves out a run that retention has removed meanwhile, and one that is too large. */
    private boolean exportListed(OpenDatabase open, RunId run, PrintWriter out) {
        try {
            out.println(export(open, run));
            return true;
        } catch (UnknownRunException removed) {
            return false;
        } catch (InvalidRequestException tooLarge) {
            tell(String.valueOf(tooLarge.getMessage()));
            return false;
        }
    }

    private static String export(OpenDatabase open, RunId run) {
        return open.perdure().run(run, TypeRef.of(Void.class)).export().json();
    }
}

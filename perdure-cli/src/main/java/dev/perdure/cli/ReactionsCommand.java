package dev.perdure.cli;

import dev.perdure.cli.output.Fields;
import dev.perdure.cli.output.LiveOutput;
import dev.perdure.cli.output.Output;
import dev.perdure.reaction.Occasion;
import dev.perdure.reaction.ReactionInfo;
import dev.perdure.reaction.Reactions;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Lists the reactions of a database, and pauses, resumes or deletes one. */
@Command(
        name = "reactions",
        mixinStandardHelpOptions = true,
        description = "List, pause, resume and delete the reactions of a database.",
        synopsisSubcommandLabel = "COMMAND")
final class ReactionsCommand {
    private static final Fields<ReactionInfo> ROW = Fields.<ReactionInfo>of()
            .text("reaction", ReactionInfo::name)
            .json("name", ReactionInfo::name)
            .json("definitions", ReactionsCommand::definitions)
            .text(
                    "definitions",
                    reaction -> reaction.definitions().isEmpty() ? "(all)" : String.join(" ", definitions(reaction)))
            .json("occasions", ReactionsCommand::occasions)
            .text("when", ReactionsCommand::when)
            .json("late", ReactionInfo::late)
            .and("starts", ReactionInfo::starts)
            .and("queue", ReactionInfo::queue)
            .and("paused", ReactionInfo::paused);

    ReactionsCommand() {}

    private static List<String> definitions(ReactionInfo reaction) {
        return reaction.definitions().stream().sorted().toList();
    }

    private static List<String> occasions(ReactionInfo reaction) {
        return reaction.occasions().stream().sorted().map(Occasion::name).toList();
    }

    private static String when(ReactionInfo reaction) {
        return reaction.occasions().stream()
                .sorted()
                .map(occasion -> occasion == Occasion.LATE
                        ? "late after " + reaction.late().orElseThrow()
                        : occasion.name().toLowerCase(Locale.ROOT))
                .collect(Collectors.joining(", "));
    }

    /** One reaction of a database. */
    static final class NamedReaction {
        @Mixin
        private DatabaseOptions database = new DatabaseOptions();

        @Parameters(paramLabel = "REACTION", description = "The reaction.")
        private String name = "";
    }

    @Command(
            name = "list",
            mixinStandardHelpOptions = true,
            description = "List reactions: when each starts a run, and of which workflow.")
    int list(@Mixin DatabaseOptions database, @Mixin LiveOutput output) {
        return database.with(open -> output.print(() -> open.page()
                .many(
                        "reactions",
                        ROW,
                        open.perdure().reactions().list(),
                        "No reactions. Declare one where the engine is built.")));
    }

    @Command(
            name = "pause",
            mixinStandardHelpOptions = true,
            description = "Let a reaction start nothing until it is resumed.")
    int pause(
            @Mixin NamedReaction reaction,
            @Mixin Output output,
            @Option(names = "--reason", defaultValue = "paused by an operator", description = "The reason.")
                    String reason) {
        return change(reaction, output, reactions -> reactions.pause(reaction.name, reason), "is paused");
    }

    @Command(name = "resume", mixinStandardHelpOptions = true, description = "Let a paused reaction start runs again.")
    int resume(@Mixin NamedReaction reaction, @Mixin Output output) {
        return change(reaction, output, reactions -> reactions.resume(reaction.name), "is not paused");
    }

    @Command(
            name = "delete",
            mixinStandardHelpOptions = true,
            description = "Delete a reaction that no process declares any more. The runs that it has started stay.")
    int delete(@Mixin NamedReaction reaction, @Mixin Output output) {
        return change(reaction, output, reactions -> reactions.delete(reaction.name), "is deleted");
    }

    private static int change(NamedReaction reaction, Output output, Consumer<Reactions> change, String done) {
        return reaction.database.with(open -> {
            change.accept(open.perdure().reactions());
            return output.print(open.page().message("Reaction %s %s.".formatted(reaction.name, done)));
        });
    }
}

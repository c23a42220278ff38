package dev.perdure.cli.shard;

import dev.perdure.cli.output.Fields;
import dev.perdure.cli.output.Output;
import dev.perdure.cli.output.Page;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.postgres.PostgresShards;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Shows the servers of a sharded store, adds one, and moves partitions between them. */
@Command(
        name = "shards",
        mixinStandardHelpOptions = true,
        description = "List the servers of a sharded store, add one, and move partitions between them.",
        synopsisSubcommandLabel = "COMMAND")
public final class ShardsCommand {
    private static final Pattern RANGE = Pattern.compile("(\\d{1,3})(?:-(\\d{1,3}))?");

    private static final Fields<PostgresShards.Info> ROW = Fields.<PostgresShards.Info>of()
            .text("shard", PostgresShards.Info::name)
            .json("name", PostgresShards.Info::name)
            .and("map", PostgresShards.Info::version)
            .and("partitions", PostgresShards.Info::partitions)
            .and("workers", PostgresShards.Info::workers)
            .json("leaving", PostgresShards.Info::leaving)
            .text("leaving", shard -> ranges(shard.leaving()))
            .json("arriving", PostgresShards.Info::arriving)
            .text("arriving", shard -> ranges(shard.arriving()))
            .json("left", PostgresShards.Info::left)
            .text("to be removed", shard -> ranges(shard.left()));

    @Spec
    private @Nullable CommandSpec spec;

    /** The command. */
    public ShardsCommand() {}

    @Command(
            name = "list",
            mixinStandardHelpOptions = true,
            description = "List shards: the version of their map, how many partitions they have, and what moves.")
    int list(@Mixin Servers servers, @Mixin Output output) {
        return servers.with(shards -> output.print(listed(shards)));
    }

    private static Page listed(PostgresShards shards) {
        return new Page(Instant.now()).many("shards", ROW, shards.list(), "No shards.");
    }

    @Command(
            name = "add",
            mixinStandardHelpOptions = true,
            description =
                    "Make an empty, migrated database a shard without partitions. Afterwards start all processes again with it, and then move partitions to it.")
    int add(
            @Mixin Servers servers,
            @Mixin Output output,
            @Parameters(paramLabel = "NAME", description = "The name of the new shard.") String name) {
        return servers.with(shards -> {
            shards.add(name);
            return output.print(listed(shards)
                    .message("Shard %s is added. Start all processes again with it, then move partitions to it."
                            .formatted(name)));
        });
    }

    @Command(
            name = "move",
            mixinStandardHelpOptions = true,
            description =
                    "Move partitions to a shard while engines run. A command that was interrupted goes on if it is given again.")
    int move(
            @Mixin Servers servers,
            @Mixin Output output,
            @Parameters(paramLabel = "PARTITIONS", description = "Such as 7, or 0-31,40.") String partitions,
            @Option(names = "--to", required = true, paramLabel = "NAME", description = "The shard that gets them.")
                    String to) {
        List<Integer> numbers = numbers(partitions);
        return servers.with(shards -> {
            shards.move(numbers, to, progress());
            shards.clean(progress());
            return output.print(listed(shards).message("%s partitions are on shard %s.".formatted(numbers.size(), to)));
        });
    }

    @Command(
            name = "balance",
            mixinStandardHelpOptions = true,
            description = "Move as few partitions as possible so that all shards have as many, one more at most.")
    int balance(
            @Mixin Servers servers,
            @Mixin Output output,
            @Option(
                            names = "--without",
                            paramLabel = "NAME",
                            description =
                                    "A shard that is to have no partitions, so that its server can be switched off. May be repeated.")
                    @Nullable
                    List<String> without) {
        return servers.with(shards -> {
            List<Integer> left = shards.balance(without == null ? List.of() : without, progress());
            shards.clean(progress());
            int success = output.print(listed(shards)
                    .message(
                            left.isEmpty()
                                    ? "The partitions are balanced."
                                    : "Partitions %s could not be moved now. Give the command again when the runs that hold places have ended."
                                            .formatted(ranges(left))));
            return left.isEmpty() ? success : ExitCode.SOFTWARE;
        });
    }

    /** Sentences about the steps, on standard error, so that they do not mix with the result. */
    private Consumer<String> progress() {
        CommandSpec command = spec;
        return sentence -> {
            if (command != null) {
                command.commandLine().getErr().println(sentence);
                command.commandLine().getErr().flush();
            }
        };
    }

    /** The numbers in a text such as {@code 0-31,40}. */
    static List<Integer> numbers(String text) {
        TreeSet<Integer> numbers = new TreeSet<>();
        for (String part : text.split(",", -1)) {
            Matcher range = RANGE.matcher(part);
            if (!range.matches()) {
                throw new InvalidRequestException(
                        "'%s' are no partitions. Write numbers and ranges, such as 7 or 0-31,40.".formatted(text));
            }
            int first = Integer.parseInt(range.group(1));
            int last = range.group(2) == null ? first : Integer.parseInt(range.group(2));
            IntStream.rangeClosed(first, last).forEach(numbers::add);
        }
        return List.copyOf(numbers);
    }

    /** The shortest text for these numbers. */
    static String ranges(List<Integer> numbers) {
        List<String> parts = new ArrayList<>();
        for (int i = 0; i < numbers.size(); i++) {
            int first = numbers.get(i);
            while (i + 1 < numbers.size() && numbers.get(i + 1) == numbers.get(i) + 1) {
                i++;
            }
            int last = numbers.get(i);
            parts.add(first == last ? String.valueOf(first) : first + "-" + last);
        }
        return String.join(",", parts);
    }
}

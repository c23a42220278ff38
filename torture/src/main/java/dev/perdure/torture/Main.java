package dev.perdure.torture;

import static dev.perdure.torture.Plan.Setup.SMALL_CROWD;

import dev.perdure.torture.defect.Planted;
import dev.perdure.torture.fault.Faults;
import dev.perdure.torture.fault.ShardFaults;
import dev.perdure.torture.soak.Soak;
import dev.perdure.torture.upgrade.Dump;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What {@code ./perdure torture} runs. */
public final class Main {
    private static final String USAGE = """
            Usage: perdure torture [--minutes M] [--faults NAME,NAME,…] [--seed N] [--workers N] [--defect NAME] [--older FOLDER]
                                   [--pooler PROGRAM] [--crowd N]
                   perdure torture shards [--minutes M] [--seed N] [--workers N]
                   perdure torture soak [--minutes M] [--rate N]
                   perdure torture dump FILE
              --minutes  for how long faults happen (30); 0 lets each happen once
              --faults   those that may happen (all). Each that is named here has its turn, however long that takes, and has to have its effect:
            %s
              --seed     chooses the faults, their victims and their moments (42). It does not make schedules of threads repeat
              --workers  how many worker processes there are (4)
              --crowd    how many runs the worker has that 'crowd' kills (3,000)
              --defect   what is wrong with the store of the workers (nothing), to see that it is found: %s
              --older    a checkout of an older version with a built 'perdure torture' (none): its workers create the schema, this
                         version migrates it beside them, and each worker that ends is replaced by one of this version
              --pooler   the program of a PgBouncer (none), through which all connections go then, in transaction mode and without
                         notifications
            The torture of shards is on three servers: partitions move, one server is down for half a minute, and then, for so
            many minutes (3), workers and moves are killed, servers crash and partitions move at the same time.
            A soak lets no faults happen. It measures once a minute what might grow:
              --minutes  for how long (60), at least 9
              --rate     how many pieces of each workload it starts in a minute (60)
            A dump is a database of this version with runs in every state, as gzipped SQL, to be upgraded by later versions.\
            """.formatted(
                    Arrays.stream(Faults.values())
                            .map(fault -> "               %-10s %s".formatted(fault.word(), fault.effect()))
                            .collect(Collectors.joining("\n")),
                    String.join(", ", Planted.words()));
    private static final Duration CALM = Duration.ofSeconds(20);
    private static final Duration BETWEEN_ON_SHARDS = Duration.ofMillis(300);
    /** How many partitions move while nothing else happens. */
    private static final int MOVES = 3;

    private Main() {}

    /** Exits with 1 if an invariant does not hold or something grows, and with 2 if the arguments are not usable. */
    public static void main(String[] arguments) throws Exception {
        System.exit(run(arguments, System.out));
    }

    static int run(String[] arguments, PrintStream out) throws Exception {
        if (List.of(arguments).contains("--help")) {
            out.println(USAGE);
            return 0;
        }
        if (arguments.length == 2 && arguments[0].equals("dump")) {
            Dump.make(Path.of(arguments[1]));
            return 0;
        }
        String kind = arguments.length > 0 ? arguments[0] : "";
        List<String> violations;
        try {
            violations = switch (kind) {
                case "soak" -> soak(soakPlan(afterFirst(arguments)), out);
                case "shards" -> shards(shardPlan(afterFirst(arguments)), out);
                default -> torture(plan(arguments), out);
            };
        } catch (Mistake mistake) {
            out.println(mistake.getMessage());
            out.println(USAGE);
            return 2;
        }
        return violations.isEmpty() ? 0 : 1;
    }

    private static String[] afterFirst(String... arguments) {
        return Arrays.copyOfRange(arguments, 1, arguments.length);
    }

    /** What is wrong with the arguments. */
    private static final class Mistake extends Exception {
        private static final long serialVersionUID = 1;

        Mistake(String message) {
            super(message);
        }
    }

    private static List<String> torture(Plan plan, PrintStream out) throws Exception {
        try (Torture torture = new Torture(plan, out)) {
            Report report = torture.run();
            out.println(report.text());
            Files.write(plan.logs().resolve("violations.txt"), report.violations());
            return report.violations();
        }
    }

    private static List<String> shards(ShardPlan plan, PrintStream out) throws Exception {
        try (ShardTorture torture = new ShardTorture(plan, out)) {
            ShardReport report = torture.run();
            out.println(report.text());
            return report.violations();
        }
    }

    private static ShardPlan shardPlan(String... arguments) throws IOException, Mistake {
        Map<String, String> options = options(Map.of("--minutes", "3", "--seed", "42", "--workers", "3"), arguments);
        return new ShardPlan(
                number(options, "--seed", 0, Long.MAX_VALUE),
                CALM,
                MOVES,
                ShardFaults.DOWN,
                Duration.ofMinutes(number(options, "--minutes", 0, 10_000)),
                BETWEEN_ON_SHARDS,
                Math.toIntExact(number(options, "--workers", 1, 50)),
                logs());
    }

    private static List<String> soak(Soak.Plan plan, PrintStream out) throws Exception {
        try (Soak soak = new Soak(plan, out)) {
            List<String> violations = soak.run();
            violations.forEach(out::println);
            out.println(violations.isEmpty() ? "All is flat." : "The logs of the workers are in " + plan.logs());
            return violations;
        }
    }

    private static Soak.Plan soakPlan(String... arguments) throws IOException, Mistake {
        Map<String, String> options = options(Map.of("--minutes", "60", "--rate", "60"), arguments);
        return new Soak.Plan(
                Math.toIntExact(number(options, "--minutes", Soak.FEWEST_SAMPLES, 10_000)),
                Duration.ofMinutes(1),
                Duration.ofMinutes(1).dividedBy(number(options, "--rate", 1, 60_000)),
                logs());
    }

    private static Path logs() throws IOException {
        return Files.createTempDirectory("perdure-torture");
    }

    private static Map<String, String> options(Map<String, String> defaults, String... arguments) throws Mistake {
        Map<String, String> options = new TreeMap<>(defaults);
        for (int i = 0; i < arguments.length; i += 2) {
            if (!options.containsKey(arguments[i])) {
                throw new Mistake("'%s' is no option.".formatted(arguments[i]));
            }
            if (i + 1 == arguments.length) {
                throw new Mistake("The option '%s' has no value.".formatted(arguments[i]));
            }
            options.put(arguments[i], arguments[i + 1]);
        }
        return options;
    }

    private static Plan plan(String... arguments) throws IOException, Mistake {
        Map<String, String> defaults = Map.of(
                "--minutes",
                "30",
                "--faults",
                String.join(",", Faults.words()),
                "--seed",
                "42",
                "--workers",
                "4",
                "--defect",
                "",
                "--older",
                "",
                "--pooler",
                "",
                "--crowd",
                Integer.toString(SMALL_CROWD));
        Map<String, String> options = options(defaults, arguments);
        return new Plan(
                new Plan.FaultPlan(
                        number(options, "--seed", 0, Long.MAX_VALUE),
                        CALM,
                        Duration.ofMinutes(number(options, "--minutes", 0, 10_000)),
                        faults(options.getOrDefault("--faults", "")),
                        List.of(arguments).contains("--faults")),
                new Plan.Setup(
                        Math.toIntExact(number(options, "--workers", 1, 50)),
                        defect(options.getOrDefault("--defect", "")),
                        older(options.getOrDefault("--older", "")),
                        pooler(options.getOrDefault("--pooler", "")),
                        Math.toIntExact(number(options, "--crowd", 1_000, 1_000_000))),
                logs());
    }

    private static long number(Map<String, String> options, String name, long least, long most) throws Mistake {
        String value = options.getOrDefault(name, "");
        long number = value.matches("\\d{1,18}") ? Long.parseLong(value) : -1;
        if (number < least || number > most) {
            throw new Mistake(
                    "The value '%s' of '%s' is not a whole number from %d to %d.".formatted(value, name, least, most));
        }
        return number;
    }

    private static Optional<Planted> defect(String name) throws Mistake {
        if (name.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(Planted.named(name)
                .orElseThrow(() -> new Mistake("'%s' is no defect. Give one of %s.".formatted(name, Planted.words()))));
    }

    private static Optional<Path> older(String folder) throws Mistake {
        if (folder.isEmpty()) {
            return Optional.empty();
        }
        Path checkout = Path.of(folder);
        if (!Files.isDirectory(OlderVersion.classes(checkout))) {
            throw new Mistake(
                    "'%s' is no checkout with a built 'perdure torture'. Run './perdure torture --help' there first."
                            .formatted(folder));
        }
        return Optional.of(checkout);
    }

    private static Optional<Path> pooler(String program) throws Mistake {
        if (program.isEmpty()) {
            return Optional.empty();
        }
        if (!Files.isExecutable(Path.of(program))) {
            throw new Mistake("'%s' is no program. Give the path of a PgBouncer.".formatted(program));
        }
        return Optional.of(Path.of(program));
    }

    private static List<Faults> faults(String names) throws Mistake {
        List<Faults> faults = new ArrayList<>();
        for (String name : names.split(",", -1)) {
            faults.add(Faults.named(name)
                    .orElseThrow(() ->
                            new Mistake("'%s' is no fault. Give one or more of %s.".formatted(name, Faults.words()))));
        }
        return faults;
    }
}

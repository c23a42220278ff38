package dev.perdure.torture;

import dev.perdure.simulation.store.Defects;
import dev.perdure.torture.fault.Faults;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What {@code ./perdure torture} runs. */
public final class Main {
    private static final String USAGE = """
            Usage: perdure torture [--minutes M] [--faults NAME,NAME,…] [--seed N] [--workers N] [--defect NAME]
              --minutes  for how long faults happen (30); 0 lets each happen once
              --faults   those that may happen (all):
            %s
              --seed     chooses the faults, their victims and their moments (42). It does not make schedules of threads repeat
              --workers  how many worker processes there are (4)
              --defect   what is wrong with the store of the workers (nothing), to see that it is found: %s\
            """.formatted(
                    Arrays.stream(Faults.values())
                            .map(fault -> "               %-10s %s".formatted(fault.word(), fault.effect()))
                            .collect(Collectors.joining("\n")),
                    defects());
    private static final Duration CALM = Duration.ofSeconds(20);

    private Main() {}

    /** Exits with 1 if an invariant does not hold, and with 2 if the arguments are not usable. */
    public static void main(String[] arguments) throws Exception {
        System.exit(run(arguments, System.out));
    }

    static int run(String[] arguments, PrintStream out) throws Exception {
        if (List.of(arguments).contains("--help")) {
            out.println(USAGE);
            return 0;
        }
        Plan plan;
        try {
            plan = plan(arguments);
        } catch (IllegalArgumentException mistake) {
            out.println(mistake.getMessage());
            out.println(USAGE);
            return 2;
        }
        try (Torture torture = new Torture(plan, out)) {
            Report report = torture.run();
            out.println(report.text());
            return report.violations().isEmpty() ? 0 : 1;
        }
    }

    private static Plan plan(String... arguments) throws IOException {
        Map<String, String> options = new TreeMap<>(Map.of(
                "--minutes",
                "30",
                "--faults",
                String.join(",", Faults.words()),
                "--seed",
                "42",
                "--workers",
                "4",
                "--defect",
                ""));
        for (int i = 0; i < arguments.length; i += 2) {
            if (!options.containsKey(arguments[i])) {
                throw new IllegalArgumentException("'%s' is no option.".formatted(arguments[i]));
            }
            if (i + 1 == arguments.length) {
                throw new IllegalArgumentException("The option '%s' has no value.".formatted(arguments[i]));
            }
            options.put(arguments[i], arguments[i + 1]);
        }
        return new Plan(
                number(options, "--seed", 0, Long.MAX_VALUE),
                CALM,
                Duration.ofMinutes(number(options, "--minutes", 0, 10_000)),
                faults(options.getOrDefault("--faults", "")),
                Math.toIntExact(number(options, "--workers", 1, 50)),
                defect(options.getOrDefault("--defect", "")),
                Files.createTempDirectory("perdure-torture"));
    }

    private static long number(Map<String, String> options, String name, long least, long most) {
        String value = options.getOrDefault(name, "");
        long number = value.matches("\\d{1,18}") ? Long.parseLong(value) : -1;
        if (number < least || number > most) {
            throw new IllegalArgumentException("The value '%s' of '%s' is not a whole number from %d to %d."
                    .formatted(value, name, least, most));
        }
        return number;
    }

    private static String defects() {
        return Arrays.stream(Defects.values()).map(Main::word).collect(Collectors.joining(", "));
    }

    private static String word(Defects defect) {
        return defect.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static Optional<Defects> defect(String name) {
        if (name.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(Arrays.stream(Defects.values())
                .filter(defect -> word(defect).equals(name))
                .findFirst()
                .orElseThrow(() ->
                        new IllegalArgumentException("'%s' is no defect. Give one of %s.".formatted(name, defects()))));
    }

    private static List<Faults> faults(String names) {
        List<Faults> faults = new ArrayList<>();
        for (String name : names.split(",", -1)) {
            faults.add(Faults.named(name)
                    .orElseThrow(() -> new IllegalArgumentException(
                            "'%s' is no fault. Give one or more of %s.".formatted(name, Faults.words()))));
        }
        return faults;
    }
}

package dev.perdure.benchmarks.report;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Prints the report of a run, and writes {@code figures.txt}, {@code tables.md} and {@code chart.svg} into a folder.
 */
public final class Report {
    private final Path folder;
    private final PrintWriter out;
    private final Function<Figures, List<String>> goals;
    private List<String> machine = List.of();

    /** @param goals the table of the goals */
    public Report(Path folder, PrintWriter out, Function<Figures, List<String>> goals) {
        this.folder = folder;
        this.out = out;
        this.goals = goals;
    }

    /** Prints the description of the machine. */
    public void begin(List<String> description) {
        machine = description.stream().map(line -> "# " + line).toList();
        print(machine);
    }

    /** Prints the tables and the disturbances, and writes all files. */
    public void end(Figures figures, List<String> disturbances) throws IOException {
        List<String> remarks = disturbances.stream().map(line -> "# " + line).toList();
        List<String> tables = tables(figures);
        print(tables);
        print(remarks);
        Files.createDirectories(folder);
        List<String> lines = new ArrayList<>(machine);
        figures.all().forEach(figure -> lines.add(figure.line()));
        lines.addAll(remarks);
        Files.write(folder.resolve("figures.txt"), lines);
        Files.write(folder.resolve("tables.md"), tables);
        Optional<String> chart = new Chart(figures).svg();
        if (chart.isPresent()) {
            Files.writeString(folder.resolve("chart.svg"), chart.get());
        }
        out.println("# written to " + folder);
        out.flush();
    }

    private List<String> tables(Figures figures) {
        List<List<String>> tables = List.of(
                new RatioTable(figures, List.of("dbos", "dbscheduler", "jobrunr")).lines(),
                new CostTable(figures, List.of("raw", "perdure", "tuned", "dbos", "dbscheduler", "jobrunr")).lines(),
                goals.apply(figures));
        List<String> lines = new ArrayList<>();
        for (List<String> table : tables) {
            if (!lines.isEmpty() && !table.isEmpty()) {
                lines.add("");
            }
            lines.addAll(table);
        }
        return lines;
    }

    private void print(List<String> lines) {
        lines.forEach(out::println);
        out.flush();
    }
}

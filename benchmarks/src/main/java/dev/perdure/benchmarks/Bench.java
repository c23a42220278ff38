package dev.perdure.benchmarks;

import dev.perdure.benchmarks.measure.Contender;
import dev.perdure.benchmarks.measure.Results;
import dev.perdure.benchmarks.measure.Scale;
import dev.perdure.benchmarks.measure.Workload;
import dev.perdure.benchmarks.process.Jvm;
import dev.perdure.benchmarks.report.Figure;
import dev.perdure.benchmarks.report.Figures;
import dev.perdure.benchmarks.server.BenchDatabase;
import dev.perdure.benchmarks.server.Server;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Runs the selected workloads one after the other. Each has its own process and its own database, all on one server. So
 * no measurement sees the garbage, compiled code or rows of another. It reports a failure at once and again at the end,
 * and continues with the rest.
 */
final class Bench {
    /** The share of stolen processor time from which the report mentions it. */
    private static final double REPORTED_STEAL = 0.05;

    private final Server server;
    private final Scale scale;
    private final long finished;
    private final Path folder;
    private final PrintWriter out;
    private final PrintWriter progress;
    private final Figures figures = new Figures();
    private final List<String> failures = new ArrayList<>();
    private final List<String> disturbances = new ArrayList<>();

    /** @param finished how many finished runs a database that has grown has */
    Bench(Server server, Scale scale, long finished, Path folder, PrintWriter out, PrintWriter progress) {
        this.server = server;
        this.scale = scale;
        this.finished = finished;
        this.folder = folder;
        this.out = out;
        this.progress = progress;
    }

    Figures figures() {
        return figures;
    }

    /** The measurements that failed. */
    List<String> failures() {
        return List.copyOf(failures);
    }

    /** The measurements during which other virtual machines took much processor time. */
    List<String> disturbances() {
        return List.copyOf(disturbances);
    }

    void run(Set<Workload> workloads, Set<Contender> wanted) throws Exception {
        for (Workload workload : workloads) {
            for (Contender contender : Contender.values()) {
                if (wanted.contains(contender)
                        && Catalog.find(contender, workload).isPresent()) {
                    measure(contender, workload);
                }
            }
        }
    }

    private void measure(Contender contender, Workload workload) throws Exception {
        String name = "bench_%s_%s".formatted(contender, workload);
        Path log = Files.createDirectories(folder.resolve("log")).resolve(name + ".log");
        Files.deleteIfExists(log);
        Optional<Processors> before = Processors.now();
        Instant began = Instant.now();
        BenchDatabase database = server.fresh(name);
        try {
            int code = measure(contender, workload, database, log.toFile());
            if (code != 0) {
                failures.add("%s %s ended with exit code %d; its log is %s".formatted(contender, workload, code, log));
                progress.println(failures.getLast());
            }
            noteDisturbance(contender, workload, before);
            progress.printf(
                    "… %s %s took %d s%n",
                    contender, workload, Duration.between(began, Instant.now()).toSeconds());
            progress.flush();
        } finally {
            server.drop(name);
        }
    }

    private void noteDisturbance(Contender contender, Workload workload, Optional<Processors> before)
            throws IOException {
        Optional<Processors> after = Processors.now();
        double stolen =
                before.flatMap(then -> after.map(now -> now.stolenSince(then))).orElse(0.0);
        if (stolen >= REPORTED_STEAL) {
            disturbances.add("other virtual machines had %.0f %% of the processor time while %s %s was measured"
                    .formatted(stolen * 100, contender, workload));
        }
    }

    private int measure(Contender contender, Workload workload, BenchDatabase database, File log)
            throws IOException, InterruptedException {
        List<String> arguments = List.of(contender.name(), workload.name(), scale.name(), Long.toString(finished));
        Process child = Jvm.start(
                ChildMain.class, database, contender.options(), ProcessBuilder.Redirect.appendTo(log), arguments);
        try (BufferedReader lines = child.inputReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Results.figureIn(line, contender.toString()).ifPresent(this::report);
                Results.progressIn(line).ifPresent(text -> progress.println("… " + contender + " " + text));
                progress.flush();
            }
            return child.waitFor();
        } finally {
            child.destroyForcibly();
        }
    }

    private void report(Figure figure) {
        figures.add(figure);
        out.println(figure.line());
        out.flush();
    }
}

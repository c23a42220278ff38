package dev.perdure.benchmarks;

import dev.perdure.benchmarks.measure.Results;
import dev.perdure.benchmarks.measure.Scale;
import dev.perdure.benchmarks.measure.Who;
import dev.perdure.benchmarks.measure.Workload;
import dev.perdure.benchmarks.process.Jvm;
import dev.perdure.benchmarks.report.Figure;
import dev.perdure.benchmarks.report.Figures;
import dev.perdure.benchmarks.server.Server;
import dev.perdure.benchmarks.server.Site;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * One run: every wanted workload, one after the other, each in a process of its own on a database of its own, all on one
 * server. So nobody has another's garbage, compiled code or leftover rows. What fails is told at once and at the end, and
 * the rest goes on.
 */
final class Bench {
    /** From which share of the processors on it is told that others had it. */
    private static final double MUCH = 0.05;

    private final Server server;
    private final Scale scale;
    private final Path folder;
    private final PrintWriter out;
    private final PrintWriter progress;
    private final Figures figures = new Figures();
    private final List<String> failures = new ArrayList<>();
    private final List<String> disturbances = new ArrayList<>();

    Bench(Server server, Scale scale, Path folder, PrintWriter out, PrintWriter progress) {
        this.server = server;
        this.scale = scale;
        this.folder = folder;
        this.out = out;
        this.progress = progress;
    }

    Figures figures() {
        return figures;
    }

    /** What could not be measured. */
    List<String> failures() {
        return List.copyOf(failures);
    }

    /** Where the machine gave much to others. */
    List<String> disturbances() {
        return List.copyOf(disturbances);
    }

    void run(Set<Workload> workloads, Set<Who> wanted) throws Exception {
        for (Workload workload : workloads) {
            for (Who who : Who.values()) {
                if (wanted.contains(who) && Catalog.find(who, workload).isPresent()) {
                    measure(who, workload);
                }
            }
        }
    }

    private void measure(Who who, Workload workload) throws Exception {
        String name = "bench_%s_%s".formatted(who, workload);
        Path log = Files.createDirectories(folder.resolve("log")).resolve(name + ".log");
        Files.deleteIfExists(log);
        Optional<Processors> before = Processors.now();
        Site site = server.fresh(name);
        try {
            int code = measure(who, workload, site, log.toFile());
            if (code != 0) {
                failures.add("%s %s ended with %d; its log is %s".formatted(who, workload, code, log));
                progress.println(failures.getLast());
            }
            noteDisturbance(who, workload, before);
        } finally {
            server.drop(name);
        }
    }

    private void noteDisturbance(Who who, Workload workload, Optional<Processors> before) throws IOException {
        Optional<Processors> after = Processors.now();
        double stolen =
                before.flatMap(then -> after.map(now -> now.stolenSince(then))).orElse(0.0);
        if (stolen >= MUCH) {
            disturbances.add("others had %.0f %% of the processors while %s %s was measured"
                    .formatted(stolen * 100, who, workload));
        }
    }

    private int measure(Who who, Workload workload, Site site, File log) throws IOException, InterruptedException {
        List<String> arguments = List.of(who.name(), workload.name(), scale.name());
        Process child = Jvm.start(ChildMain.class, site, ProcessBuilder.Redirect.appendTo(log), arguments);
        try (BufferedReader lines = child.inputReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Results.figureIn(line, who.toString()).ifPresent(this::tell);
                Results.progressIn(line).ifPresent(text -> progress.println("… " + who + " " + text));
                progress.flush();
            }
            return child.waitFor();
        } finally {
            child.destroyForcibly();
        }
    }

    private void tell(Figure figure) {
        figures.add(figure);
        out.println(figure.line());
        out.flush();
    }
}

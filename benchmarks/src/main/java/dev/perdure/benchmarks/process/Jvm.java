package dev.perdure.benchmarks.process;

import dev.perdure.benchmarks.server.BenchDatabase;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Starts Java processes with the class path of this one. All get the same options, whatever they measure, except what a
 * tuned contender adds.
 */
public final class Jvm {
    /** The heap is large enough for every measurement, and fixed, so that no round pays for its growth. */
    private static final List<String> OPTIONS = List.of("-Xms2g", "-Xmx2g", "-XX:+UseParallelGC");

    /** What a tuned contender sets. */
    private static final String CARRIERS = "jdk.virtualThreadScheduler.parallelism";

    private Jvm() {}

    /** The version and options, for the output. */
    public static String description() {
        return "JVM " + System.getProperty("java.vm.version") + " " + String.join(" ", OPTIONS);
    }

    /** The options that the contender of this process has added, for the processes that it starts. */
    static List<String> added() {
        String carriers = System.getProperty(CARRIERS);
        return carriers == null ? List.of() : List.of("-D" + CARRIERS + "=" + carriers);
    }

    /**
     * Starts a process whose main class gets the database first, and then the arguments. Standard error goes to the
     * log.
     *
     * @param added options of the contender
     */
    public static Process start(
            Class<?> main,
            BenchDatabase database,
            List<String> added,
            ProcessBuilder.Redirect log,
            List<String> arguments)
            throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(OPTIONS);
        command.addAll(added);
        command.addAll(
                List.of("-cp", System.getProperty("java.class.path"), main.getName(), database.url(), database.user()));
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(log);
        builder.environment().put("PGPASSWORD", database.password());
        return builder.start();
    }

    /** The database in the arguments of a process. */
    public static BenchDatabase database(String... arguments) {
        return new BenchDatabase(arguments[0], arguments[1], System.getenv("PGPASSWORD"));
    }

    /** Ends this process when the process that started it has ended. */
    public static void endWithParent() {
        Thread.ofPlatform().daemon().name("parent-watch").start(() -> {
            try {
                while (System.in.read() >= 0) {
                    // The parent sends nothing. Only the end of the stream counts.
                }
            } catch (IOException broken) {
                // The same as the end of the stream.
            }
            Runtime.getRuntime().halt(1);
        });
    }
}

package dev.perdure.benchmarks.process;

import dev.perdure.benchmarks.server.Site;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Starts Java processes with the class path of this one. All get the same options, whoever they measure. */
public final class Jvm {
    /** Enough for everybody, and fixed, so that no round pays for growing it. */
    private static final List<String> OPTIONS = List.of("-Xms2g", "-Xmx2g", "-XX:+UseParallelGC");

    private Jvm() {}

    /** For the output. */
    public static String description() {
        return "JVM " + System.getProperty("java.vm.version") + " " + String.join(" ", OPTIONS);
    }

    /** A process whose main class gets the database first, then the arguments. Its log goes where it is told. */
    public static Process start(Class<?> main, Site site, ProcessBuilder.Redirect log, List<String> arguments)
            throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(OPTIONS);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName(), site.url(), site.user()));
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(log);
        builder.environment().put("PGPASSWORD", site.password());
        return builder.start();
    }

    /** The database that a process was started with. */
    public static Site site(String... arguments) {
        return new Site(arguments[0], arguments[1], System.getenv("PGPASSWORD"));
    }

    /** Ends this process when the one that started it is gone. */
    public static void endWithParent() {
        Thread.ofPlatform().daemon().name("parent-watch").start(() -> {
            try {
                while (System.in.read() >= 0) {
                    // Nothing is said here; only the end counts.
                }
            } catch (IOException broken) {
                // As good as the end.
            }
            Runtime.getRuntime().halt(1);
        });
    }
}

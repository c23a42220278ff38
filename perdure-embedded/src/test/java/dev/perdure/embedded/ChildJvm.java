package dev.perdure.embedded;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** A child JVM that starts a server, prints its address, and waits until the test ends it. */
final class ChildJvm implements AutoCloseable {
    private final Process process;
    private final BufferedReader output;

    private ChildJvm(Process process) {
        this.process = process;
        this.output = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
    }

    /** What the child printed about its server. */
    record Server(Path folder, int port, long pid) {
        boolean alive() {
            return ChildJvm.alive(pid);
        }
    }

    /** {@return whether it lives; a dead process that is not reaped has no command line} */
    static boolean alive(long pid) {
        return ProcessHandle.of(pid)
                .flatMap(process -> process.info().commandLine())
                .isPresent();
    }

    static ChildJvm temporary(String... jvmOptions) {
        return launch(List.of(), List.of(jvmOptions), "temporary");
    }

    static ChildJvm persistent(Path folder) {
        return launch(List.of(), List.of(), folder.toString());
    }

    static ChildJvm launch(List<String> prefix, List<String> jvmOptions, String argument) {
        var command = new ArrayList<>(prefix);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        command.addAll(jvmOptions);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName(), argument));
        try {
            return new ChildJvm(
                    new ProcessBuilder(command).redirectErrorStream(true).start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Server awaitServer() {
        var parts = awaitLine("server ").split(" ", 3);
        return new Server(Path.of(parts[2]), Integer.parseInt(parts[0]), Long.parseLong(parts[1]));
    }

    /** {@return the rest of the first line with this prefix} */
    String awaitLine(String beginning) {
        return CompletableFuture.supplyAsync(
                        () -> readUntil(beginning), task -> Thread.ofVirtual().start(task))
                .orTimeout(60, TimeUnit.SECONDS)
                .join();
    }

    private String readUntil(String beginning) {
        var seen = new StringBuilder();
        try {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                seen.append(line).append('\n');
                if (line.startsWith(beginning)) {
                    return line.substring(beginning.length());
                }
                if (line.startsWith("server ")) {
                    break;
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        throw new AssertionError("the child never said '" + beginning + "', only:\n" + seen);
    }

    String rest() {
        return output.lines().collect(Collectors.joining("\n"));
    }

    ProcessHandle handle() {
        return process.toHandle();
    }

    List<ProcessHandle> children() {
        return process.children().toList();
    }

    /** Kills the JVM like {@code kill -9}. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /**
     * Sends a signal to the JVM alone. Not the signal of Ctrl-C, which a JVM that was started in the background
     * ignores.
     */
    int terminate() throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-TERM", Long.toString(process.pid()))
                .start()
                .waitFor();
        process.waitFor(60, TimeUnit.SECONDS);
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    static final class Main {
        private Main() {}

        public static void main(String[] args) throws IOException {
            System.out.println("begin");
            var options = EmbeddedPostgres.options();
            try {
                var postgres = EmbeddedPostgres.start(
                        args[0].equals("temporary") ? options : options.dataFolder(Path.of(args[0])));
                System.out.println("server " + postgres.port() + " " + postgres.pid() + " " + postgres.folder());
            } catch (EmbeddedPostgresException e) {
                System.out.println("failed " + e.reason() + " " + e.getMessage());
                System.exit(3);
            }
            // Do not outlive the test that started this JVM.
            while (System.in.read() >= 0) {}
            Runtime.getRuntime().halt(4);
        }
    }
}

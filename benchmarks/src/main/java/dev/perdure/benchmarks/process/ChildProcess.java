package dev.perdure.benchmarks.process;

import dev.perdure.benchmarks.cost.Meter;
import dev.perdure.benchmarks.cost.ProcessCost;
import dev.perdure.benchmarks.server.BenchDatabase;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A second process that executes commands, one line each, and answers each with one line. It ends with this process.
 */
public final class ChildProcess implements AutoCloseable, Meter.OtherProcess {
    private static final String COST = "cost";

    /** Executes commands in the second process. */
    @FunctionalInterface
    public interface CommandHandler {
        String to(String command) throws Exception;
    }

    private final Process process;
    private final BufferedWriter to;
    private final BufferedReader from;

    private ChildProcess(Process process) {
        this.process = process;
        this.to = process.outputWriter(StandardCharsets.UTF_8);
        this.from = process.inputReader(StandardCharsets.UTF_8);
    }

    /** Starts a process with this main class, which calls {@link #answer}. */
    public static ChildProcess with(Class<?> main, BenchDatabase database, String... arguments) throws IOException {
        return new ChildProcess(
                Jvm.start(main, database, Jvm.added(), ProcessBuilder.Redirect.INHERIT, List.of(arguments)));
    }

    /** Sends a command and waits for the answer. */
    public String ask(String command) throws IOException {
        to.write(command);
        to.newLine();
        to.flush();
        String answer = from.readLine();
        if (answer == null) {
            throw new IOException("The process ended during the command '%s'. See its log.".formatted(command));
        }
        return answer;
    }

    /** The resources that the second process has used. */
    @Override
    public ProcessCost cost() throws IOException {
        return ProcessCost.parse(ask(COST));
    }

    /** Kills the process like {@code kill -9}. */
    public void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
    }

    /** Called in the second process: answers commands until the first process has ended. */
    public static void answer(CommandHandler answers) throws Exception {
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String command = commands.readLine(); command != null; command = commands.readLine()) {
            System.out.println(command.equals(COST) ? ProcessCost.now().line() : answers.to(command));
            System.out.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}

package dev.perdure.benchmarks.process;

import dev.perdure.benchmarks.cost.Meter;
import dev.perdure.benchmarks.cost.ProcessCost;
import dev.perdure.benchmarks.server.Site;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A second process that does what it is told, a line at a time, and answers each with a line. It ends with this one. */
public final class Conversation implements AutoCloseable, Meter.OtherProcess {
    private static final String COST = "cost";

    /** How the second process answers. */
    @FunctionalInterface
    public interface Answers {
        String to(String command) throws Exception;
    }

    private final Process process;
    private final BufferedWriter to;
    private final BufferedReader from;

    private Conversation(Process process) {
        this.process = process;
        this.to = process.outputWriter(StandardCharsets.UTF_8);
        this.from = process.inputReader(StandardCharsets.UTF_8);
    }

    /** Starts a process whose main class answers. */
    public static Conversation with(Class<?> main, Site site, String... arguments) throws IOException {
        return new Conversation(Jvm.start(main, site, ProcessBuilder.Redirect.INHERIT, List.of(arguments)));
    }

    /** Tells it something, and waits for the answer. */
    public String ask(String command) throws IOException {
        to.write(command);
        to.newLine();
        to.flush();
        String answer = from.readLine();
        if (answer == null) {
            throw new IOException("The process ended when it was told '%s'; its log says why.".formatted(command));
        }
        return answer;
    }

    /** What the second process has used. */
    @Override
    public ProcessCost cost() throws IOException {
        return ProcessCost.parse(ask(COST));
    }

    /** {@code kill -9}. */
    public void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
    }

    /** In the second process: answers until the first is gone. */
    public static void answer(Answers answers) throws Exception {
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

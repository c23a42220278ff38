package dev.perdure.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.StartOptions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the tool as a process of its own, as people do. */
class WatchIT extends CommandsOnPostgres {
    private static final Definition<String, String> WAITS =
            Definition.of("waits", String.class, String.class, (ctx, in) -> in);
    private static final int ENDED_BY_CTRL_C = 130;
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private final List<Process> started = new ArrayList<>();

    @TempDir
    Path folder;

    @AfterEach
    void end() {
        started.forEach(Process::destroyForcibly);
    }

    @Test
    void a_pipe_gets_one_page_after_the_other_and_ctrl_c_ends_it() {
        withClient(client -> {
            Path printed = folder.resolve("pages");
            Process tool = start(printed, "", "runs", "list", "--watch", "--json");
            await().atMost(PATIENCE).until(() -> lines(printed) >= 1);
            client.start(Invocation.of(WAITS, "x"), StartOptions.id("seen-later"));
            await().atMost(PATIENCE).until(() -> text(printed).contains("seen-later"));
            assertThat(text(printed).lines()).allMatch(line -> line.startsWith("{\"runs\":[") && line.endsWith("]}"));
            assertThat(pressCtrlC(tool)).isEqualTo(ENDED_BY_CTRL_C);
        });
    }

    @Test
    @Tag("thorough")
    void a_terminal_shows_one_page_in_the_place_of_the_other_and_gets_its_cursor_back() {
        withClient(client -> {
            Path printed = folder.resolve("frames");
            Process tool = start(printed, "24 80", "queues", "list", "--watch");
            await().atMost(PATIENCE).until(() -> text(printed).split("\033\\[H", -1).length > 2);
            assertThat(pressCtrlC(tool)).isEqualTo(ENDED_BY_CTRL_C);
            assertThat(text(printed))
                    .startsWith("\033[?25l\033[2J\033[H")
                    .endsWith("\033[?25h")
                    .containsOnlyOnce("\033[2J");
        });
    }

    @Test
    void a_database_that_was_never_there_ends_it_at_once() throws Exception {
        Path printed = folder.resolve("nothing");
        Process tool = process(
                ProcessBuilder.Redirect.to(printed.toFile()),
                "24 80",
                List.of("runs", "list", "--watch", "--url", "jdbc:postgresql://127.0.0.1:1/app"));
        assertThat(tool.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(tool.exitValue()).isEqualTo(Main.NO_DATABASE);
        assertThat(text(printed)).isEmpty();
    }

    @Test
    @Tag("thorough")
    void it_ends_when_its_reader_is_gone() throws Exception {
        assertThat(perdure(onDatabase("migrate"))).isZero();
        Process tool = process(ProcessBuilder.Redirect.PIPE, "", List.of(onDatabase("runs", "list", "--watch")));
        assertThat(tool.getInputStream().read()).isPositive();
        tool.getInputStream().close();
        assertThat(tool.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(tool.exitValue()).isZero();
    }

    private Process start(Path printed, String terminal, String... args) {
        return process(ProcessBuilder.Redirect.to(printed.toFile()), terminal, List.of(onDatabase(args)));
    }

    private Process process(ProcessBuilder.Redirect printed, String terminal, List<String> args) {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Dperdure.terminal=" + terminal,
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName()));
        command.addAll(args);
        try {
            Process tool = new ProcessBuilder(command)
                    .redirectOutput(printed)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            started.add(tool);
            return tool;
        } catch (IOException failed) {
            throw new AssertionError(failed);
        }
    }

    private static int pressCtrlC(Process tool) {
        try {
            assertThat(new ProcessBuilder("kill", "-INT", String.valueOf(tool.pid()))
                            .start()
                            .waitFor())
                    .isZero();
            assertThat(tool.waitFor(30, TimeUnit.SECONDS)).isTrue();
            return tool.exitValue();
        } catch (IOException | InterruptedException failed) {
            throw new AssertionError(failed);
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file, StandardCharsets.UTF_8);
        } catch (IOException failed) {
            throw new AssertionError(failed);
        }
    }

    private static long lines(Path file) {
        return text(file).lines().count();
    }
}

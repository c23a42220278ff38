package dev.perdure.embedded;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.perdure.embedded.EmbeddedPostgresException.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Cleans up after a dead JVM. Usually its supervisor is already stopping the server, and this class waits for that. If
 * the supervisor was killed as well, this class stops the server. It first identifies the process by its program and
 * its command line, because the operating system reuses pids.
 */
final class LeftOver {
    private static final Logger log = LoggerFactory.getLogger("dev.perdure.embedded");
    private static final Duration STOP = Duration.ofSeconds(40);

    private LeftOver() {}

    /** Makes sure that no server runs on a folder that this JVM owns. */
    static void end(DataFolder folder, Binaries binaries, RunAs runAs) {
        supervisor(folder.root()).ifPresent(process -> awaitExit(process, folder.root()));
        var server = server(folder.data());
        if (server.isPresent()) {
            log.info(
                    "Stopping PostgreSQL (pid {}) that a dead JVM left in {}",
                    server.get().pid(),
                    folder.root());
            stop(folder, binaries, runAs, StopMode.FAST);
        } else {
            removeStalePid(folder.data());
        }
    }

    /** Removes the temporary folders that dead JVMs left behind, and the servers in them. */
    static void sweep(Binaries binaries, RunAs runAs) {
        var temp = Path.of(System.getProperty("java.io.tmpdir", "/tmp"));
        try (var roots = Files.newDirectoryStream(temp, DataFolder.TEMPORARY_PREFIX + "*")) {
            for (var root : roots) {
                // A running supervisor cleans up by itself.
                if (supervisor(root).isEmpty()) {
                    sweep(root, binaries, runAs);
                }
            }
        } catch (IOException | RuntimeException e) {
            log.debug("Could not look for left-over folders in {}", temp, e);
        }
    }

    private static void sweep(Path root, Binaries binaries, RunAs runAs) {
        try {
            DataFolder.abandoned(root).ifPresent(folder -> {
                end(folder, binaries, runAs);
                folder.release();
                log.debug("Removed the left-over folder {}", root);
            });
        } catch (IOException | RuntimeException e) {
            log.debug("Could not remove the left-over folder {}", root, e);
        }
    }

    /** Stops the server on the folder with pg_ctl. If an orderly stop fails, it stops the server immediately. */
    static void stop(DataFolder folder, Binaries binaries, RunAs runAs, StopMode mode) {
        var server = server(folder.data());
        order(folder, binaries, runAs, mode);
        if (server(folder.data()).isPresent()) {
            order(folder, binaries, runAs, StopMode.IMMEDIATE);
        }
        server.ifPresent(process -> awaitExit(process, folder.root()));
    }

    private static void order(DataFolder folder, Binaries binaries, RunAs runAs, StopMode mode) {
        var pgCtl = binaries.programs().resolve("pg_ctl").toString();
        var data = folder.data().toString();
        try {
            var process = new ProcessBuilder(
                            runAs.command(pgCtl, "-D", data, "-m", mode.word(), "-w", "-t", "20", "stop"))
                    .redirectErrorStream(true)
                    .start();
            process.getOutputStream().close();
            var said = new String(process.getInputStream().readAllBytes(), UTF_8).strip();
            if (process.waitFor() != 0) {
                log.debug("pg_ctl could not stop the server in {}: {}", folder.root(), said);
            }
        } catch (IOException e) {
            throw StartFailure.of("stop the server in " + folder.root(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** {@return the running supervisor of this folder} */
    static Optional<ProcessHandle> supervisor(Path root) {
        return firstLine(root.resolve("supervisor.pid"))
                .flatMap(LeftOver::process)
                .filter(process -> process.info().commandLine().orElse("").contains(Supervisor.SCRIPT));
    }

    /** {@return the server that runs on this data folder} */
    static Optional<ProcessHandle> server(Path data) {
        try {
            var lines = Files.readAllLines(data.resolve("postmaster.pid"));
            var started = Instant.ofEpochSecond(Long.parseLong(lines.get(2).strip()));
            return process(lines.get(0))
                    .filter(LeftOver::postgres)
                    .filter(process -> on(data, started, process.info()));
        } catch (IOException | RuntimeException e) {
            return Optional.empty(); // No server runs, or the file is just being written or removed.
        }
    }

    /**
     * Identifies a server by its command line, which names the folder, or by its start time where the system hides
     * command lines.
     */
    private static boolean on(Path data, Instant started, ProcessHandle.Info process) {
        return process.arguments()
                .map(arguments -> List.of(arguments).contains(data.toString()))
                .or(() -> process.startInstant().map(instant -> DataFolder.close(instant, started)))
                .orElse(false);
    }

    /**
     * Removes a pid file whose pid belongs to another program now. The server would take that program for another
     * server and refuse to start.
     */
    private static void removeStalePid(Path data) {
        var file = data.resolve("postmaster.pid");
        var reused = firstLine(file)
                .flatMap(LeftOver::process)
                .filter(process -> process.info().command().isPresent() && !postgres(process));
        if (reused.isPresent()) {
            try {
                Files.deleteIfExists(file);
            } catch (IOException e) {
                throw StartFailure.of("remove the stale " + file, e);
            }
        }
    }

    /** {@return whether the process is dead but not reaped, as in containers without an init process} */
    private static boolean zombie(ProcessHandle process) {
        return process.info().commandLine().isEmpty();
    }

    private static boolean postgres(ProcessHandle process) {
        return process.info().command().orElse("").endsWith("/postgres");
    }

    private static Optional<ProcessHandle> process(String pid) {
        try {
            return ProcessHandle.of(Long.parseLong(pid.strip())).filter(ProcessHandle::isAlive);
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    private static Optional<String> firstLine(Path file) {
        try (var lines = Files.lines(file)) {
            return lines.findFirst();
        } catch (IOException | RuntimeException e) {
            return Optional.empty();
        }
    }

    private static void awaitExit(ProcessHandle process, Path root) {
        var deadline = System.nanoTime() + STOP.toNanos();
        while (process.isAlive() && !zombie(process)) {
            if (System.nanoTime() - deadline > 0) {
                throw new EmbeddedPostgresException(
                        Reason.TIMED_OUT,
                        "The process " + process.pid() + ", left by a dead JVM in " + root + ", does not end. Stop it, "
                                + "then start again.");
            }
            try {
                process.onExit().get(20, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                // Check again.
            } catch (ExecutionException e) {
                throw new AssertionError("waiting for a process does not fail", e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }
}

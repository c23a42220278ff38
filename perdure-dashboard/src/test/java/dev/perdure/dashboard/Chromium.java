package dev.perdure.dashboard;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/**
 * The Chromium of this machine without a window, driven by its own protocol (CDP). That needs nothing but the JDK's
 * client for web sockets, where a library would bring a driver of 200 MB.
 */
final class Chromium implements AutoCloseable {
    private static final List<String> NAMES =
            List.of("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome");
    private static final Duration START = Duration.ofSeconds(60);

    static final ObjectMapper JSON = new ObjectMapper();

    private final HttpClient client = HttpClient.newHttpClient();
    private final Path profile;
    private final Process process;
    private final int port;

    private Chromium(Path program) {
        try {
            this.profile = Files.createTempDirectory("perdure-chromium");
            this.process = new ProcessBuilder(
                            program.toString(),
                            "--headless=new",
                            "--no-sandbox", // tests may run as root
                            "--disable-gpu",
                            "--disable-dev-shm-usage",
                            "--no-first-run",
                            "--disable-extensions",
                            "--disable-background-networking",
                            "--force-device-scale-factor=1",
                            "--hide-scrollbars",
                            "--remote-debugging-port=0",
                            "--user-data-dir=" + profile,
                            "about:blank")
                    .redirectErrorStream(true)
                    .redirectOutput(profile.resolve("log").toFile())
                    .start();
        } catch (IOException failed) {
            throw new UncheckedIOException("Chromium cannot be started: " + program, failed);
        }
        this.port = awaitPort();
    }

    /** Where Chromium is: {@code CHROME_BIN}, or on the path. */
    static Optional<Path> find() {
        List<Path> places = new ArrayList<>();
        Optional.ofNullable(System.getenv("CHROME_BIN")).map(Path::of).ifPresent(places::add);
        for (String folder :
                Optional.ofNullable(System.getenv("PATH")).orElse("").split(":", -1)) {
            NAMES.forEach(name -> places.add(Path.of(folder, name)));
        }
        return places.stream().filter(Files::isExecutable).findFirst();
    }

    static Chromium start(Path program) {
        return new Chromium(program);
    }

    private int awaitPort() {
        Path file = profile.resolve("DevToolsActivePort");
        long ends = System.nanoTime() + START.toNanos();
        while (System.nanoTime() < ends && process.isAlive()) {
            try {
                List<String> lines = Files.exists(file) ? Files.readAllLines(file) : List.of();
                if (lines.size() >= 2) {
                    return Integer.parseInt(lines.getFirst());
                }
                process.waitFor(50, TimeUnit.MILLISECONDS);
            } catch (IOException unreadable) {
                throw new UncheckedIOException(unreadable);
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
                break;
            }
        }
        close();
        throw new IllegalStateException("Chromium did not start.");
    }

    /** Opens a tab of its own size. */
    Tab open(int width, int height) {
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:%d/json/new?about:blank".formatted(port)))
                .PUT(HttpRequest.BodyPublishers.noBody())
                .build();
        try {
            String answer =
                    client.send(request, HttpResponse.BodyHandlers.ofString()).body();
            JsonNode tab = JSON.readTree(answer);
            return new Tab(client, URI.create(tab.get("webSocketDebuggerUrl").asString()), width, height);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Stopped while a tab was opened.", stopped);
        }
    }

    @Override
    public void close() {
        List<ProcessHandle> children = process.descendants().toList();
        process.destroy();
        try {
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                process.waitFor(10, TimeUnit.SECONDS);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        children.forEach(ProcessHandle::destroyForcibly);
        client.close();
        delete(profile);
    }

    private static void delete(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder())
                    .forEach(file -> file.toFile().delete());
        } catch (IOException | UncheckedIOException alreadyGone) {
            // the operating system clears its folder for temporary files
        }
    }
}

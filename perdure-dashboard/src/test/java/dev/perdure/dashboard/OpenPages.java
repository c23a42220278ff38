package dev.perdure.dashboard;

import dev.perdure.http.exchange.ApiRequest;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;

/**
 * Two hundred pages in a process of their own, as browsers are, so that what they cost themselves is not counted as a cost
 * of the engine.
 */
final class OpenPages implements AutoCloseable {
    static final int PAGES = 200;
    private static final String OPEN = "open";
    private static final String DRAWN = "drawn";
    private static final String CLOSE = "close";

    private final Process process;
    private final BufferedReader answers;
    private final PrintStream commands;

    private OpenPages(Process process) {
        this.process = process;
        this.answers = process.inputReader(StandardCharsets.UTF_8);
        this.commands = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
    }

    /** Starts the process. It opens no page yet. */
    static OpenPages of(URI address) throws IOException {
        return new OpenPages(ServingProcess.java(OpenPages.class, address.toString()));
    }

    /** Opens all pages. */
    void open() {
        commands.println(OPEN);
    }

    /** Whether all pages that were opened have shown their data. */
    boolean drawn() throws IOException {
        return answers.ready() && expected(DRAWN);
    }

    private boolean expected(String answer) throws IOException {
        String line = answers.readLine();
        if (!answer.equals(line)) {
            throw new IOException("The process with the pages said '%s' and not '%s'.".formatted(line, answer));
        }
        return true;
    }

    /**
     * What pages did while they were open.
     *
     * @param readings how often a page has read what it shows
     * @param failures how many requests failed
     */
    record Done(long readings, long failures) {
        Done and(Done other) {
            return new Done(readings + other.readings, failures + other.failures);
        }
    }

    /** Closes all pages. */
    Done closePages() throws IOException {
        commands.println(CLOSE);
        String[] numbers = answers.readLine().split(" ");
        return new Done(Long.parseLong(numbers[0]), Long.parseLong(numbers[1]));
    }

    @Override
    public void close() {
        commands.close();
        process.destroy();
        process.onExit().join();
    }

    /** The process: opens and closes pages on request. */
    public static void main(String[] args) throws IOException, InterruptedException {
        URI address = URI.create(args[0]);
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        while (OPEN.equals(commands.readLine())) {
            Client client = new Client(address);
            client.open();
            System.out.println(DRAWN);
            if (!CLOSE.equals(commands.readLine())) {
                return;
            }
            client.close();
            System.out.println(client.readings.sum() + " " + client.failures.sum());
        }
    }

    private static final class Client {
        private final HttpClient http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1) // as browsers do without TLS
                .build();
        private final URI address;
        private final LongAdder readings = new LongAdder();
        private final LongAdder failures = new LongAdder();
        private final AtomicBoolean open = new AtomicBoolean(true);
        private final CountDownLatch toDraw = new CountDownLatch(PAGES);
        private final List<Thread> pages = new ArrayList<>();

        Client(URI address) {
            this.address = address;
        }

        void open() throws InterruptedException {
            for (int i = 0; i < PAGES; i++) {
                List<ApiRequest> requests = PageRequests.of(i);
                pages.add(Thread.ofVirtual().start(() -> follow(requests)));
            }
            toDraw.await();
        }

        void close() throws InterruptedException {
            open.set(false);
            for (Thread page : pages) {
                page.interrupt();
                page.join();
            }
            http.shutdownNow();
        }

        /** A page reads when it is opened, and again whenever it is told that something has changed. */
        private void follow(List<ApiRequest> requests) {
            HttpRequest live = HttpRequest.newBuilder(address.resolve("/live")).build();
            try (Stream<String> lines = http.send(live, BodyHandlers.ofLines()).body()) {
                read(requests);
                toDraw.countDown();
                var each = lines.iterator();
                while (open.get() && each.hasNext()) {
                    if (each.next().equals("event: changed")) {
                        read(requests);
                    }
                }
            } catch (IOException | UncheckedIOException closed) {
                if (open.get()) {
                    failures.increment();
                    toDraw.countDown();
                }
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            }
        }

        private void read(List<ApiRequest> requests) throws IOException, InterruptedException {
            for (ApiRequest request : requests) {
                var sent = HttpRequest.newBuilder(address.resolve(request.target()))
                        .header("Cache-Control", request.header("Cache-Control").orElseThrow())
                        .build();
                if (http.send(sent, BodyHandlers.discarding()).statusCode() != 200) {
                    failures.increment();
                }
            }
            readings.increment();
        }
    }
}

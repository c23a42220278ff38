package dev.perdure.dashboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A tab of a browser, as a person uses it: it goes to an address, clicks, types, and looks. */
final class Tab implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration LOOK = Duration.ofMillis(10);

    private final WebSocket socket;
    private final AtomicInteger number = new AtomicInteger();
    private final Map<Integer, CompletableFuture<JsonNode>> answers = new ConcurrentHashMap<>();
    private final List<String> complaints = new CopyOnWriteArrayList<>();
    private final List<String> requests = new CopyOnWriteArrayList<>();

    Tab(HttpClient client, URI address, int width, int height) {
        this.socket =
                client.newWebSocketBuilder().buildAsync(address, new Listener()).join();
        call("Page.enable", Map.of());
        call("Runtime.enable", Map.of());
        call("Log.enable", Map.of());
        call("Network.enable", Map.of());
        size(width, height);
    }

    private final class Listener implements WebSocket.Listener {
        private final StringBuilder text = new StringBuilder();

        @Override
        public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
            text.append(part);
            if (last) {
                JsonNode message = Chromium.JSON.readTree(text.toString());
                text.setLength(0);
                receive(message);
            }
            from.request(1);
            return null;
        }
    }

    private void receive(JsonNode message) {
        if (message.has("id")) {
            CompletableFuture<JsonNode> waiting =
                    answers.remove(message.get("id").asInt());
            if (waiting != null) {
                waiting.complete(message);
            }
            return;
        }
        JsonNode about = message.path("params");
        switch (message.path("method").asString("")) {
            case "Runtime.exceptionThrown" -> complaints.add(about.toString());
            case "Log.entryAdded" -> {
                if (about.path("entry").path("level").asString("").equals("error")) {
                    complaints.add(about.path("entry").path("text").asString(""));
                }
            }
            case "Network.requestWillBeSent" ->
                requests.add(about.path("request").path("url").asString(""));
            default -> {}
        }
    }

    /** Calls a method of the protocol. */
    JsonNode call(String method, Map<String, ?> parameters) {
        JsonNode message = answer(method, parameters);
        assertThat(message.has("error")).as(message.toString()).isFalse();
        return message.get("result");
    }

    private JsonNode answer(String method, Map<String, ?> parameters) {
        int mine = number.incrementAndGet();
        CompletableFuture<JsonNode> answer = new CompletableFuture<>();
        answers.put(mine, answer);
        socket.sendText(
                        Chromium.JSON.writeValueAsString(Map.of("id", mine, "method", method, "params", parameters)),
                        true)
                .join();
        return answer.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
    }

    void size(int width, int height) {
        call(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
    }

    /** As if the system were set to light or dark. */
    void scheme(String lightOrDark) {
        call(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", lightOrDark))));
    }

    void go(URI address) {
        go(address.toString());
    }

    void go(String address) {
        call("Page.navigate", Map.of("url", address));
        awaits("location.protocol !== 'about:'"); // The first page of a tab comes from another process of the browser.
    }

    /** Goes to a path as a click on a link does, without a new document. */
    void visit(String path) {
        evaluate(
                "history.pushState(null, '', %s); dispatchEvent(new PopStateEvent('popstate')); new Promise(drawn => setTimeout(drawn))"
                        .formatted(quoted(path)));
    }

    /** The value of an expression in the page. */
    JsonNode evaluate(String expression) {
        JsonNode result = call("Runtime.evaluate", evaluating(expression));
        assertThat(result.has("exceptionDetails"))
                .as(expression + ": " + result)
                .isFalse();
        return result.path("result").path("value");
    }

    private static Map<String, Object> evaluating(String expression) {
        return Map.of("expression", expression, "returnByValue", true, "awaitPromise", true, "userGesture", true);
    }

    /** Waits until an expression in the page is true. It is not while the browser changes to another page. */
    void awaits(String condition) {
        String expression = "(() => { try { return Boolean(%s); } catch { return false; } })()".formatted(condition);
        await(condition)
                .atMost(PATIENCE)
                .pollDelay(Duration.ZERO)
                .pollInterval(LOOK)
                .until(() -> answer("Runtime.evaluate", evaluating(expression))
                        .path("result")
                        .path("result")
                        .path("value")
                        .asBoolean(false));
    }

    /** Waits until the page shows a text. */
    void sees(String text) {
        awaits("document.body.innerText.includes(%s)".formatted(quoted(text)));
    }

    /** Waits until the page does not show a text. */
    void seesNo(String text) {
        awaits("!document.body.innerText.includes(%s)".formatted(quoted(text)));
    }

    /** Clicks a button or link with this text, when it is there and not disabled. */
    void click(String text) {
        String found =
                "[...document.querySelectorAll('dialog[open] button, button, a')].find(one => one.textContent.trim() === %s && !one.disabled)"
                        .formatted(quoted(text));
        awaits(found);
        evaluate(found + ".click()");
    }

    /** Clicks a button or link with this text in the first element of a kind that shows another text. */
    void clickIn(String selector, String shown, String text) {
        String found =
                "[...document.querySelectorAll(%s)].filter(one => one.textContent.includes(%s)).flatMap(one => [...one.querySelectorAll('button, a')]).find(one => one.textContent.trim() === %s && !one.disabled)"
                        .formatted(quoted(selector), quoted(shown), quoted(text));
        awaits(found);
        evaluate(found + ".click()");
    }

    /** Checks or unchecks the box of this label. */
    void check(String label) {
        String found = "[...document.querySelectorAll('label')].find(one => one.textContent.trim() === %s)"
                .formatted(quoted(label));
        awaits(found);
        evaluate(found + ".click()");
    }

    /** Clicks the first element that a selector finds, when it is there. */
    void clickOn(String selector) {
        String found = "document.querySelector(%s)".formatted(quoted(selector));
        awaits(found);
        evaluate(
                "(one => one.click ? one.click() : one.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true})))(%s)"
                        .formatted(found));
    }

    /** Types a text into a field. */
    void type(String selector, String text) {
        String found = "document.querySelector(%s)".formatted(quoted(selector));
        awaits(found);
        evaluate("(one => { one.focus(); one.select?.(); })(%s)".formatted(found));
        call("Input.insertText", Map.of("text", text));
    }

    /** Presses a key. */
    void press(String key) {
        evaluate("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: %s, bubbles: true}))"
                .formatted(quoted(key)));
    }

    static String quoted(String text) {
        return Chromium.JSON.writeValueAsString(text);
    }

    /** Forgets what the page had to complain about. */
    void forgetComplaints() {
        complaints.clear();
    }

    /** Exceptions, errors and violations of the policy that the page had. */
    List<String> complaints() {
        return List.copyOf(complaints);
    }

    /** The addresses that the page has asked for. */
    List<String> requests() {
        return List.copyOf(requests);
    }

    /** Writes what is to be seen into a PNG. */
    void picture(Path file) {
        JsonNode shot = call("Page.captureScreenshot", Map.of("format", "png"));
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            Files.write(file, Base64.getDecoder().decode(shot.get("data").asString()));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Override
    public void close() {
        call("Page.close", Map.of());
        socket.abort();
    }
}

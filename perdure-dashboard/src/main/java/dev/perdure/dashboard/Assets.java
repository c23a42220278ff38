package dev.perdure.dashboard;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The files of the pages, from this module's resources. The names that it serves are a closed form, so no path leads
 * out of their folder. Thread-safe.
 */
final class Assets {
    /** The document that every address of a page shows; its scripts then draw that page. */
    static final String INDEX = "index.html";

    private static final Pattern NAME = Pattern.compile("(?:vendor/)?[a-z]+\\.(js|mjs|css|svg)");
    private static final Pattern INLINE_SCRIPT = Pattern.compile("<script type=\"importmap\">(.*?)</script>");
    private static final Map<String, String> TYPES = Map.of(
            "js", "text/javascript; charset=utf-8",
            "mjs", "text/javascript; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "svg", "image/svg+xml");

    private final Map<String, Asset> loaded = new ConcurrentHashMap<>();
    private final Asset index;
    private final String scriptHash;

    /**
     * The files for one place.
     *
     * @param base the path of the pages; begins and ends with a slash
     * @param api the path of the API
     */
    Assets(String base, String api) {
        String document = new String(
                        read(INDEX).orElseThrow(() -> new IllegalStateException("The pages are not in this module.")),
                        StandardCharsets.UTF_8)
                .replace("{base}", base)
                .replace("{api}", api);
        Matcher script = INLINE_SCRIPT.matcher(document);
        if (!script.find()) {
            throw new IllegalStateException("The document of the pages has no import map.");
        }
        this.scriptHash = "sha256-"
                + Base64.getEncoder()
                        .encodeToString(Asset.sha256(script.group(1).getBytes(StandardCharsets.UTF_8)));
        this.index = Asset.of("text/html; charset=utf-8", document.getBytes(StandardCharsets.UTF_8));
    }

    /** The document of all pages. */
    Asset index() {
        return index;
    }

    /** The hash of the one inline script, an import map, for the content security policy. */
    String scriptHash() {
        return scriptHash;
    }

    /** Whether a name has the form of a file. */
    static boolean isFile(String name) {
        return NAME.matcher(name).matches();
    }

    /** A file; empty if there is none with this name. */
    Optional<Asset> file(String name) {
        Matcher matcher = NAME.matcher(name);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        Asset known = loaded.get(name);
        if (known != null) {
            return Optional.of(known);
        }
        String type = TYPES.getOrDefault(matcher.group(1), "application/octet-stream");
        Optional<Asset> found = read(name).map(bytes -> Asset.of(type, bytes));
        found.ifPresent(asset -> loaded.put(name, asset));
        return found;
    }

    private static Optional<byte[]> read(String name) {
        try (InputStream in = Assets.class.getResourceAsStream("web/" + name)) {
            return in == null ? Optional.empty() : Optional.of(in.readAllBytes());
        } catch (IOException unreadable) {
            throw new UncheckedIOException(
                    "The file '%s' of the dashboard cannot be read.".formatted(name), unreadable);
        }
    }
}

package dev.perdure.dashboard;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Base64;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The files of the pages, from this module's resources. The names that it serves are a closed form, so no path leads
 * out of their folder. Thread-safe.
 *
 * <p>The document names all files under a folder that is a checksum of them, and asks for all scripts at once: a browser
 * that has them asks for none, and gets others as soon as one has changed.
 */
final class Assets {
    /** The document that every address of a page shows; its scripts then draw that page. */
    static final String INDEX = "index.html";

    private static final Pattern NAME = Pattern.compile("(?:vendor/)?[a-z]+\\.(js|mjs|css|svg)");
    private static final Pattern INLINE_SCRIPT = Pattern.compile("<script type=\"importmap\">(.*?)</script>");
    private static final Pattern NAMED = Pattern.compile("\\{files}([a-z/]+\\.[a-z]+)|from '\\./([a-z]+\\.js)'");
    private static final int VERSION_BYTES = 8;
    private static final Map<String, String> TYPES = Map.of(
            "js", "text/javascript; charset=utf-8",
            "mjs", "text/javascript; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "svg", "image/svg+xml");

    private final Map<String, Asset> loaded = new ConcurrentHashMap<>();
    private final Asset index;
    private final String scriptHash;
    private final String version;

    /**
     * The files for one place.
     *
     * @param base the path of the pages; begins and ends with a slash
     * @param api the path of the API
     * @param period how often a page reads again what it shows, at most
     */
    Assets(String base, String api, Duration period) {
        Map<String, byte[]> files = named();
        this.version = version(files);
        String modules = files.keySet().stream()
                .filter(name -> name.endsWith("js"))
                .map("<link rel=\"modulepreload\" href=\"{files}%s\">\n"::formatted)
                .collect(Collectors.joining());
        String document = text(required(INDEX))
                .replace("{modules}", modules)
                .replace("{files}", base + version + "/")
                .replace("{base}", base)
                .replace("{period}", String.valueOf(period.toMillis()))
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

    /** The files that the document names, and those that they import, by name. */
    private static Map<String, byte[]> named() {
        Map<String, byte[]> found = new TreeMap<>();
        Deque<byte[]> unread = new ArrayDeque<>(List.of(required(INDEX)));
        while (!unread.isEmpty()) {
            NAMED.matcher(text(unread.remove())).results().forEach(named -> {
                String name = named.group(1) == null ? named.group(2) : named.group(1);
                if (!found.containsKey(name)) {
                    found.put(name, required(name));
                    unread.add(found.get(name));
                }
            });
        }
        return found;
    }

    private static String version(Map<String, byte[]> files) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        files.forEach((name, bytes) -> {
            all.writeBytes(name.getBytes(StandardCharsets.UTF_8));
            all.writeBytes(bytes);
        });
        return HexFormat.of().formatHex(Asset.sha256(all.toByteArray()), 0, VERSION_BYTES);
    }

    private static byte[] required(String name) {
        return read(name)
                .orElseThrow(() -> new IllegalStateException(
                        "The file '%s' of the dashboard is not in this module.".formatted(name)));
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** The folder under which the document names the files. */
    String version() {
        return version;
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

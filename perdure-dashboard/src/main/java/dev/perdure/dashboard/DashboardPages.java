package dev.perdure.dashboard;

import dev.perdure.Perdure;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.http.Pages;
import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.spi.EngineView;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * The pages of the dashboard for an {@link dev.perdure.http.HttpApi} of your own, under a path. {@link Dashboard} does
 * that for a process that serves nothing else. Thread-safe.
 *
 * <pre>{@code
 * HttpApi api = HttpApi.on(perdure)
 *         .prefix("/perdure/api/v1")
 *         .pages(DashboardPages.of(perdure, "/perdure/", "/perdure/api/v1"))
 *         …
 * }</pre>
 *
 * <p>Nothing in the pages comes from another site, and the policy that they are sent with forbids the browser to load
 * or to run anything else.
 */
public final class DashboardPages implements Pages {
    private static final Pattern PATH = Pattern.compile("/([A-Za-z0-9._~-]+/)*");
    private static final String LIVE = "live";
    private static final String ASK_AGAIN = "no-cache";
    /** For a file under the checksum of all files. */
    private static final String FOR_EVER = "public, max-age=31536000, immutable";

    private final String base;
    private final Assets assets;
    private final LiveChanges changes;

    /**
     * The pages.
     *
     * @param base the path of the pages, such as {@code /perdure/}
     * @param api the path of the API
     * @param question a text that differs from the one before if something may have changed
     * @param period how often it is asked while a page is open
     */
    DashboardPages(String base, String api, Supplier<String> question, Duration period) {
        if (!PATH.matcher(base).matches()) {
            throw new InvalidRequestException(
                    "The path of the dashboard is '%s'. Give one such as /perdure/, with a slash at both ends."
                            .formatted(base));
        }
        this.base = base;
        this.assets = new Assets(base, api, period);
        this.changes = new LiveChanges(question, period);
    }

    /**
     * The pages of an engine.
     *
     * @param base the path of the pages, such as {@code /perdure/}
     * @param api the path of the API, such as {@code /perdure/api/v1}
     */
    public static DashboardPages of(Perdure perdure, String base, String api) {
        return of(perdure, base, api, LiveChanges.PERIOD);
    }

    static DashboardPages of(Perdure perdure, String base, String api, Duration period) {
        return new DashboardPages(base, api, EngineView.of(perdure).store().runs()::mark, period);
    }

    /** The stream of changes is for callers of the API; everything else is the same for everybody. */
    @Override
    public boolean needsCaller(ApiRequest request) {
        return path(request).equals(base + LIVE);
    }

    @Override
    public ApiResponse answer(ApiRequest request) {
        String path = path(request);
        if (!path.startsWith(base)) {
            return plain(404, "The dashboard is under the path %s.".formatted(base));
        }
        String name = path.substring(base.length());
        if (name.equals(LIVE)) {
            return live();
        }
        String current = assets.version() + "/";
        boolean lasts = name.startsWith(current);
        String file = lasts ? name.substring(current.length()) : name;
        if (Assets.isFile(file)) {
            return assets.file(file)
                    .map(asset -> send(request, asset, lasts ? FOR_EVER : ASK_AGAIN))
                    .orElseGet(() -> plain(404, "The dashboard has no file '%s'.".formatted(file)));
        }
        return send(request, assets.index(), ASK_AGAIN);
    }

    private static String path(ApiRequest request) {
        int query = request.target().indexOf('?');
        return query < 0 ? request.target() : request.target().substring(0, query);
    }

    private ApiResponse live() {
        if (changes.isFull()) {
            return plain(503, "Too many pages are open. Close some.");
        }
        return new ApiResponse(200, headers("text/event-stream", "no-store"), new ApiResponse.Stream(changes::writeTo));
    }

    private ApiResponse send(ApiRequest request, Asset asset, String caching) {
        Map<String, String> headers = headers(asset.type(), caching);
        headers.put("ETag", asset.tag());
        headers.put("Vary", "Accept-Encoding");
        if (request.header("If-None-Match").filter(asset.tag()::equals).isPresent()) {
            return new ApiResponse(304, headers, new ApiResponse.Bytes(new byte[0]));
        }
        if (request.header("Accept-Encoding").orElse("").contains("gzip")) {
            headers.put("Content-Encoding", "gzip");
            return new ApiResponse(200, headers, new ApiResponse.Bytes(asset.zipped()));
        }
        return new ApiResponse(200, headers, new ApiResponse.Bytes(asset.bytes()));
    }

    private ApiResponse plain(int status, String text) {
        return new ApiResponse(
                status,
                headers("text/plain; charset=utf-8", "no-store"),
                new ApiResponse.Bytes((text + "\n").getBytes(StandardCharsets.UTF_8)));
    }

    /** What every response of the pages says: run and load what comes from here and nothing else, and in no frame. */
    private Map<String, String> headers(String type, String caching) {
        Map<String, String> headers = new HashMap<>();
        headers.put("Content-Type", type);
        headers.put("Cache-Control", caching);
        headers.put(
                "Content-Security-Policy",
                "default-src 'none'; script-src 'self' '%s'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
                        .formatted(assets.scriptHash()));
        headers.put("Cross-Origin-Opener-Policy", "same-origin");
        headers.put("Cross-Origin-Resource-Policy", "same-origin");
        headers.put("Referrer-Policy", "no-referrer");
        headers.put("X-Content-Type-Options", "nosniff");
        headers.put("X-Frame-Options", "DENY");
        return headers;
    }

    /**
     * How often something may have changed in the store, as far as open pages have been told. For
     * {@link dev.perdure.http.HttpApi.Builder#sharing}.
     */
    public long changes() {
        return changes.changes();
    }

    /** Ends all streams of changes. */
    @Override
    public void close() {
        changes.close();
    }
}

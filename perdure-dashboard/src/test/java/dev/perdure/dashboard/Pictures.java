package dev.perdure.dashboard;

import java.net.URI;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Takes the pictures of the documentation, each in light and dark, from {@code ./perdure dashboard --demo}. Give it the
 * address that the command prints, and the folder.
 */
final class Pictures {
    private static final int WIDTH = 1280;
    private static final int HEIGHT = 860;
    private static final int PHONE_WIDTH = 390;
    private static final int PHONE_HEIGHT = 844;

    private Pictures() {}

    /** Takes all pictures. */
    public static void main(String[] args) {
        URI address = URI.create(args[0]);
        Path folder = Path.of(args[1]);
        Map<String, String> pages = new LinkedHashMap<>();
        pages.put("overview", "/");
        pages.put("runs", "/runs");
        pages.put("trouble", "/runs?state=BACKING_OFF&state=PAUSED&state=FAILED");
        pages.put("run", "/runs/order-9?at=3");
        pages.put("run-saga", "/runs/order-11");
        pages.put("run-child", "/runs/order-20?open=5");
        pages.put("journal", "/runs/order-9?tab=journal");
        pages.put("log", "/runs/order-9?tab=log");
        pages.put("published", "/runs/order-9?tab=published");
        pages.put("graph", "/runs/catalogue-1?at=validate");
        pages.put("graph-failed", "/runs/catalogue-3");
        pages.put("definitions", "/definitions");
        pages.put("definition", "/definitions/order");
        pages.put("objects", "/objects/account/Frances");
        pages.put("queues", "/queues/imports");
        pages.put("schedules", "/schedules/minute-report?span=1 h");
        pages.put("workers", "/workers/2026.11.3");
        pages.put("database", "/database");
        try (Chromium chromium = Chromium.start(Chromium.find().orElseThrow());
                Tab tab = chromium.open(WIDTH, HEIGHT)) {
            tab.go(address);
            tab.sees("Overview");
            for (String scheme : List.of("light", "dark")) {
                tab.scheme(scheme);
                tab.size(WIDTH, HEIGHT);
                pages.forEach((name, page) -> take(tab, address, page, folder.resolve(name + "-" + scheme + ".png")));
                tab.size(PHONE_WIDTH, PHONE_HEIGHT);
                for (String name :
                        List.of("overview", "runs", "run-saga", "log", "definition", "objects", "queues", "workers")) {
                    take(tab, address, pages.get(name), folder.resolve("phone-" + name + "-" + scheme + ".png"));
                }
            }
            System.out.println(tab.complaints());
        }
    }

    private static void take(Tab tab, URI address, String page, Path file) {
        tab.go("http://%s%s".formatted(address.getAuthority(), page.replace(" ", "%20")));
        tab.awaits("document.querySelector('h1') && !document.querySelector('.load')");
        tab.evaluate("new Promise(done => setTimeout(done, 700))");
        tab.picture(file);
    }
}

package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.retry;

import dev.perdure.Attempt;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.memory.MemoryStore;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Imports a long catalog in one step, which says how far it is and goes on where an earlier attempt has stopped. */
public final class CatalogImport {
    /** The catalogs of a partner, page by page. */
    public interface Catalog {
        /** How many pages the catalog of a season has. */
        int pages(String season);

        /** The articles of a page, from 1. */
        List<String> page(String season, int number) throws IOException;
    }

    private final Catalog catalog;
    private final Set<String> shop;

    /** Imports catalogs into this shop. */
    public CatalogImport(Catalog catalog, Set<String> shop) {
        this.catalog = catalog;
        this.shop = shop;
    }

    // region workflow
    @Workflow("catalog-import")
    public int importAll(WorkflowContext ctx, String season) {
        return ctx.step(
                "import",
                () -> importPages(season, ctx.attempt()),
                retry(5).timeout(Duration.ofHours(2)).heartbeatTimeout(Duration.ofMinutes(1)));
    }
    // endregion

    // region body
    private int importPages(String season, Attempt attempt) throws IOException {
        int done = attempt.lastHeartbeat(Integer.class).orElse(0); // pages that an earlier attempt has stored
        int pages = catalog.pages(season);
        for (int page = done + 1; page <= pages; page++) {
            shop.addAll(catalog.page(season, page)); // it is harmless to store a page twice
            attempt.heartbeat(page);
            attempt.progress((double) page / pages, "page %d of %d".formatted(page, pages));
        }
        return shop.size();
    }
    // endregion

    /** Imports a catalog of three pages. */
    public static void main(String[] args) {
        Catalog catalog = new Catalog() {
            @Override
            public int pages(String season) {
                return 3;
            }

            @Override
            public List<String> page(String season, int number) {
                return List.of("article " + number);
            }
        };
        try (Perdure perdure = Perdure.on(new MemoryStore())
                .register(new CatalogImport(catalog, new TreeSet<>()))
                .start()) {
            Run<Integer> run = perdure.start(CatalogImport::importAll, "winter", id("catalog-winter"));
            System.out.println(run.result() + " articles");
        }
    }
}

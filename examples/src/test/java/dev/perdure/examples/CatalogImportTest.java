package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.HistoryEvent;
import dev.perdure.Run;
import dev.perdure.report.StepProgress;
import dev.perdure.testing.PerdureExtension;
import dev.perdure.testing.PerdureTest;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(PerdureExtension.class)
class CatalogImportTest {
    private final Set<String> shop = new ConcurrentSkipListSet<>();

    /** Seven pages. The connection breaks at the fifth, once. */
    private static final class BreakingCatalog implements CatalogImport.Catalog {
        private final List<Integer> read = new CopyOnWriteArrayList<>();

        @Override
        public int pages(String season) {
            return 7;
        }

        @Override
        public List<String> page(String season, int number) throws IOException {
            read.add(number);
            if (number == 5 && read.size() == 5) {
                throw new IOException("connection reset");
            }
            return List.of("article " + number);
        }
    }

    @Test
    void goes_on_where_the_failed_attempt_stopped(PerdureTest perdure) {
        BreakingCatalog catalog = new BreakingCatalog();
        perdure.register(new CatalogImport(catalog, shop));
        Run<Integer> run = perdure.start(CatalogImport::importAll, "winter", id("catalog-winter"));

        assertThat(run.result()).isEqualTo(7);
        assertThat(catalog.read).containsExactly(1, 2, 3, 4, 5, 5, 6, 7);
        assertThat(run.history())
                .extracting(HistoryEvent::text)
                .contains("attempt 1 of step 'import' reported: 57 %, page 4 of 7");
    }

    @Test
    void shows_how_far_it_is(PerdureTest perdure) throws Exception {
        CountDownLatch third = new CountDownLatch(1);
        CatalogImport.Catalog slow = new CatalogImport.Catalog() {
            @Override
            public int pages(String season) {
                return 4;
            }

            @Override
            public List<String> page(String season, int number) throws IOException {
                try {
                    if (number == 3 && !third.await(20, TimeUnit.SECONDS)) {
                        throw new IOException("nobody asked how far it is");
                    }
                } catch (InterruptedException interrupted) {
                    throw new IOException(interrupted);
                }
                return List.of("article " + number);
            }
        };
        perdure.register(new CatalogImport(slow, shop));
        Run<Integer> run = perdure.start(CatalogImport::importAll, "winter", id("catalog-winter"));

        // region progress
        for (StepProgress progress : run.progress()) {
            System.out.println(progress.step() + ": " + progress.text()); // import: 50 %, page 2 of 4
        }
        // endregion
        while (run.progress().stream().noneMatch(progress -> progress.text().equals("50 %, page 2 of 4"))) {
            Thread.onSpinWait();
        }
        third.countDown();
        assertThat(run.result()).isEqualTo(4);
        assertThat(run.progress()).isEmpty();
    }
}

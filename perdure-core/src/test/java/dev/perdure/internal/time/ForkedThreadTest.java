package dev.perdure.internal.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ForkedThreadTest {
    private static final InheritableThreadLocal<@Nullable String> REQUEST = new InheritableThreadLocal<>();

    @Test
    void a_run_has_the_class_loader_of_the_thread_that_begins_it_and_none_of_its_thread_locals() throws Exception {
        CompletableFuture<List<@Nullable Object>> seen = new CompletableFuture<>();
        Thread current = Thread.currentThread();
        ClassLoader before = current.getContextClassLoader();
        try (URLClassLoader loader = new URLClassLoader(new URL[0], before)) {
            REQUEST.set("r-1");
            current.setContextClassLoader(loader);
            new SystemClockwork().fork("forked", () -> {
                List<@Nullable Object> both = new ArrayList<>();
                both.add(REQUEST.get());
                both.add(Thread.currentThread().getContextClassLoader());
                seen.complete(both);
            });
            assertThat(seen.get(10, TimeUnit.SECONDS)).containsExactly(null, loader);
        } finally {
            REQUEST.remove();
            current.setContextClassLoader(before);
        }
    }
}

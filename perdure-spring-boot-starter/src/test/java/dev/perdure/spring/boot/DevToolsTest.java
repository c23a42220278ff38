package dev.perdure.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.memory.MemoryStore;
import java.io.IOException;
import java.io.InputStream;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.io.DefaultResourceLoader;

/** A restart in the same JVM, with the application's classes loaded again: what DevTools does after a change. */
final class DevToolsTest {
    /** Loads the application's classes itself, and everything else from its parent. */
    private static final class RestartLoader extends ClassLoader {
        RestartLoader() {
            super(DevToolsTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(Reloaded.class.getName())) {
                return super.loadClass(name, resolve);
            }
            Class<?> loaded = findLoadedClass(name);
            if (loaded != null) {
                return loaded;
            }
            try (InputStream file = getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = file.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException unreadable) {
                throw new ClassNotFoundException(name, unreadable);
            }
        }
    }

    private static ConfigurableApplicationContext start(ClassLoader loader, MemoryStore store) throws Exception {
        return new SpringApplicationBuilder(loader.loadClass(Reloaded.class.getName()))
                .resourceLoader(new DefaultResourceLoader(loader))
                .web(WebApplicationType.NONE)
                .properties("spring.main.banner-mode=off")
                .initializers(context -> context.getBeanFactory().registerSingleton("store", store))
                .run();
    }

    @Test
    void a_run_goes_on_with_the_classes_that_were_loaded_again() throws Exception {
        try (MemoryStore store = new MemoryStore()) {
            try (ConfigurableApplicationContext before = start(new RestartLoader(), store)) {
                before.getBean(Runnable.class).run();
            }
            RestartLoader again = new RestartLoader();
            try (ConfigurableApplicationContext after = start(again, store)) {
                Object result = after.getBean(Supplier.class).get();
                assertThat(result.getClass().getClassLoader()).isEqualTo(again);
                assertThat(result).hasToString("Name[text=Dr. Ada and Bob]");
            }
        }
    }
}

package dev.perdure.internal.definition;

import static org.assertj.core.api.Assertions.assertThat;

import com.cronutils.model.Cron;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import dev.perdure.Perdure;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import tools.jackson.core.JsonParser;
import tools.jackson.databind.json.JsonMapper;

/** A program in a named module, which opens nothing but what the message asks for. */
class NamedModuleTest {
    private static final String PROGRAM = """
            package shop;
            import dev.perdure.*;
            import dev.perdure.error.DefinitionException;
            import dev.perdure.memory.MemoryStore;
            import dev.perdure.spi.*;
            import java.util.List;
            public class Main {
              public record Order(String item) {}
              public static class Orders {
                @Workflow("order")
                public String process(WorkflowContext ctx, Order order) {
                  Order same = ctx.step("lambda", () -> new Order(order.item() + "!"));
                  List<String> names = ctx.step("reference", this::names);
                  return same.item() + names;
                }
                private List<String> names() { return List.of("a", "b"); }
              }
              public static void main(String[] args) {
                MemoryStore store = new MemoryStore(new Clock());
                try (Perdure perdure = Perdure.on(store).register(new Orders()).start()) {
                  System.out.println("result: " + perdure.start(Orders::process, new Order("book")).result());
                } catch (DefinitionException refused) {
                  System.out.println("refused: " + refused.getMessage());
                }
              }
              static class Clock implements Clockwork {
                public java.time.Instant now() { return java.time.Instant.now(); }
                public long nanoTime() { return System.nanoTime(); }
                public long random() { return 1; }
                public Signal signal() { throw new UnsupportedOperationException(); }
                public void fork(String name, Runnable task) { throw new UnsupportedOperationException(); }
                public void loop(String name, Runnable task) { throw new UnsupportedOperationException(); }
                public Runnable alarm(java.time.Duration delay, Runnable task) { throw new UnsupportedOperationException(); }
              }
            }
            """;

    @TempDir
    Path folder;

    private static Path home(Class<?> type) {
        try {
            return Path.of(
                    type.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException broken) {
            throw new AssertionError(broken);
        }
    }

    private static String modulePath() {
        return Stream.of(
                        Perdure.class,
                        Logger.class,
                        Nullable.class,
                        Cron.class,
                        JsonMapper.class,
                        JsonParser.class,
                        JsonTypeInfo.class)
                .map(type -> home(type).toString())
                .collect(Collectors.joining(File.pathSeparator));
    }

    private String run(String opens) throws IOException, InterruptedException {
        Path sources = Files.createDirectories(folder.resolve("src/shop"));
        Files.writeString(sources.resolve("Main.java"), PROGRAM);
        Path descriptor = folder.resolve("src/module-info.java");
        Files.writeString(descriptor, "module shop { requires dev.perdure; " + opens + " }");
        Path classes = folder.resolve("classes");
        int compiled = ToolProvider.findFirst("javac")
                .orElseThrow()
                .run(
                        System.out,
                        System.err,
                        "-d",
                        classes.toString(),
                        "--module-path",
                        modulePath(),
                        descriptor.toString(),
                        sources.resolve("Main.java").toString());
        assertThat(compiled).isZero();
        Path output = folder.resolve("output");
        Process program = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--module-path",
                        modulePath() + File.pathSeparator + classes,
                        "--module",
                        "shop/shop.Main"))
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        assertThat(program.waitFor(50, TimeUnit.SECONDS)).isTrue();
        return Files.readString(output);
    }

    @Test
    void a_module_that_opens_its_package_works_lambdas_and_references_included() throws Exception {
        assertThat(run("opens shop to dev.perdure, tools.jackson.databind;")).contains("result: book![a, b]");
    }

    @Test
    void a_module_that_does_not_is_told_what_to_open() throws Exception {
        assertThat(run("")).contains("refused: ", "Add 'opens shop to dev.perdure;' to the module-info.");
    }
}

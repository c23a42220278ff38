package dev.perdure.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.ChildOptions;
import dev.perdure.PerdureBuilder;
import dev.perdure.RetryPolicy;
import dev.perdure.StartOptions;
import dev.perdure.StepOptions;
import dev.perdure.http.ApiServer;
import dev.perdure.http.HttpApi;
import dev.perdure.postgres.PostgresStoreBuilder;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.Queue;
import dev.perdure.reaction.Reaction;
import dev.perdure.retention.Retention;
import dev.perdure.schedule.Schedule;
import dev.perdure.transaction.TransactionOptions;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks that the page on configuration names every option, in the section of its type. */
class ConfigurationPageTest {
    private static final Path PAGE = Path.of("../docs/configuration.md");
    private static final Pattern NAME = Pattern.compile("`([a-zA-Z]+)`");

    /** They make a value without an option, or are for stores. */
    private static final Set<String> NO_OPTIONS =
            Set.of("defaults", "standard", "none", "named", "with", "inPlaceOf", "cron", "readable");

    @ParameterizedTest
    @ValueSource(
            classes = {
                PerdureBuilder.class,
                PostgresStoreBuilder.class,
                StartOptions.class,
                ChildOptions.class,
                StepOptions.class,
                TransactionOptions.class,
                RetryPolicy.class,
                Queue.class,
                Limiter.class,
                Reaction.class,
                Schedule.class,
                Retention.class,
                HttpApi.Builder.class,
                ApiServer.Builder.class
            })
    void every_option_is_on_the_page(Class<?> type) throws IOException {
        Set<String> options = Arrays.stream(type.getDeclaredMethods())
                .filter(method -> Modifier.isPublic(method.getModifiers()) && method.getReturnType() == type)
                .filter(method -> !isForStores(method))
                .map(Method::getName)
                .filter(name -> !NO_OPTIONS.contains(name))
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(options).isNotEmpty();
        assertThat(named(section(type)))
                .as("options of %s", type.getSimpleName())
                .containsAll(options);
    }

    /** A value from stored settings, or a schedule without its options. */
    private static boolean isForStores(Method method) {
        return method.getName().equals("of") && method.getParameterCount() > 1
                || Arrays.asList(method.getParameterTypes()).contains(Map.class);
    }

    private static List<String> section(Class<?> type) throws IOException {
        List<String> lines = Files.readAllLines(PAGE);
        String name =
                type.getName().substring(type.getPackageName().length() + 1).replace('$', '.');
        int start = lines.indexOf(lines.stream()
                .filter(line -> line.startsWith("## ") && line.endsWith("`" + name + "`"))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no section of " + type)));
        List<String> rest = lines.subList(start + 1, lines.size());
        return rest.stream().takeWhile(line -> !line.startsWith("## ")).toList();
    }

    private static Set<String> named(List<String> lines) {
        return lines.stream()
                .flatMap(line -> NAME.matcher(line).results())
                .map(found -> found.group(1))
                .collect(Collectors.toSet());
    }
}

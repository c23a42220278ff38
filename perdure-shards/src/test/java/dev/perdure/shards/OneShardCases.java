package dev.perdure.shards;

import dev.perdure.conformance.contract.StoreContract;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Leaves out the tests that one of the lists of a file names, each with the reason that stands above it. The tests are those
 * of the superclasses of the nested classes of a suite.
 */
public abstract class OneShardCases implements ExecutionCondition {
    private static final String CONTRACT = "one-shard-cases.txt";

    /** Cases whose runs, objects or keys have to be on one shard. They pass if they are. */
    static final class Even extends OneShardCases {
        Even() {
            super(StoreContract.class, OneShardCases.class, CONTRACT, List.of("one shard", "no shards"));
        }
    }

    /** Cases that do not pass on three shards either, but on two. */
    static final class OnThree extends OneShardCases {
        OnThree() {
            super(StoreContract.class, OneShardCases.class, CONTRACT, List.of("three shards"));
        }
    }

    /** Cases about what a store with several shards refuses or does otherwise, wherever the runs are. */
    static final class Uneven extends OneShardCases {
        Uneven() {
            super(StoreContract.class, OneShardCases.class, CONTRACT, List.of("no shards"));
        }
    }

    private final Class<?> suite;
    private final Map<String, String> reasons = new LinkedHashMap<>();

    /**
     * Reads the file.
     *
     * @param suite the suite that has the tests
     * @param place a class of the package that has the file
     * @param lists which lists of the file count
     */
    protected OneShardCases(Class<?> suite, Class<?> place, String file, List<String> lists) {
        this.suite = suite;
        String list = "";
        String reason = "";
        for (String line : lines(place, file)) {
            if (line.startsWith("== ")) {
                list = line.substring(3);
            } else if (line.startsWith("# ")) {
                reason = line.substring(2);
            } else if (!line.isBlank() && lists.contains(list)) {
                reasons.put(line.strip(), reason);
            }
        }
    }

    private static List<String> lines(Class<?> place, String file) {
        try (InputStream in = Objects.requireNonNull(place.getResourceAsStream(file))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What is listed and is no test of the suite. */
    public List<String> unknown() {
        List<String> cases = Stream.of(suite.getDeclaredClasses())
                .flatMap(group -> Stream.of(group.getSuperclass().getDeclaredMethods()))
                .map(OneShardCases::name)
                .toList();
        return reasons.keySet().stream().filter(name -> !cases.contains(name)).collect(Collectors.toList());
    }

    private static String name(Method method) {
        return method.getDeclaringClass().getSimpleName() + "." + method.getName();
    }

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        return context.getTestMethod()
                .map(OneShardCases::name)
                .map(reasons::get)
                .map(ConditionEvaluationResult::disabled)
                .orElseGet(() -> ConditionEvaluationResult.enabled(""));
    }
}

package dev.perdure.shards;

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
 * Leaves out the cases of the store contract that one of the lists in {@code one-shard-cases.txt} names, each with the reason
 * that stands above it.
 */
abstract class OneShardCases implements ExecutionCondition {
    /** Cases whose runs, objects or keys have to be on one shard. They pass if they are. */
    static final class Even extends OneShardCases {
        @Override
        List<String> lists() {
            return List.of("one shard", "no shards");
        }
    }

    /** Cases about what a store with several shards refuses or does otherwise, wherever the runs are. */
    static final class Uneven extends OneShardCases {
        @Override
        List<String> lists() {
            return List.of("no shards");
        }
    }

    private final Map<String, String> reasons = new LinkedHashMap<>();

    OneShardCases() {
        String list = "";
        String reason = "";
        for (String line : lines()) {
            if (line.startsWith("== ")) {
                list = line.substring(3);
            } else if (line.startsWith("# ")) {
                reason = line.substring(2);
            } else if (!line.isBlank() && lists().contains(list)) {
                reasons.put(line.strip(), reason);
            }
        }
    }

    abstract List<String> lists();

    private static List<String> lines() {
        try (InputStream in = Objects.requireNonNull(OneShardCases.class.getResourceAsStream("one-shard-cases.txt"))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What is listed and is no case. */
    List<String> unknown() {
        List<String> cases = Stream.of(StoreContractCases.class.getDeclaredClasses())
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

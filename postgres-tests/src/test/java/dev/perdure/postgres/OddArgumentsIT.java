package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.ChildOptions;
import dev.perdure.Definition;
import dev.perdure.EventTopic;
import dev.perdure.ForkOptions;
import dev.perdure.Invocation;
import dev.perdure.KeyedTopic;
import dev.perdure.Operations;
import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.Repair;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartKey;
import dev.perdure.StartOptions;
import dev.perdure.StepOptions;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.attribute.Attribute;
import dev.perdure.attribute.Condition;
import dev.perdure.audit.AuditFilter;
import dev.perdure.audit.Audits;
import dev.perdure.audit.Operator;
import dev.perdure.bulk.BulkAction;
import dev.perdure.bulk.SelectedRuns;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.PerdureException;
import dev.perdure.error.StoreException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.payload.EncryptionKeys;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.Limiters;
import dev.perdure.queue.Queue;
import dev.perdure.queue.Queues;
import dev.perdure.reaction.Reactions;
import dev.perdure.report.LogFilter;
import dev.perdure.retention.Retention;
import dev.perdure.retention.Retentions;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.Schedules;
import dev.perdure.schedule.Times;
import dev.perdure.spi.Store;
import dev.perdure.transaction.TransactionOptions;
import dev.perdure.version.Versions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Calls every public method with every odd argument, one at a time, on both stores: each call either works or throws an exception of
 * ours that says what is wrong, and the stores agree.
 */
final class OddArgumentsIT {
    /** The packages that applications use. */
    private static final Set<String> API = Set.of(
            "dev.perdure",
            "dev.perdure.attribute",
            "dev.perdure.audit",
            "dev.perdure.bulk",
            "dev.perdure.dag",
            "dev.perdure.object",
            "dev.perdure.payload",
            "dev.perdure.report",
            "dev.perdure.statistics",
            "dev.perdure.transaction",
            "dev.perdure.queue",
            "dev.perdure.reaction",
            "dev.perdure.retention",
            "dev.perdure.schedule",
            "dev.perdure.version");

    /** What would end the engine, or wait, and what every class and every enum has. */
    private static final Set<String> NOT_CALLED =
            Set.of("close", "result", "awaitPublished", "equals", "compareTo", "valueOf", "follow");

    /** What only the engine, stores and tools call: their documentation says so. */
    private static final Set<String> NOT_OF_APPLICATIONS = Set.of(
            "Queue.of",
            "Limiter.of",
            "Retention.of([Map])",
            "Retention.inPlaceOf",
            "AttributeValue.decoded",
            "Attribute.read",
            "Condition.parsed",
            "Occasion.of",
            "Condition.holds",
            "Durations.of",
            "Failures.of",
            "RunStatistics.successRate");

    /** Records that applications make by their constructors; the engine makes the others. */
    private static final Set<Class<?>> MADE = Set.of(RunId.class, Operator.class, Times.At.class);

    private static final Definition<String, String> ECHO =
            Definition.of("echo", String.class, String.class, (ctx, in) -> in);
    private static final TypeRef<String> TEXT = new TypeRef<>() {};

    private final String schema = TestServer.schemaOf(OddArgumentsIT.class);
    private final Map<String, String> raw = new LinkedHashMap<>();
    private final Set<String> skipped = new TreeSet<>();
    private Engine memory;
    private Engine postgres;

    /** An engine with something of everything. */
    private record Engine(Store store, Perdure perdure, Map<Class<?>, Object> instances) {
        static Engine on(Store store) {
            Perdure perdure = Perdure.on(store)
                    .register(ECHO)
                    .queues(Queue.named("q").concurrency(2))
                    .queues("nobody")
                    .limiters(Limiter.named("l").concurrency(2))
                    .schedules(Schedule.of("s", Times.every(Duration.ofDays(1)), Invocation.of(ECHO, "x")))
                    .start();
            perdure.start(
                    Invocation.of(ECHO, "x"), StartOptions.id("a").queue("q").delay(Duration.ofDays(1)));
            Map<Class<?>, Object> all = new HashMap<>();
            all.put(Perdure.class, perdure);
            all.put(Operations.class, perdure.as(new Operator("me", "test")));
            all.put(Queues.class, perdure.queues());
            all.put(Limiters.class, perdure.limiters());
            all.put(Schedules.class, perdure.schedules());
            all.put(Versions.class, perdure.versions());
            all.put(Reactions.class, perdure.reactions());
            all.put(Retentions.class, perdure.retention());
            all.put(Audits.class, perdure.audit());
            all.put(SelectedRuns.class, perdure.runs(RunFilter.all()));
            all.put(Run.class, perdure.run(RunId.of("a"), TEXT));
            all.put(PerdureBuilder.class, Perdure.on(store));
            return new Engine(store, perdure, all);
        }
    }

    @BeforeEach
    void open() {
        memory = Engine.on(new MemoryStore());
        postgres = Engine.on(PostgresStore.on(TestServer.plain())
                .schema(schema)
                .notifications(false)
                .open());
    }

    @AfterEach
    void close() {
        memory.perdure().close();
        postgres.perdure().close();
        ((PostgresStore) postgres.store()).close();
    }

    private static final Map<Class<?>, Object> SAMPLES = Map.ofEntries(
            Map.entry(String.class, "a"),
            Map.entry(int.class, 1),
            Map.entry(long.class, 1L),
            Map.entry(boolean.class, true),
            Map.entry(double.class, 1.0),
            Map.entry(Object.class, "x"),
            Map.entry(Number.class, 1),
            Map.entry(Duration.class, Duration.ofSeconds(1)),
            Map.entry(Instant.class, Instant.parse("2026-01-01T00:00:00Z")),
            Map.entry(UUID.class, new UUID(1, 1)),
            Map.entry(RunId.class, RunId.of("a")),
            Map.entry(Queue.class, Queue.named("q").concurrency(3)),
            Map.entry(Limiter.class, Limiter.named("l").concurrency(3)),
            Map.entry(Schedule.class, Schedule.of("s2", Times.every(Duration.ofDays(1)), Invocation.of(ECHO, "x"))),
            Map.entry(
                    StartOptions.class, StartOptions.defaults().queue("nobody").delay(Duration.ofDays(1))),
            Map.entry(StartKey.class, StartKey.deduplicate("k")),
            Map.entry(RunFilter.class, RunFilter.all()),
            Map.entry(Invocation.class, Invocation.of(ECHO, "x")),
            Map.entry(Definition.class, ECHO),
            Map.entry(TypeRef.class, TEXT),
            Map.entry(Topic.class, Topic.of("t", String.class)),
            Map.entry(EventTopic.class, Topic.of("t", String.class)),
            Map.entry(KeyedTopic.class, Topic.of("t", String.class).key("k")),
            Map.entry(Attribute.class, Attribute.text("a")),
            Map.entry(Retention.class, Retention.days(1)),
            Map.entry(Operator.class, new Operator("me", "test")),
            Map.entry(AuditFilter.class, AuditFilter.all()),
            Map.entry(BulkAction.class, BulkAction.cancel("why")),
            Map.entry(RunState.class, RunState.FAILED),
            Map.entry(ChildOptions.class, ChildOptions.defaults()),
            Map.entry(StepOptions.class, StepOptions.defaults()),
            Map.entry(RetryPolicy.class, RetryPolicy.standard()),
            Map.entry(ForkOptions.class, ForkOptions.from(1)),
            Map.entry(TransactionOptions.class, TransactionOptions.defaults()),
            Map.entry(LogFilter.class, LogFilter.newest(10)),
            Map.entry(Repair.class, Repair.result(1, "x", "why")),
            Map.entry(Condition.class, Attribute.text("a").is("x")),
            Map.entry(Times.class, Times.every(Duration.ofDays(1))),
            Map.entry(Retention.Match.class, Retention.runs()),
            Map.entry(ZoneId.class, ZoneId.of("UTC")),
            Map.entry(Class.class, String.class),
            Map.entry(List.class, List.of()),
            Map.entry(Collection.class, List.of()),
            Map.entry(Set.class, Set.of()),
            Map.entry(Map.class, Map.of()),
            Map.entry(Optional.class, Optional.empty()));

    private static final String LONG = "x".repeat(100_000);

    private static List<@Nullable Object> odd(Class<?> type) {
        if (type == String.class || type == Object.class) {
            return Arrays.asList(null, "", "\0", "a\0b", "a\nb", "\uD800", LONG, "😀".repeat(150));
        }
        if (type == int.class) {
            return List.of(Integer.MIN_VALUE, -1, 0, Integer.MAX_VALUE);
        }
        if (type == long.class) {
            return List.of(Long.MIN_VALUE, -1L, 0L, Long.MAX_VALUE);
        }
        if (type == double.class) {
            return List.of(Double.NaN, -1.0, 0.0, Double.POSITIVE_INFINITY, Double.MAX_VALUE);
        }
        if (type == Duration.class) {
            return Arrays.asList(
                    null,
                    Duration.ofSeconds(Long.MIN_VALUE),
                    Duration.ofSeconds(-1),
                    Duration.ZERO,
                    Duration.ofNanos(1),
                    Duration.ofSeconds(Long.MAX_VALUE, 999_999_999));
        }
        if (type == Instant.class) {
            return Arrays.asList(null, Instant.MIN, Instant.MAX);
        }
        if (type == List.class || type == Collection.class) {
            return Arrays.asList(null, Arrays.asList((Object) null));
        }
        if (type.isArray() && !type.getComponentType().isPrimitive()) {
            List<@Nullable Object> arrays = new ArrayList<>();
            arrays.add(null);
            arrays.add(Array.newInstance(type.getComponentType(), 1));
            if (type == String[].class) {
                odd(String.class).forEach(text -> arrays.add(new @Nullable String[] {(String) text}));
            }
            return arrays;
        }
        List<@Nullable Object> none = new ArrayList<>();
        if (!type.isPrimitive()) {
            none.add(null);
        }
        return none;
    }

    private @Nullable Object sample(Class<?> type, Engine engine) {
        if (SAMPLES.containsKey(type)) {
            return SAMPLES.get(type);
        }
        if (engine.instances().containsKey(type)) {
            return engine.instances().get(type);
        }
        if (type.isEnum()) {
            return type.getEnumConstants()[0];
        }
        if (type.isArray()) {
            Object one = sample(type.getComponentType(), engine);
            if (one == null) {
                return null;
            }
            Object array = Array.newInstance(type.getComponentType(), 1);
            Array.set(array, 0, one);
            return array;
        }
        if (type.isInterface() && type.isAnnotationPresent(FunctionalInterface.class)) {
            return Proxy.newProxyInstance(
                    type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> null);
        }
        return null;
    }

    private static List<Class<?>> classes() throws Exception {
        URI where = Perdure.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI();
        Path file = Path.of(where);
        if (Files.isDirectory(file)) {
            return classes(file);
        }
        try (FileSystem jar = FileSystems.newFileSystem(file)) {
            return classes(jar.getPath("/"));
        }
    }

    private static List<Class<?>> classes(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.map(file -> root.relativize(file).toString().replace('/', '.'))
                    .filter(name -> name.endsWith(".class") && !name.contains("-info") && !name.startsWith("META"))
                    .map(name -> name.substring(0, name.length() - ".class".length()))
                    .filter(name -> API.contains(name.substring(0, Math.max(0, name.lastIndexOf('.')))))
                    .sorted()
                    .<Class<?>>map(OddArgumentsIT::load)
                    .filter(type -> Modifier.isPublic(type.getModifiers()))
                    .toList();
        } catch (UncheckedIOException unreadable) {
            throw unreadable.getCause();
        }
    }

    private static Class<?> load(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException gone) {
            throw new AssertionError(gone);
        }
    }

    private static boolean isOfApplications(Method method) {
        String name = method.getDeclaringClass().getSimpleName() + "." + method.getName();
        return !NOT_OF_APPLICATIONS.contains(name)
                && !NOT_OF_APPLICATIONS.contains(name + "(" + parameters(method) + ")");
    }

    private static List<String> parameters(Executable call) {
        return Arrays.stream(call.getParameterTypes()).map(Class::getSimpleName).toList();
    }

    private static List<Executable> callable(Class<?> type) {
        List<Executable> all = new ArrayList<>();
        for (Method method : type.getDeclaredMethods()) {
            if (Modifier.isPublic(method.getModifiers())
                    && !method.isSynthetic()
                    && method.getParameterCount() > 0
                    && !NOT_CALLED.contains(method.getName())
                    && isOfApplications(method)) {
                all.add(method);
            }
        }
        if (type.isRecord() ? MADE.contains(type) : !Modifier.isAbstract(type.getModifiers())) {
            for (Constructor<?> constructor : type.getConstructors()) {
                if (constructor.getParameterCount() > 0) {
                    all.add(constructor);
                }
            }
        }
        all.sort((one, other) -> one.toString().compareTo(other.toString()));
        return all;
    }

    /** What comes of a call: nothing, or what is thrown. */
    private String outcome(Executable call, Engine engine, int position, @Nullable Object odd, String what) {
        @Nullable Object[] arguments = new Object[call.getParameterCount()];
        for (int i = 0; i < arguments.length; i++) {
            Class<?> type = call.getParameterTypes()[i];
            arguments[i] = i == position ? odd : sample(type, engine);
            if (arguments[i] == null && i != position) {
                skipped.add(type.getName());
                return "skipped";
            }
        }
        try {
            if (call instanceof Constructor<?> constructor) {
                constructor.newInstance(arguments);
            } else {
                Method method = (Method) call;
                Object target =
                        Modifier.isStatic(method.getModifiers()) ? null : sample(method.getDeclaringClass(), engine);
                if (target == null && !Modifier.isStatic(method.getModifiers())) {
                    skipped.add(method.getDeclaringClass().getName());
                    return "skipped";
                }
                method.invoke(target, arguments);
            }
            return "returned";
        } catch (InvocationTargetException thrown) {
            Throwable cause = thrown.getCause();
            boolean ours = cause instanceof PerdureException && !(cause instanceof StoreException);
            if (!ours
                    || (cause instanceof InvalidRequestException
                            && cause.getMessage().isBlank())) {
                raw.put(what, String.valueOf(cause));
            }
            return cause.getClass().getSimpleName() + ": "
                    + String.valueOf(cause.getMessage()).replaceAll("\\d{4}-\\d\\d-\\d\\dT[0-9:.]+Z", "a time");
        } catch (ReflectiveOperationException | IllegalArgumentException broken) {
            throw new AssertionError(what, broken);
        }
    }

    private static String shown(@Nullable Object odd) {
        String text = odd instanceof Object[] array ? Arrays.toString(array) : String.valueOf(odd);
        return (text.length() > 30 ? text.substring(0, 30) + "…" : text)
                .replace("\0", "\\0")
                .replace("\n", "\\n");
    }

    @Test
    void the_messages_name_the_argument_the_reason_and_the_remedy() {
        Perdure perdure = postgres.perdure();
        Map<ThrowingCallable, String> refused = new LinkedHashMap<>();
        refused.put(() -> perdure.queues().get(null), "The queue is null. Give it a non-empty text.");
        refused.put(() -> perdure.queues().declare(null), "The queue is null. Pass one, or leave the call out.");
        refused.put(() -> perdure.queues().keys("q", -1), "The number of keys is -1; it is at least 1.");
        refused.put(() -> perdure.queues().pause("q", null), "The reason is null. Say why, or give an empty text.");
        refused.put(
                () -> perdure.limiters().pause("a\0b", ""),
                "The limiter holds the character U+0000 at index 1, which cannot be stored as text. Remove or encode it.");
        refused.put(
                () -> perdure.limiters().limit(null),
                "The limiter with the changes is null. Pass one, or leave the call out.");
        refused.put(
                () -> perdure.schedules().list("\0", 1),
                "The name after which to begin holds the character U+0000 at index 0, which cannot be stored as text. Remove or encode it.");
        refused.put(
                () -> Queue.named("q").rate(1, null),
                "The period of the rate of the queue 'q' is null. Pass one, or leave the call out.");
        refused.put(
                () -> EncryptionKeys.of(null, Map.of()),
                "The name of the current key is null. Give the keys, and the name of the current one.");
        refused.forEach((call, message) -> assertThatThrownBy(call)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage(message));
    }

    @Test
    void every_odd_argument_works_or_is_refused_with_an_exception_of_ours_and_the_stores_agree() throws Exception {
        Map<String, String> different = new LinkedHashMap<>();
        int calls = 0;
        for (Class<?> type : classes()) {
            for (Executable call : callable(type)) {
                for (int i = 0; i < call.getParameterCount(); i++) {
                    for (Object odd : odd(call.getParameterTypes()[i])) {
                        String what = "%s.%s(%s: %s)"
                                .formatted(
                                        type.getSimpleName(), call.getName(), parameters(call), i + " = " + shown(odd));
                        String inMemory = outcome(call, memory, i, odd, what);
                        String onPostgres = outcome(call, postgres, i, odd, what);
                        calls++;
                        if (!inMemory.equals(onPostgres)) {
                            different.put(what, "%s | %s".formatted(inMemory, onPostgres));
                        }
                    }
                }
            }
        }
        assertThat(calls).as("calls; without a sample: %s", skipped).isGreaterThan(3_000);
        assertThat(raw).isEmpty();
        assertThat(different).isEmpty();
    }
}

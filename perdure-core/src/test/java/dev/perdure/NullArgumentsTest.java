package dev.perdure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.dag.Dag;
import dev.perdure.error.PerdureException;
import dev.perdure.error.UnknownTokenException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.object.StateKey;
import dev.perdure.spi.Inbox;
import dev.perdure.transaction.TransactionBody;
import dev.perdure.transaction.TransactionOptions;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.AnnotatedTypeVariable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.lang.reflect.Proxy;
import java.lang.reflect.TypeVariable;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A null that a public method does not take is refused, with a message that says which parameter it is. */
class NullArgumentsTest {
    private static final Definition<String, String> FLOW =
            Definition.of("flow", String.class, String.class, (ctx, in) -> in);
    private static final Dag<String, String> DAG = Dag.of("dag", String.class, dag -> dag.task("only", t -> t.input()));

    /** Workflows that method references name. */
    public static final class Flows {
        @Workflow("function")
        public String function(WorkflowContext ctx, String input) {
            return input;
        }

        @Workflow("consumer")
        public void consumer(WorkflowContext ctx, String input) {}
    }

    private static final Map<Class<?>, Object> SAMPLES = new LinkedHashMap<>();

    static {
        SAMPLES.put(String.class, "text");
        SAMPLES.put(CharSequence.class, "text");
        SAMPLES.put(Duration.class, Duration.ofSeconds(1));
        SAMPLES.put(Instant.class, Instant.EPOCH);
        SAMPLES.put(int.class, 2);
        SAMPLES.put(long.class, 2L);
        SAMPLES.put(double.class, 2.0);
        SAMPLES.put(boolean.class, true);
        SAMPLES.put(Class.class, String.class);
        SAMPLES.put(TypeRef.class, TypeRef.of(String.class));
        SAMPLES.put(Topic.class, Topic.of("topic", String.class));
        SAMPLES.put(EventTopic.class, Topic.of("topic", String.class));
        SAMPLES.put(RunId.class, RunId.of("run"));
        SAMPLES.put(Definition.class, FLOW);
        SAMPLES.put(Dag.class, DAG);
        SAMPLES.put(Invocation.class, Invocation.of(FLOW, "x"));
        SAMPLES.put(StartOptions.class, StartOptions.defaults());
        SAMPLES.put(ChildOptions.class, ChildOptions.defaults());
        SAMPLES.put(StepOptions.class, StepOptions.defaults());
        SAMPLES.put(TransactionOptions.class, TransactionOptions.defaults());
        SAMPLES.put(StepBody.class, (StepBody<String>) () -> "text");
        SAMPLES.put(TransactionBody.class, (TransactionBody<Object, String>) handle -> "text");
        SAMPLES.put(RetryPolicy.class, RetryPolicy.standard());
        SAMPLES.put(RunFilter.class, RunFilter.all());
        SAMPLES.put(List.class, List.of());
        SAMPLES.put(Collection.class, List.of());
        SAMPLES.put(Object.class, "text");
        SAMPLES.put(RunState.class, RunState.READY);
        SAMPLES.put(RunState[].class, new RunState[] {RunState.READY});
        SAMPLES.put(Object[].class, new Object[] {FLOW});
        SAMPLES.put(String[].class, new String[] {"text"});
        SAMPLES.put(Function.class, (Function<Object, Object>) item -> item);
        SAMPLES.put(WorkflowMethod.Function.class, (WorkflowMethod.Function<Flows, String, String>) Flows::function);
        SAMPLES.put(WorkflowMethod.Consumer.class, (WorkflowMethod.Consumer<Flows, String>) Flows::consumer);
        SAMPLES.put(Predicate.class, (Predicate<Object>) item -> true);
    }

    private static @Nullable Object sample(Class<?> type) {
        Object known = SAMPLES.get(type);
        if (known != null) {
            return known;
        }
        if (type.isEnum()) {
            return type.getEnumConstants()[0];
        }
        return type.isInterface()
                ? Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> null)
                : null;
    }

    private static boolean takesNull(Parameter parameter) {
        AnnotatedType type = parameter.getAnnotatedType();
        if (parameter.getType().isPrimitive() || type.isAnnotationPresent(Nullable.class)) {
            return true;
        }
        return type instanceof AnnotatedTypeVariable variable
                && Arrays.stream(((TypeVariable<?>) variable.getType()).getAnnotatedBounds())
                        .anyMatch(bound -> bound.isAnnotationPresent(Nullable.class));
    }

    /** A call with null for one parameter. */
    private record NullCall(Method method, int index) {
        /** What came of it, unless a message says that the parameter is null. */
        Optional<String> accepted(@Nullable Object target) {
            Parameter[] parameters = method.getParameters();
            Object[] arguments = new Object[parameters.length];
            for (int i = 0; i < arguments.length; i++) {
                arguments[i] = i == index ? null : sample(parameters[i].getType());
            }
            try {
                method.setAccessible(true);
                method.invoke(target, arguments);
                return Optional.of(this + " was accepted");
            } catch (InvocationTargetException thrown) {
                return isRefusal(thrown.getCause())
                        ? Optional.empty()
                        : Optional.of(this + " threw " + thrown.getCause());
            } catch (IllegalAccessException cannot) {
                throw new IllegalStateException(cannot);
            }
        }

        private static boolean isRefusal(Throwable thrown) {
            return thrown instanceof UnknownTokenException
                    || (thrown instanceof PerdureException
                            && String.valueOf(thrown.getMessage()).matches("(?s).*\\b(is|are|given) null\\b.*"));
        }

        @Override
        public String toString() {
            return "%s.%s(… %s …)"
                    .formatted(
                            method.getDeclaringClass().getSimpleName(),
                            method.getName(),
                            method.getParameters()[index]);
        }
    }

    private static List<NullCall> calls(Class<?> type, boolean hasTarget) {
        List<NullCall> calls = new ArrayList<>();
        for (Method method : type.getDeclaredMethods()) {
            boolean callable = Modifier.isStatic(method.getModifiers()) || hasTarget;
            if (Modifier.isPublic(method.getModifiers())
                    && !method.isSynthetic()
                    && callable
                    && !method.getName().equals("equals")) {
                Parameter[] parameters = method.getParameters();
                for (int i = 0; i < parameters.length; i++) {
                    boolean isRefusedAtStart = type == Invocation.class && i == 0;
                    if (!takesNull(parameters[i]) && !isRefusedAtStart) {
                        calls.add(new NullCall(method, i));
                    }
                }
            }
        }
        return calls;
    }

    private static List<String> accepted(Class<?> type, @Nullable Object target) {
        return calls(type, target != null).stream()
                .flatMap(call -> call.accepted(target).stream())
                .toList();
    }

    @Test
    void options_and_values_refuse_null() {
        List<String> accepted = new ArrayList<>();
        accepted.addAll(accepted(StartOptions.class, StartOptions.defaults()));
        accepted.addAll(accepted(ChildOptions.class, ChildOptions.defaults()));
        accepted.addAll(accepted(StepOptions.class, StepOptions.defaults()));
        accepted.addAll(accepted(TransactionOptions.class, TransactionOptions.defaults()));
        accepted.addAll(accepted(RetryPolicy.class, RetryPolicy.standard()));
        accepted.addAll(accepted(RunFilter.class, RunFilter.all()));
        accepted.addAll(accepted(Topic.class, Topic.of("topic", String.class)));
        accepted.addAll(accepted(RunId.class, null));
        accepted.addAll(accepted(Invocation.class, null));
        accepted.addAll(accepted(Definition.class, null));
        accepted.addAll(accepted(Dag.class, null));
        accepted.addAll(accepted(StateKey.class, null));
        accepted.addAll(accepted(TypeRef.class, null));
        accepted.addAll(accepted(StepBody.class, null));
        accepted.addAll(accepted(DurableFuture.class, null));
        assertThat(accepted).isEmpty();
    }

    @Test
    void the_engine_and_its_handles_refuse_null() {
        List<String> accepted = new ArrayList<>();
        try (MemoryStore store = new MemoryStore();
                Perdure perdure =
                        Perdure.on(store).register(FLOW, DAG, new Flows()).start()) {
            accepted.addAll(accepted(PerdureBuilder.class, Perdure.on(store)));
            accepted.addAll(accepted(Perdure.class, perdure));
            Run<String> run = perdure.start(Invocation.of(FLOW, "x"), StartOptions.id("run"));
            run.result();
            accepted.addAll(accepted(Run.class, run));
            Inbox inbox = changes -> {};
            accepted.addAll(accepted(Outbox.class, perdure.outbox(inbox)));
        }
        assertThat(accepted).isEmpty();
    }

    @Test
    void the_context_refuses_null() {
        List<NullCall> calls = calls(WorkflowContext.class, true);
        Definition<Integer, String> flow = Definition.of(
                "refusing",
                Integer.class,
                String.class,
                (ctx, number) -> calls.get(number).accepted(ctx).orElse(""));
        List<String> accepted = new ArrayList<>();
        try (MemoryStore store = new MemoryStore();
                Perdure perdure =
                        Perdure.on(store).register(flow, FLOW, DAG, new Flows()).start()) {
            for (int i = 0; i < calls.size(); i++) {
                try {
                    accepted.add(perdure.start(Invocation.of(flow, i)).result(Duration.ofSeconds(5)));
                } catch (PerdureException waits) {
                    accepted.add(calls.get(i) + " led to " + waits.getMessage());
                }
            }
        }
        accepted.removeIf(String::isEmpty);
        assertThat(accepted).isEmpty();
    }
}

package dev.perdure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.dag.After;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagBuilder;
import dev.perdure.dag.DagRun;
import dev.perdure.dag.DagTask;
import dev.perdure.dag.ForEach;
import dev.perdure.dag.NewCollectingForEach;
import dev.perdure.dag.NewForEach;
import dev.perdure.dag.NewTask;
import dev.perdure.dag.TaskBody;
import dev.perdure.dag.TaskOptions;
import dev.perdure.error.DefinitionException;
import dev.perdure.error.PerdureException;
import dev.perdure.error.UnknownTokenException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectCalls;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.ObjectHandle;
import dev.perdure.object.ObjectMethod;
import dev.perdure.object.ObjectSends;
import dev.perdure.object.ObjectState;
import dev.perdure.object.SharedObjectContext;
import dev.perdure.object.StateEdit;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import dev.perdure.schedule.CatchUp;
import dev.perdure.schedule.Fire;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.ScheduleChanges;
import dev.perdure.schedule.Schedules;
import dev.perdure.schedule.Times;
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
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A null that a public method does not take is refused, with a message that says which parameter it is. */
class NullArgumentsTest {
    private static final Definition<String, String> FLOW =
            Definition.of("flow", String.class, String.class, (ctx, in) -> in);
    private static final Dag<String, String> DAG = Dag.of("dag", String.class, dag -> dag.task("only", t -> t.input()));

    private static final Schedule SCHEDULE =
            Schedule.of("text", Times.every(Duration.ofHours(1)), Invocation.of(FLOW, "x"));

    /** Workflows that method references name. */
    public static final class Flows {
        @Workflow("function")
        public String function(WorkflowContext ctx, String input) {
            return input;
        }

        @Workflow("consumer")
        public void consumer(WorkflowContext ctx, String input) {}
    }

    /** A virtual object whose handlers method references name. */
    @VirtualObject("box")
    public static final class Box {
        private static final StateKey<String> CONTENT = StateKey.of("content", String.class);
        private static final List<NullCall> CALLS =
                concat(calls(ObjectContext.class, true), calls(SharedObjectContext.class, true));

        @Handler
        public String function(ObjectContext ctx, String input) {
            return input;
        }

        @Handler
        public String supplier(ObjectContext ctx) {
            return "text";
        }

        @Handler
        public void consumer(ObjectContext ctx, String input) {}

        @Handler
        public void action(ObjectContext ctx) {}

        @Handler
        public String refusing(ObjectContext ctx, Integer number) {
            return CALLS.get(number).accepted(ctx).orElse("");
        }
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
        SAMPLES.put(Consumer.class, (Consumer<Object>) item -> {});
        SAMPLES.put(ZoneId.class, ZoneOffset.UTC);
        SAMPLES.put(LocalDate[].class, new LocalDate[] {LocalDate.EPOCH});
        SAMPLES.put(Instant[].class, new Instant[] {Instant.EPOCH});
        SAMPLES.put(Times.class, Times.every(Duration.ofHours(1)));
        SAMPLES.put(CatchUp.class, CatchUp.last());
        SAMPLES.put(Schedule.class, SCHEDULE);
        SAMPLES.put(StateKey.class, Box.CONTENT);
        SAMPLES.put(ObjectMethod.Function.class, (ObjectMethod.Function<Box, String, String>) Box::function);
        SAMPLES.put(ObjectMethod.Supplier.class, (ObjectMethod.Supplier<Box, String>) Box::supplier);
        SAMPLES.put(ObjectMethod.Consumer.class, (ObjectMethod.Consumer<Box, String>) Box::consumer);
        SAMPLES.put(ObjectMethod.Action.class, (ObjectMethod.Action<Box>) Box::action);
    }

    private static @Nullable Object sample(Class<?> type, Map<Class<?>, Object> own) {
        Object known = own.getOrDefault(type, SAMPLES.get(type));
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
            return accepted(target, Map.of());
        }

        /** With these samples instead of the general ones. */
        Optional<String> accepted(@Nullable Object target, Map<Class<?>, Object> own) {
            Parameter[] parameters = method.getParameters();
            Object[] arguments = new Object[parameters.length];
            for (int i = 0; i < arguments.length; i++) {
                arguments[i] = i == index ? null : sample(parameters[i].getType(), own);
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
                            && String.valueOf(thrown.getMessage()).matches("(?s).*\\b(is|are|given|set to) null\\b.*"));
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

    private static List<NullCall> concat(List<NullCall> some, List<NullCall> others) {
        return Stream.concat(some.stream(), others.stream()).toList();
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
        calls(Schedule.class, true)
                .forEach(call ->
                        call.accepted(SCHEDULE, Map.of(String.class, "@daily")).ifPresent(accepted::add));
        accepted.addAll(accepted(Times.class, SCHEDULE.times()));
        accepted.addAll(accepted(CatchUp.class, SCHEDULE.catchUp()));
        accepted.addAll(accepted(Fire.class, null));
        assertThat(accepted).isEmpty();
    }

    @Test
    void the_engine_and_its_handles_refuse_null() {
        List<String> accepted = new ArrayList<>();
        try (MemoryStore store = new MemoryStore();
                Perdure perdure = Perdure.on(store)
                        .register(FLOW, DAG, new Flows(), new Box())
                        .start()) {
            accepted.addAll(accepted(PerdureBuilder.class, Perdure.on(store)));
            accepted.addAll(accepted(Perdure.class, perdure));
            Run<String> run = perdure.start(Invocation.of(FLOW, "x"), StartOptions.id("run"));
            run.result();
            accepted.addAll(accepted(Run.class, run));
            Inbox inbox = changes -> {};
            Outbox outbox = perdure.outbox(inbox);
            accepted.addAll(accepted(Outbox.class, outbox));
            accepted.addAll(accepted(Schedules.class, perdure.schedules()));
            accepted.addAll(accepted(ScheduleChanges.class, perdure.schedules()));
            accepted.addAll(accepted(ScheduleChanges.class, outbox.schedules()));
            DagRun<String> dagRun = perdure.start(DAG, "x", StartOptions.id("dag"));
            dagRun.result();
            accepted.addAll(accepted(DagRun.class, dagRun));
            ObjectHandle<Box> box = perdure.object(Box.class, "key");
            accepted.addAll(accepted(ObjectHandle.class, box));
            accepted.addAll(accepted(ObjectState.class, box.state()));
            box.edit(edit -> accepted.addAll(accepted(StateEdit.class, edit)));
            accepted.addAll(accepted(ObjectSends.class, outbox.object(Box.class, "key")));
        }
        assertThat(accepted).isEmpty();
    }

    @Test
    void the_context_refuses_null() {
        List<NullCall> calls = concat(
                concat(calls(WorkflowContext.class, true), calls(ObjectCalls.class, true)), calls(Saga.class, true));
        Definition<Integer, String> flow = Definition.of("refusing", Integer.class, String.class, (ctx, number) -> {
            NullCall call = calls.get(number);
            Class<?> type = call.method().getDeclaringClass();
            Object target = type == ObjectCalls.class ? ctx.object(Box.class, "key") : ctx;
            return call.accepted(type == Saga.class ? new Saga(ctx) : target).orElse("");
        });
        assertThat(refused(calls, flow, (perdure, number) -> perdure.start(Invocation.of(flow, number))))
                .isEmpty();
    }

    @Test
    void the_context_of_a_virtual_object_refuses_null() {
        assertThat(refused(
                        Box.CALLS,
                        FLOW,
                        (perdure, number) -> perdure.object(Box.class, "key").send(Box::refusing, number)))
                .isEmpty();
    }

    /** What the calls in runs led to, unless they were refused. */
    private static List<String> refused(
            List<NullCall> calls, Definition<?, ?> flow, BiFunction<Perdure, Integer, Run<String>> start) {
        List<String> accepted = new ArrayList<>();
        try (MemoryStore store = new MemoryStore();
                Perdure perdure = Perdure.on(store)
                        .register(flow, DAG, new Flows(), new Box())
                        .start()) {
            for (int i = 0; i < calls.size(); i++) {
                try {
                    accepted.add(start.apply(perdure, i).result(Duration.ofSeconds(5)));
                } catch (PerdureException waits) {
                    accepted.add(calls.get(i) + " led to " + waits.getMessage());
                }
            }
        }
        assertThat(accepted).isNotEmpty();
        accepted.removeIf(String::isEmpty);
        return accepted;
    }

    /** A DAG while it is being defined, with a task and with one that returns a list. */
    private record Defining(
            DagBuilder<String> dag,
            NewTask<String, TaskBody.Root<String, Boolean>> task,
            NewTask<List<String>, TaskBody.Root<String, Boolean>> list) {}

    /** Every call gets a definition of its own, because a task may be defined once only. */
    private static List<String> acceptedInDag(Class<?> type, Function<Defining, Object> target) {
        List<String> accepted = new ArrayList<>();
        List<NullCall> calls = calls(type, true);
        assertThat(calls).isNotEmpty();
        for (NullCall call : calls) {
            Dag.of("dag", String.class, dag -> {
                NewTask<List<String>, TaskBody.Root<String, Boolean>> list =
                        dag.<List<String>>task("list", t -> List.of()).returning(new TypeRef<>() {});
                Defining defining = new Defining(dag, dag.task("only", t -> t.input()), list);
                Map<Class<?>, Object> own = Map.of(DagTask.class, defining.task());
                call.accepted(target.apply(defining), own).ifPresent(accepted::add);
                return defining.task();
            });
        }
        return accepted;
    }

    @Test
    void the_definition_of_a_dag_refuses_null() {
        List<String> accepted = new ArrayList<>();
        accepted.addAll(acceptedInDag(DagBuilder.class, Defining::dag));
        accepted.addAll(acceptedInDag(TaskOptions.class, Defining::task));
        accepted.addAll(acceptedInDag(NewTask.class, Defining::task));
        accepted.addAll(acceptedInDag(ForEach.class, in -> in.dag().forEach(in.list())));
        accepted.addAll(acceptedInDag(
                NewForEach.class, in -> in.dag().forEach(in.list()).task("each", (t, item) -> item)));
        accepted.addAll(acceptedInDag(
                NewCollectingForEach.class,
                in -> in.dag()
                        .forEach(in.list())
                        .task("each", (t, item) -> item)
                        .collect()));
        accepted.addAll(acceptedInDag(After.Of1.class, in -> in.dag().after(in.task())));
        accepted.addAll(acceptedInDag(After.Of2.class, in -> in.dag().after(in.task(), in.task())));
        accepted.addAll(acceptedInDag(After.Of3.class, in -> in.dag().after(in.task(), in.task(), in.task())));
        accepted.addAll(
                acceptedInDag(After.Of4.class, in -> in.dag().after(in.task(), in.task(), in.task(), in.task())));
        accepted.addAll(acceptedInDag(After.OfAll.class, in -> in.dag().after(List.of(in.task()))));
        assertThat(accepted).isEmpty();
    }

    @Test
    void a_refused_null_of_a_dag_names_the_task() {
        assertThatThrownBy(() -> Dag.of(
                        "orders",
                        String.class,
                        dag -> dag.task("charge", t -> t.input()).waitFor(null)))
                .isInstanceOf(DefinitionException.class)
                .hasMessage(
                        "DAG 'orders' cannot be defined: the wait of task 'charge' is null. Pass one, or leave the call out.");
    }
}

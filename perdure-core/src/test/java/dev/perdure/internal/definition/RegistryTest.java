package dev.perdure.internal.definition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.TypeRef;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.WorkflowMethod;
import dev.perdure.error.DefinitionException;
import dev.perdure.internal.json.JsonCodec;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@SuppressWarnings("serial") // references to what only this test can reach are never written anywhere
class RegistryTest {
    public static class Orders {
        @Workflow("order")
        public String process(WorkflowContext ctx, String in) {
            return "real " + in;
        }

        @Workflow("order-by-number")
        public String process(WorkflowContext ctx, Integer in) {
            return "number " + in;
        }

        @Workflow("generic")
        public Map<String, List<Integer>> generic(WorkflowContext ctx, List<String> in) {
            return Map.of();
        }

        public String notOne(WorkflowContext ctx, String in) {
            return in;
        }
    }

    /** As a framework's subclass proxy: overrides everything and carries no annotation. */
    public static class OrdersProxy extends Orders {
        @Override
        public String process(WorkflowContext ctx, String in) {
            return "around " + super.process(ctx, in);
        }
    }

    public interface Billing {
        @Workflow("bill")
        String bill(WorkflowContext ctx, String in);
    }

    public static class PaperBilling implements Billing {
        @Override
        public String bill(WorkflowContext ctx, String in) {
            return "paper " + in;
        }
    }

    public static class Hidden {
        @Workflow("hidden")
        @SuppressWarnings({"UnusedMethod", "UnusedVariable"}) // found by reflection, and refused
        private String secret(WorkflowContext ctx) {
            return "";
        }
    }

    public static class Static {
        @Workflow("static")
        public static String util(WorkflowContext ctx) {
            return "";
        }
    }

    public static class NoContext {
        @Workflow("no-context")
        public String run(String in) {
            return in;
        }
    }

    public static class TooMany {
        @Workflow("too-many")
        public String run(WorkflowContext ctx, String a, String b) {
            return a + b;
        }
    }

    public static class Nameless {
        @Workflow(" ")
        public void run(WorkflowContext ctx) {}
    }

    public static class BadName {
        @Workflow("zero\u0000")
        public void run(WorkflowContext ctx) {}
    }

    public static class BadInput {
        @Workflow("bad-input")
        public void run(WorkflowContext ctx, Runnable in) {}
    }

    public static class BadResult {
        @Workflow("bad-result")
        public Object run(WorkflowContext ctx) {
            return "";
        }
    }

    public static class Unmarked {
        @Handler
        public void add(ObjectContext ctx) {}
    }

    public static class Overloaded {
        @Workflow("same")
        public void run(WorkflowContext ctx, String in) {}

        @Workflow("same")
        public void run(WorkflowContext ctx, Integer in) {}
    }

    private static Registry registry(Object... registrations) {
        return new Registry(List.of(registrations), new JsonCodec());
    }

    private static <W, I, R> WorkflowMethod function(WorkflowMethod.Function<W, I, R> method) {
        return method;
    }

    private static Object call(Registry registry, String name, Object input) throws Throwable {
        return registry.find(name).orElseThrow().function().call(null, input);
    }

    @Test
    void types_come_from_the_signature_generics_included() {
        Registered.Target target =
                registry(new Orders()).find("generic").orElseThrow().target();
        assertThat(target.inputType()).isEqualTo(new TypeRef<List<String>>() {}.type());
        assertThat(target.resultType()).isEqualTo(new TypeRef<Map<String, List<Integer>>>() {}.type());
    }

    @Test
    void overloaded_methods_are_told_apart_by_their_types() throws Throwable {
        Registry registry = registry(new Orders());
        assertThat(registry.target(RegistryTest.<Orders, String, String>function(Orders::process))
                        .name())
                .isEqualTo("order");
        assertThat(registry.target(RegistryTest.<Orders, Integer, String>function(Orders::process))
                        .name())
                .isEqualTo("order-by-number");
        assertThat(call(registry, "order-by-number", 7)).isEqualTo("number 7");
    }

    @Test
    void a_subclass_proxy_is_seen_through_and_called() throws Throwable {
        Registry registry = registry(new OrdersProxy());
        assertThat(registry.names()).containsExactlyInAnyOrder("order", "order-by-number", "generic");
        assertThat(call(registry, "order", "x")).isEqualTo("around real x");
        assertThat(registry.target(RegistryTest.<OrdersProxy, String, String>function(OrdersProxy::process))
                        .name())
                .isEqualTo("order");
    }

    @Test
    void the_annotation_may_stand_on_an_interface() throws Throwable {
        Registry registry = registry(new PaperBilling());
        assertThat(call(registry, "bill", "x")).isEqualTo("paper x");
        assertThat(registry.target(function(Billing::bill)).name()).isEqualTo("bill");
        assertThat(registry.target(function(PaperBilling::bill)).name()).isEqualTo("bill");
    }

    static Stream<Arguments> unusable() {
        return Stream.of(
                Arguments.of(new Hidden(), "Hidden.secret cannot be a workflow: it is static or private"),
                Arguments.of(new Static(), "Static.util cannot be a workflow: it is static or private"),
                Arguments.of(new NoContext(), "NoContext.run cannot be a workflow: it must take a WorkflowContext"),
                Arguments.of(new TooMany(), "TooMany.run cannot be a workflow: it must take a WorkflowContext"),
                Arguments.of(new Nameless(), "Nameless.run cannot be a workflow: its name is empty"),
                Arguments.of(new BadName(), "BadName.run cannot be a workflow: its name is empty, longer"),
                Arguments.of(
                        new BadInput(),
                        "The input of the method " + BadInput.class.getName()
                                + ".run(WorkflowContext, Runnable) cannot be used"),
                Arguments.of(
                        new BadResult(),
                        "The result of the method " + BadResult.class.getName()
                                + ".run(WorkflowContext) cannot be used"),
                Arguments.of("just a text", "java.lang.String has no method annotated with @Workflow"),
                Arguments.of(
                        new Unmarked(),
                        Unmarked.class.getName()
                                + " has @Handler methods and is no virtual object. Annotate the class with @VirtualObject."),
                Arguments.of(
                        Orders.class,
                        "The class " + Orders.class.getName()
                                + " was registered, and workflows are called on an object. Register an instance: new Orders(…)."));
    }

    @ParameterizedTest
    @MethodSource("unusable")
    void an_unusable_registration_is_refused_naming_class_and_method(Object registration, String message) {
        assertThatThrownBy(() -> registry(registration))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContaining(message);
    }

    @Test
    void one_name_twice_is_refused_and_so_are_two_instances_of_one_class() {
        assertThatThrownBy(() -> registry(new Orders(), new Orders()))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContaining("is registered twice, both times by the method " + Orders.class.getName())
                .hasMessageEndingWith("Register it once.");
        Definition<String, String> order = Definition.of("order", String.class, String.class, (ctx, in) -> in);
        assertThatThrownBy(() -> registry(new Orders(), order))
                .hasMessageContaining("The name 'order' is registered twice")
                .hasMessageContaining("and by the definition 'order'. Give one of them another name.");
    }

    @Test
    void overloaded_methods_of_one_name_are_told_apart_in_the_refusal() {
        assertThatThrownBy(() -> registry(new Overloaded()))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContaining("Overloaded.run(WorkflowContext, String)")
                .hasMessageContaining("Overloaded.run(WorkflowContext, Integer)");
    }

    /** As Kotlin compiles {@code Orders::process} in a function {@code order}. */
    private static String order$process(Orders self, WorkflowContext ctx, String in) {
        return self.process(ctx, in);
    }

    private static String order$notOne(Orders self, WorkflowContext ctx, String in) {
        return self.notOne(ctx, in);
    }

    @Test
    void a_reference_of_kotlin_names_the_method_that_it_forwards_to() {
        Registry registry = registry(new Orders());
        WorkflowMethod.Function<Orders, String, String> process = RegistryTest::order$process;
        assertThat(registry.target(process).name()).isEqualTo("order");
        WorkflowMethod.Function<Orders, String, String> notOne = RegistryTest::order$notOne;
        assertThatThrownBy(() -> registry.target(notOne))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContaining("the method %s.notOne is not annotated", Orders.class.getName());
    }

    @Test
    void what_is_no_reference_to_a_workflow_is_refused_with_the_remedy() {
        Registry registry = registry(new Orders());
        Supplier<WorkflowMethod> lambda =
                () -> RegistryTest.<Orders, String, String>function((self, ctx, in) -> self.process(ctx, in));
        assertThatThrownBy(() -> registry.target(lambda.get()))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContaining("A lambda in " + RegistryTest.class.getName())
                .hasMessageContaining("Write a method reference such as Orders::process");
        assertThatThrownBy(() -> registry.target(function(Orders::notOne)))
                .hasMessageContaining(Orders.class.getName() + ".notOne is not annotated with @Workflow");
    }
}

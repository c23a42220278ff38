package dev.perdure.internal.definition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.DefinitionException;
import dev.perdure.internal.json.JsonCodec;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.ObjectMethod;
import dev.perdure.object.SharedObjectContext;
import dev.perdure.object.VirtualObject;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@SuppressWarnings("serial") // references to what only this test can reach are never written anywhere
class ObjectMethodsTest {
    @VirtualObject("cart")
    public static class Cart {
        @Handler
        public int add(ObjectContext ctx, String item) {
            return item.length();
        }

        @Handler("how-many")
        public int size(SharedObjectContext ctx) {
            return 0;
        }

        @Handler(once = true)
        public void open(ObjectContext ctx) {}

        public int notOne(ObjectContext ctx, String item) {
            return item.length();
        }
    }

    /** As a framework's subclass proxy: overrides and carries no annotation. */
    public static class CartProxy extends Cart {
        @Override
        public int add(ObjectContext ctx, String item) {
            return -super.add(ctx, item);
        }
    }

    @VirtualObject("none")
    public static class WithoutHandlers {}

    @VirtualObject("static")
    public static class WithStaticHandler {
        @Handler
        public static void handle(ObjectContext ctx) {}
    }

    @VirtualObject("context")
    public static class WithOtherContext {
        @Handler
        public void handle(WorkflowContext ctx) {}
    }

    @VirtualObject("shared")
    public static class WithSharedMain {
        @Handler(once = true)
        public void handle(SharedObjectContext ctx) {}
    }

    @VirtualObject("both")
    public static class WithWorkflow {
        @Handler
        public void handle(ObjectContext ctx) {}

        @Workflow("forgotten")
        public void work(WorkflowContext ctx) {}
    }

    @VirtualObject("mains")
    public static class WithTwoMains {
        @Handler(once = true)
        public void one(ObjectContext ctx) {}

        @Handler(once = true)
        public void two(ObjectContext ctx) {}
    }

    @VirtualObject("two/parts")
    public static class WithSlash {
        @Handler
        public void handle(ObjectContext ctx) {}
    }

    private static Registry registry(Object... registrations) {
        return new Registry(List.of(registrations), new JsonCodec());
    }

    @Test
    void handlers_are_registered_under_the_names_of_object_and_method() {
        assertThat(registry(new Cart()).names())
                .containsExactlyInAnyOrder("cart/add", "cart/how-many", "cart/open", "cart/(edit)");
        assertThat(registry(new CartProxy()).names()).contains("cart/add");
    }

    @Test
    void a_method_reference_names_a_handler_and_its_context_tells_whether_it_is_exclusive() {
        Registry registry = registry();
        ObjectMethod.Function<Cart, String, Integer> add = Cart::add;
        ObjectMethod.Supplier<Cart, Integer> size = Cart::size;
        ObjectMethod.Action<Cart> open = Cart::open;
        assertThat(registry.handler(add).target().name()).isEqualTo("cart/add");
        assertThat(registry.handler(add).exclusive()).isTrue();
        assertThat(registry.handler(size).target().name()).isEqualTo("cart/how-many");
        assertThat(registry.handler(size).exclusive()).isFalse();
        assertThat(registry.handler(open).once()).isTrue();
    }

    @Test
    void a_method_that_is_no_handler_and_a_lambda_are_refused() {
        ObjectMethod.Function<Cart, String, Integer> notOne = Cart::notOne;
        ObjectMethod.Function<Cart, String, Integer> lambda = (cart, ctx, item) -> 1;
        assertThatThrownBy(() -> registry().handler(notOne))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContaining("notOne is not annotated with @Handler");
        assertThatThrownBy(() -> registry().handler(lambda))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContaining("Write a method reference such as Cart::add");
        assertThatThrownBy(() -> ObjectMethods.requireName(String.class))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContaining("java.lang.String is no virtual object");
    }

    static Stream<Arguments> unusable() {
        return Stream.of(
                Arguments.of(new WithoutHandlers(), "without a method annotated with @Handler"),
                Arguments.of(new WithWorkflow(), "Move the workflow to a class of its own"),
                Arguments.of(new WithStaticHandler(), "it is static or private"),
                Arguments.of(new WithOtherContext(), "it must take an ObjectContext or a SharedObjectContext"),
                Arguments.of(new WithSharedMain(), "only an exclusive handler can"),
                Arguments.of(new WithTwoMains(), "several handlers that run once per key"),
                Arguments.of(new WithSlash(), "its name 'two/parts' contains a '/'"));
    }

    @ParameterizedTest
    @MethodSource("unusable")
    void a_class_that_cannot_be_an_object_is_refused_when_it_is_registered(Object object, String why) {
        assertThatThrownBy(() -> registry(object))
                .isInstanceOf(DefinitionException.class)
                .hasMessageContaining(why);
    }
}

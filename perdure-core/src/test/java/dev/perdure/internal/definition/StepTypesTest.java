package dev.perdure.internal.definition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.StepBody;
import dev.perdure.TypeRef;
import dev.perdure.error.PayloadException;
import dev.perdure.internal.json.JsonCodec;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** What a step's body gives is read from its lambda, or the first execution says how to write it. */
@SuppressWarnings("serial") // references to what only this test can reach are never written anywhere
class StepTypesTest {
    public record Payment(String id) {}

    private static final class Captured {}

    private final StepTypes types = new StepTypes(new JsonCodec());
    private final Captured notSerializable = new Captured();

    private <T> Type typeOf(StepBody<T> body) {
        return types.of(body, "pay");
    }

    private List<Payment> payments() {
        return List.of();
    }

    private Map<String, List<Payment>> byDay() {
        return Map.of();
    }

    private static int overloaded() {
        return 1;
    }

    @SuppressWarnings("unused") // makes the reference above an overloaded one
    private static String overloaded(String other) {
        return other;
    }

    private static <E> List<E> generic() {
        return List.of();
    }

    @Test
    void a_lambda_says_its_class() {
        String captured = "x";
        assertThat(typeOf(() -> new Payment(captured))).isEqualTo(Payment.class);
        assertThat(typeOf(() -> 1)).isEqualTo(Integer.class);
        assertThat(typeOf(() -> new int[0])).isEqualTo(int[].class);
        assertThat(typeOf(() -> notSerializable.hashCode() == captured.length()))
                .isEqualTo(Boolean.class);
    }

    @Test
    void a_method_reference_says_its_generic_type() {
        assertThat(typeOf(this::payments)).isEqualTo(new TypeRef<List<Payment>>() {}.type());
        assertThat(typeOf(this::byDay)).isEqualTo(new TypeRef<Map<String, List<Payment>>>() {}.type());
        assertThat(typeOf("text"::length)).isEqualTo(Integer.class);
    }

    @Test
    void an_overloaded_method_reference_is_the_one_that_fits() {
        assertThat(typeOf(StepTypesTest::overloaded)).isEqualTo(Integer.class);
    }

    @Test
    void a_constructor_reference_is_its_class() {
        assertThat(typeOf(StringBuilder::new)).isEqualTo(StringBuilder.class);
    }

    @Test
    void an_object_of_a_class_says_what_it_implements() {
        assertThat(typeOf(new StepBody<List<Payment>>() {
                    private static final long serialVersionUID = 1L;

                    @Override
                    public List<Payment> call() {
                        return payments();
                    }
                }))
                .isEqualTo(new TypeRef<List<Payment>>() {}.type());
    }

    @Test
    void a_lambda_that_gives_a_raw_list_is_refused_with_the_remedy() {
        assertThatThrownBy(() -> typeOf(() -> payments()))
                .isInstanceOf(PayloadException.class)
                .hasMessage(
                        "The result type of step 'pay' cannot be used. The type java.util.List cannot be stored: it lacks its type arguments. State it: StepBody.returning(new TypeRef<…>() {}, () -> …), or () -> { …; } if the step has no result.");
    }

    @Test
    void an_interface_or_an_object_is_refused() {
        Supplier<CharSequence> text = () -> "x";
        Supplier<Object> anything = () -> "x";
        assertThatThrownBy(() -> typeOf(() -> text.get())).hasMessageContaining("it is an interface");
        assertThatThrownBy(() -> typeOf(() -> anything.get())).hasMessageContaining("every value is an Object");
        assertThatThrownBy(() -> typeOf(StepTypesTest::<Payment>generic)).hasMessageContaining("type variable");
    }

    @Test
    void a_body_wrapped_in_generic_code_is_refused_and_not_guessed() {
        assertThatThrownBy(() -> typeOf(wrapped(() -> new Payment("x")))).hasMessageContaining("State it");
    }

    private static <T> StepBody<T> wrapped(StepBody<T> body) {
        return () -> body.call();
    }
}

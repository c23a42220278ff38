package dev.perdure.internal.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonAlias;
import com.fasterxml.jackson.annotation.JsonEnumDefaultValue;
import com.fasterxml.jackson.annotation.JsonTypeName;
import dev.perdure.TypeRef;
import dev.perdure.error.PayloadException;
import dev.perdure.spi.change.Payload;
import java.io.IOException;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * What becomes of a recorded value when the class has changed since. Each test is a row of the table in the guide, which
 * has the text that the test passes.
 */
final class ChangedClassTest {
    private static final Path PAGE = Path.of("..", "docs", "guides", "payloads.md");

    /** As the first deploy has it. */
    public record Order(String id, int amount) {}

    /** As later deploys have it. */
    static final class Later {
        record Added(
                String id,
                int amount,
                @Nullable String note,
                @Nullable Integer discount,
                Optional<String> coupon) {}

        record AddedPrimitive(String id, int amount, int discount) {}

        record AddedList(String id, int amount, @Nullable List<String> tags) {}

        record Removed(String id) {}

        record Renamed(String id, @Nullable Integer price) {}

        record Aliased(String id, @JsonAlias("amount") int price) {}

        record Strict(String id, int amount, String note) {
            Strict {
                Objects.requireNonNull(note, "note");
            }
        }

        record Wider(String id, long amount) {}

        record AsText(String id, String amount) {}

        record AsList(String id, List<Integer> amount) {}
    }

    public enum Size {
        SMALL,
        LARGE
    }

    public enum SmallerSize {
        SMALL
    }

    public enum DefaultSize {
        SMALL,
        @JsonEnumDefaultValue
        OTHER
    }

    public sealed interface Payment {}

    public record Card(String number) implements Payment {}

    public record Cheque(String bank) implements Payment {}

    static final class Reduced {
        public sealed interface Payment {}

        public record Card(String number) implements Payment {}

        public record Giro(String bank) implements Payment {}
    }

    static final class Named {
        public sealed interface Payment {}

        @JsonTypeName("Cheque")
        public record Giro(String bank) implements Payment {}
    }

    private final JsonCodec codec = new JsonCodec();

    private static void documented(String change, String what) throws IOException {
        assertThat(Files.readString(PAGE)).contains("| %s | %s".formatted(change, what));
    }

    private @Nullable Object reread(Object value, Type then, Type now) {
        Payload recorded = codec.encode(value, then);
        return codec.decode(recorded, now);
    }

    private @Nullable Object reread(Type now) {
        return reread(new Order("o1", 5), Order.class, now);
    }

    @Test
    void an_added_field_is_empty() throws IOException {
        documented("a field is added", "it is `null`, also a list; an `Optional` is empty");
        assertThat(reread(Later.Added.class)).isEqualTo(new Later.Added("o1", 5, null, null, Optional.empty()));
        assertThat(reread(Later.AddedList.class)).isEqualTo(new Later.AddedList("o1", 5, null));
    }

    @Test
    void an_added_primitive_cannot_be_read() throws IOException {
        documented("a primitive field is added, such as an `int`", "the value cannot be read");
        assertThatThrownBy(() -> reread(Later.AddedPrimitive.class))
                .isInstanceOf(PayloadException.class)
                .hasMessageContaining("cannot be read back as " + Later.AddedPrimitive.class.getTypeName())
                .hasMessageContaining("`null` into type `int`");
    }

    @Test
    void an_added_field_that_the_constructor_requires_cannot_be_read() throws IOException {
        documented("a field is added that the constructor requires", "the value cannot be read");
        assertThatThrownBy(() -> reread(Later.Strict.class))
                .isInstanceOf(PayloadException.class)
                .hasMessageContaining("cannot be read back as " + Later.Strict.class.getTypeName())
                .hasMessageContaining("note");
    }

    @Test
    void a_removed_field_is_ignored() throws IOException {
        documented("a field is removed", "what was recorded for it is ignored");
        assertThat(reread(Later.Removed.class)).isEqualTo(new Later.Removed("o1"));
    }

    @Test
    void a_renamed_field_is_empty_unless_it_has_an_alias() throws IOException {
        documented("a field is renamed", "one is removed and one is added");
        assertThat(reread(Later.Renamed.class)).isEqualTo(new Later.Renamed("o1", null));
        documented("a field is renamed and has `@JsonAlias` with the old name", "it is read");
        assertThat(reread(Later.Aliased.class)).isEqualTo(new Later.Aliased("o1", 5));
    }

    @Test
    void a_type_may_become_wider_or_a_text_but_no_list() throws IOException {
        documented("the type of a field becomes wider", "it is read");
        assertThat(reread(Later.Wider.class)).isEqualTo(new Later.Wider("o1", 5));
        documented("a number becomes a `String`", "it is read as its digits");
        assertThat(reread(Later.AsText.class)).isEqualTo(new Later.AsText("o1", "5"));
        documented("a single value becomes a list", "the value cannot be read");
        assertThatThrownBy(() -> reread(Later.AsList.class)).isInstanceOf(PayloadException.class);
    }

    @Test
    void an_enum_constant_that_is_gone_cannot_be_read_unless_there_is_a_default() throws IOException {
        documented("a constant of an enum is gone", "the value cannot be read");
        assertThatThrownBy(() -> reread(Size.LARGE, Size.class, SmallerSize.class))
                .isInstanceOf(PayloadException.class)
                .hasMessageContaining("LARGE")
                .hasMessageContaining(SmallerSize.class.getTypeName());
        assertThat(reread(Size.SMALL, Size.class, SmallerSize.class)).isEqualTo(SmallerSize.SMALL);
        documented("the same, and `@JsonEnumDefaultValue` marks another constant", "it is read as that constant");
        assertThat(reread(Size.LARGE, Size.class, DefaultSize.class)).isEqualTo(DefaultSize.OTHER);
    }

    @Test
    void a_permitted_class_that_is_gone_cannot_be_read_unless_another_has_its_name() throws IOException {
        documented("a permitted class of a sealed type is gone or renamed", "the value cannot be read");
        assertThatThrownBy(() -> reread(new Cheque("b"), Payment.class, Reduced.Payment.class))
                .isInstanceOf(PayloadException.class)
                .hasMessageContaining("Cheque");
        documented("the same, and `@JsonTypeName` gives the old name to another one", "it is read as that one");
        assertThat(reread(new Cheque("b"), Payment.class, Named.Payment.class)).isEqualTo(new Named.Giro("b"));
    }

    @Test
    void a_class_may_move_to_another_package() throws IOException {
        documented("a class moves or gets another name", "it is read");
        assertThat(reread(
                        List.of(new Card("1")),
                        new TypeRef<List<Payment>>() {}.type(),
                        new TypeRef<List<Reduced.Payment>>() {}.type()))
                .isEqualTo(List.of(new Reduced.Card("1")));
    }
}

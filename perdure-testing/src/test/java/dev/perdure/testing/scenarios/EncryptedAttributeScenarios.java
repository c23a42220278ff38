package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.ChildOptions;
import dev.perdure.Definition;
import dev.perdure.ForkOptions;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.attribute.Attribute;
import dev.perdure.attribute.AttributeValue;
import dev.perdure.bulk.BulkAction;
import dev.perdure.bulk.ReencryptionReport;
import dev.perdure.error.DecryptionException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.payload.Compression;
import dev.perdure.payload.Encryption;
import dev.perdure.payload.EncryptionKeys;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.Times;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadPlace;
import dev.perdure.spi.payload.PayloadTransform;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Attributes that the engine encrypts. */
abstract class EncryptedAttributeScenarios extends Scenarios {
    private static final TypeRef<String> TEXT = TypeRef.of(String.class);
    private static final Duration DAY = Duration.ofDays(1);
    private static final Attribute<String> CUSTOMER = Attribute.text("customer");
    private static final Attribute<String> EMAIL = Attribute.text("email");
    private static final Attribute<Number> SALARY = Attribute.number("salary");
    private static final Attribute<Boolean> ADULT = Attribute.flag("adult");
    private static final Attribute<Instant> BORN = Attribute.time("born");
    private static final Attribute<List<String>> PHONES = Attribute.keywords("phones");
    private static final Instant BIRTHDAY = Instant.parse("1970-01-31T12:00:00Z");
    private static final EncryptionKeys BEFORE = EncryptionKeys.of("2025", Map.of("2025", key(1)));
    private static final EncryptionKeys DURING = EncryptionKeys.of("2026", Map.of("2025", key(1), "2026", key(2)));
    private static final EncryptionKeys AFTER = EncryptionKeys.of("2026", Map.of("2026", key(2)));

    private static SecretKey key(int filler) {
        byte[] bytes = new byte[32];
        Arrays.fill(bytes, (byte) filler);
        return new SecretKeySpec(bytes, "AES");
    }

    /** Keys that an operator changes while engines use them. */
    private static final class Rotating implements EncryptionKeys {
        private volatile EncryptionKeys now = BEFORE;

        @Override
        public String current() {
            return now.current();
        }

        @Override
        public Optional<SecretKey> find(String id) {
            return now.find(id);
        }
    }

    /** Encrypts attributes from a deploy on. */
    private final class Naming implements PayloadTransform {
        private final Encryption encryption;

        Naming(Encryption encryption) {
            this.encryption = encryption;
        }

        @Override
        public Payload apply(Payload encoded, PayloadPlace place) {
            return encryption.apply(encoded, place);
        }

        @Override
        public Payload undo(Payload stored, PayloadPlace place) {
            return encryption.undo(stored, place);
        }

        @Override
        public boolean hidesTexts() {
            return encryption.hidesTexts();
        }

        @Override
        public Optional<String> key() {
            return encryption.key();
        }

        @Override
        public boolean encryptsAttribute(String name) {
            return named && encryption.encryptsAttribute(name);
        }
    }

    private final Rotating keys = new Rotating();
    private volatile boolean named = true;

    private final Definition<String, String> part = workflow("part", (ctx, in) -> in);
    private final Definition<String, String> flow = workflow("flow", (ctx, in) -> {
        ctx.attribute(PHONES, List.of("1", "2"));
        ctx.attribute(CUSTOMER, "c-1");
        ctx.step("call", () -> "called");
        ctx.startChild(
                Invocation.of(part, "child"),
                ChildOptions.childId(in + " child").attribute(EMAIL, "child@example.org"));
        ctx.sleep(DAY);
        if (in.equals("once more")) {
            return "done";
        }
        throw ctx.continueAsNew("once more");
    });

    private PerdureTest engine(TestMode mode) {
        Encryption encryption =
                Encryption.with(keys).attributes(EMAIL, SALARY, ADULT).attributes(BORN, PHONES);
        PerdureTest perdure = create(mode)
                .maxInlineBytes(100)
                .transform(Compression.over(9000).then(new Naming(encryption)));
        perdure.register(flow, part);
        return perdure;
    }

    private static StartOptions described(String id) {
        return id(id).attribute(EMAIL, "anna@example.org")
                .attribute(SALARY, 1200)
                .attribute(ADULT, true)
                .attribute(BORN, BIRTHDAY);
    }

    private static <T> Optional<T> of(Run<?> run, Attribute<T> attribute) {
        return run.info().description().get(attribute);
    }

    /** What a process without the keys sees. No run may be at work, because the keys are away for a moment. */
    private AttributeValue sealed(Run<?> run, Attribute<?> attribute) {
        EncryptionKeys present = keys.now;
        keys.now = EncryptionKeys.of("none", Map.of("none", key(9)));
        try {
            return run.info().description().attributes().get(attribute.name());
        } finally {
            keys.now = present;
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NORMAL", "SUSPEND_AT_EVERY_WAIT", "THREE_WORKERS"})
    void they_are_seen_with_the_key_and_hidden_without_it(TestMode mode) {
        try (PerdureTest perdure = engine(mode)) {
            Run<String> run = perdure.start(Invocation.of(flow, "first"), described("run"));
            perdure.schedules()
                    .put(Schedule.of("parts", Times.every(DAY), Invocation.of(part, "scheduled"))
                            .options(StartOptions.defaults().attribute(EMAIL, "schedule@example.org")));
            perdure.advance(DAY.plusHours(1));
            Run<?> child = perdure.run(RunId.of("first child"), TEXT);
            Run<?> scheduled = perdure.run(
                    perdure.runs(RunFilter.all().schedule("parts"))
                            .list()
                            .getFirst()
                            .id(),
                    TEXT);

            assertThat(of(run, EMAIL)).contains("anna@example.org");
            assertThat(of(run, SALARY).orElseThrow().intValue()).isEqualTo(1200);
            assertThat(of(run, ADULT)).contains(true);
            assertThat(of(run, BORN)).contains(BIRTHDAY);
            assertThat(of(run, PHONES)).contains(List.of("1", "2"));
            assertThat(of(child, EMAIL)).contains("child@example.org");
            assertThat(of(scheduled, EMAIL)).contains("schedule@example.org");
            assertThat(perdure.runs(RunFilter.all().where(CUSTOMER.is("c-1"))).list())
                    .extracting(info -> info.description().get(EMAIL).orElseThrow())
                    .containsExactly("anna@example.org");
            for (Attribute<?> each : List.of(EMAIL, SALARY, ADULT, BORN, PHONES)) {
                assertThat(sealed(run, each)).isInstanceOf(AttributeValue.Encrypted.class);
            }
            assertThat(sealed(run, CUSTOMER)).isEqualTo(new AttributeValue.Text("c-1"));
            assertThat(sealed(child, EMAIL)).isInstanceOf(AttributeValue.Encrypted.class);
            assertThat(sealed(scheduled, EMAIL)).isInstanceOf(AttributeValue.Encrypted.class);
            perdure.advance(DAY);
            assertThat(run.result()).isEqualTo("done");
            assertThat(of(run, EMAIL)).contains("anna@example.org");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NORMAL", "THREE_WORKERS"})
    void without_the_key_a_typed_read_says_so_and_a_fork_is_refused(TestMode mode) {
        try (PerdureTest perdure = engine(mode)) {
            Run<String> run = perdure.start(Invocation.of(part, "in"), described("run"));
            run.result();
            keys.now = AFTER;
            assertThatThrownBy(() -> of(run, EMAIL))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage("The attribute 'email' of the run is encrypted, and this process cannot decrypt it. "
                            + "Read it through an engine whose transform has the key.");
            assertThatThrownBy(() -> run.fork(ForkOptions.from(1).input("in").id("fork")))
                    .isInstanceOf(DecryptionException.class)
                    .hasMessageContaining("of run 'run' is encrypted with the key '2025'");
            assertThat(perdure.runs(RunFilter.all().idPrefix("fork")).list()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NORMAL", "THREE_WORKERS"})
    void no_run_is_found_by_them(TestMode mode) {
        try (PerdureTest perdure = engine(mode)) {
            RunFilter filter = RunFilter.all().where(CUSTOMER.is("c-1")).where(EMAIL.is("anna@example.org"));
            assertThatThrownBy(() -> perdure.runs(filter).list())
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage(
                            "The attribute 'email' is encrypted, so no run is found by it. Find the runs by another "
                                    + "attribute: for example, start them with a keyed hash of 'email' too, and look for the hash.");
            assertThatThrownBy(() -> perdure.runs(filter).count()).isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> perdure.runs(filter).start(BulkAction.cancel("all")))
                    .isInstanceOf(InvalidRequestException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NORMAL", "THREE_WORKERS"})
    void a_fork_has_its_own_copy(TestMode mode) {
        try (PerdureTest perdure = engine(mode)) {
            Run<String> run = perdure.start(Invocation.of(flow, "once more"), described("run"));
            perdure.advance(DAY);
            assertThat(run.result()).isEqualTo("done");
            Run<String> fork = run.fork(ForkOptions.from(4).id("fork"));
            assertThat(of(fork, EMAIL)).contains("anna@example.org");
            assertThat(of(fork, PHONES)).contains(List.of("1", "2"));
            perdure.advance(DAY);
            assertThat(fork.result()).isEqualTo("done");
            assertThat(sealed(fork, EMAIL)).isNotEqualTo(sealed(run, EMAIL));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NORMAL", "THREE_WORKERS"})
    void a_fork_encrypts_what_was_in_clear_before_the_transform_named_it(TestMode mode) {
        try (PerdureTest perdure = engine(mode)) {
            named = false;
            Run<String> run = perdure.start(Invocation.of(part, "in"), described("run"));
            run.result();
            named = true;
            assertThat(sealed(run, EMAIL)).isEqualTo(new AttributeValue.Text("anna@example.org"));
            Run<String> fork = run.fork(ForkOptions.from(1).id("fork"));
            fork.result();
            for (Attribute<?> each : List.of(EMAIL, SALARY, ADULT, BORN)) {
                assertThat(sealed(fork, each)).isInstanceOf(AttributeValue.Encrypted.class);
            }
            assertThat(of(fork, EMAIL)).contains("anna@example.org");
            assertThat(of(fork, BORN)).contains(BIRTHDAY);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NORMAL", "THREE_WORKERS"})
    void an_old_key_can_be_thrown_away(TestMode mode) {
        try (PerdureTest perdure = engine(mode)) {
            Run<String> run = perdure.start(Invocation.of(flow, "once more"), described("run"));
            perdure.advance(DAY);
            assertThat(run.result()).isEqualTo("done");
            keys.now = DURING;
            ReencryptionReport report =
                    perdure.encryptedValues().reencrypt("2026").result();
            assertThat(report.left()).isEmpty();
            keys.now = AFTER;
            assertThat(of(run, EMAIL)).contains("anna@example.org");
            assertThat(of(run, PHONES)).contains(List.of("1", "2"));
            assertThat(of(perdure.run(RunId.of("once more child"), TEXT), EMAIL))
                    .contains("child@example.org");
        }
    }
}

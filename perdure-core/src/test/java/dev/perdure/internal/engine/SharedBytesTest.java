package dev.perdure.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.StepBody;
import dev.perdure.TypeRef;
import dev.perdure.internal.json.JsonCodec;
import dev.perdure.memory.MemoryStore;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.ObjectHandle;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import dev.perdure.spi.Codec;
import dev.perdure.spi.change.Payload;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A codec that passes byte arrays through as they are does not let two pieces of code share one. */
public final class SharedBytesTest {
    /** Hands out and takes the very array of a payload. */
    private static final class PassingThrough implements Codec {
        private final Codec others = new JsonCodec();

        @Override
        public Payload encode(@Nullable Object value, Type type) {
            return value instanceof byte[] bytes ? new Payload(bytes) : others.encode(value, type);
        }

        @Override
        public @Nullable Object decode(Payload payload, Type type) {
            return type == byte[].class ? payload.bytes() : others.decode(payload, type);
        }

        @Override
        public @Nullable Object verify(@Nullable Object value, Payload payload, Type type) {
            return type == byte[].class ? payload.bytes() : others.verify(value, payload, type);
        }

        @Override
        public void check(Type type) {
            others.check(type);
        }
    }

    /** Keeps bytes. */
    @VirtualObject("bytes-keeper")
    public static final class Keeper {
        private static final StateKey<byte[]> KEPT = StateKey.of("kept", byte[].class);

        /** Changes its array after it was set. */
        @Handler
        public int keep(ObjectContext ctx) {
            byte[] kept = {1};
            ctx.set(KEPT, kept);
            kept[0] = 9;
            return kept.length;
        }

        /** Changes what it was given and sets nothing. */
        @Handler
        public int look(ObjectContext ctx) {
            byte[] kept = ctx.get(KEPT).orElseThrow();
            int seen = kept[0];
            kept[0] = 9;
            return seen;
        }
    }

    private static final TypeRef<byte[]> BYTES = new TypeRef<>() {};

    private static final Definition<byte[], String> FLOW =
            Definition.of("bytes-flow", byte[].class, String.class, (ctx, input) -> {
                byte[] made = {1};
                byte[] result = ctx.step("make", StepBody.returning(BYTES, () -> made));
                made[0] = 9;
                byte[] again = ctx.step("again", StepBody.returning(BYTES, () -> result));
                result[0] = 9;
                String seen = input[0] + " " + again[0];
                input[0] = 9;
                return seen;
            });

    private static Perdure engine() {
        return Perdure.on(new MemoryStore())
                .codec(new PassingThrough())
                .register(new Keeper())
                .register(FLOW)
                .start();
    }

    @Test
    void a_call_does_not_change_the_state_without_setting_it() {
        try (Perdure engine = engine()) {
            ObjectHandle<Keeper> keeper = engine.object(Keeper.class, "k");
            keeper.call(Keeper::keep);
            assertThat(keeper.call(Keeper::look)).isEqualTo(1);
            assertThat(keeper.call(Keeper::look)).isEqualTo(1);
            assertThat(keeper.state().get(Keeper.KEPT).orElseThrow()).containsExactly(1);
        }
    }

    @Test
    void a_run_does_not_change_what_was_recorded_nor_its_callers_input() {
        try (Perdure engine = engine()) {
            byte[] input = {1};
            assertThat(engine.start(Invocation.of(FLOW, input)).result()).isEqualTo("1 1");
            assertThat(input).containsExactly(1);
        }
    }
}

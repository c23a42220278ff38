package dev.perdure.testing;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.dag.DagRun;
import dev.perdure.error.ClosedException;
import dev.perdure.memory.MemoryStore;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A request meets an engine that a fault has just killed. */
final class ForwardingPerdureTest {
    private static final Definition<String, String> ECHO =
            Definition.of("echo", String.class, String.class, (ctx, text) -> text);

    /** Gives one engine after another, and the last one for ever. */
    private static final class Engines extends ForwardingPerdure {
        private final Deque<Perdure> engines;

        Engines(Perdure... engines) {
            this.engines = new ArrayDeque<>(List.of(engines));
        }

        @Override
        Perdure engine() {
            return engines.size() > 1 ? engines.removeFirst() : engines.getFirst();
        }

        @Override
        <R extends @Nullable Object> Run<R> lasting(Run<R> run) {
            return run;
        }

        @Override
        <O extends @Nullable Object> DagRun<O> lasting(DagRun<O> run) {
            return run;
        }

        @Override
        public void close() {
            engines.forEach(Perdure::close);
        }
    }

    private static Perdure engine(MemoryStore store) {
        return Perdure.on(store).register(ECHO).start();
    }

    @Test
    void the_next_engine_gets_a_request_that_a_killed_one_refuses() {
        MemoryStore store = new MemoryStore();
        Perdure killed = engine(store);
        killed.close();
        try (Perdure perdure = new Engines(killed, engine(store))) {
            assertThat(perdure.start(Invocation.of(ECHO, "hello"), id("a")).result())
                    .isEqualTo("hello");
        }
    }

    @Test
    void a_closed_engine_with_none_after_it_refuses() {
        Perdure closed = engine(new MemoryStore());
        closed.close();
        try (Perdure perdure = new Engines(closed)) {
            assertThatThrownBy(() -> perdure.start(Invocation.of(ECHO, "hello"), id("a")))
                    .isInstanceOf(ClosedException.class)
                    .hasMessageContaining("This engine is closed");
        }
    }
}

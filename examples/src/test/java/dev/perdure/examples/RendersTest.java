package dev.perdure.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.TypeRef;
import dev.perdure.memory.MemoryStore;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class RendersTest {
    @Test
    void a_film_waits_for_a_machine_that_can_render_it() {
        List<String> done = new CopyOnWriteArrayList<>();
        Renders.Studio studio = new Renders.Studio() {
            @Override
            public void frames(String film) {
                done.add("frames of " + film);
            }

            @Override
            public String trailer(String film) {
                done.add("trailer of " + film);
                return film + ".mp4";
            }
        };
        MemoryStore store = new MemoryStore();
        try (Perdure plain = Perdure.on(store).register(new Renders(studio)).start()) {
            Run<String> run = Renders.start(plain, new Renders.Film("metropolis", "eu"));
            assertThat(run.state()).isEqualTo(RunState.READY);
            assertThat(run.info().reason())
                    .contains("No live worker of the queue 'default' has the labels 'gpu=true', 'memory>=16'.");
            try (Perdure gpu = Renders.worker(store, studio, 32).start()) {
                assertThat(gpu.run(run.id(), TypeRef.of(String.class)).result()).isEqualTo("metropolis.mp4");
            }
            assertThat(done).containsExactly("frames of metropolis", "trailer of metropolis");
        }
    }
}

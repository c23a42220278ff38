package dev.perdure.dag;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.error.RunFailedException;
import dev.perdure.memory.MemoryStore;
import org.junit.jupiter.api.Test;

/** A DAG that a process starts by its name without having it. */
class DagByNameTest {
    @Test
    @SuppressWarnings("try") // the worker only has to be there
    void a_run_that_was_started_without_its_tasks_fails_with_the_remedy() {
        Dag<String, String> dag = Dag.of("dag", String.class, builder -> builder.task("only", t -> t.input()));
        try (MemoryStore store = new MemoryStore();
                Perdure worker = Perdure.on(store).register(dag).start();
                Perdure client = Perdure.on(store).client()) {
            client.start(Invocation.of("dag", "x", TypeRef.of(String.class)), StartOptions.id("run"));
            Run<String> run = worker.run(RunId.of("run"), TypeRef.of(String.class));
            assertThatThrownBy(run::result)
                    .isInstanceOf(RunFailedException.class)
                    .hasMessageContaining(
                            "Run 'run' of DAG 'dag' has no tasks: a process in which the DAG is not registered started it by its name. Register the DAG in that process, or start it with Invocation.of(dag, input).");
        }
    }
}

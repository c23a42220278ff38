package dev.perdure.simulation.scene;

import dev.perdure.Invocation;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Events from a caller and from a run, for runs that wait for them now: each at most once, in the order in which they
 * were emitted.
 */
public final class Events implements Scene {
    private static final Topic<Integer> STOCK = Topic.of("stock", Integer.class);
    private static final int EACH = 4;

    private final Cast cast;
    private final Map<Integer, Integer> reached = new TreeMap<>();

    /** For one history. */
    public Events(Cast cast) {
        this.cast = cast;
    }

    /** The workflows. */
    public static final class Code {
        private final Events scene;

        Code(Events scene) {
            this.scene = scene;
        }

        /** Waits for events of one key, and of any key. */
        @Workflow("watcher")
        public List<Integer> watch(WorkflowContext ctx, String key) {
            List<Integer> seen = new ArrayList<>();
            for (int i = 0; i < EACH; i++) {
                var event = key.isEmpty() ? ctx.event(STOCK) : ctx.event(STOCK.key(key));
                event.await(Duration.ofMinutes(10)).ifPresent(seen::add);
            }
            return seen;
        }

        /** Emits events. */
        @Workflow("emitter")
        public void emit(WorkflowContext ctx) {
            for (int i = 0; i < EACH; i++) {
                ctx.step("work", () -> scene.cast.pause());
                ctx.emit(STOCK.key("eu"), 1_000 + i);
            }
        }
    }

    @Override
    public void register() {
        cast.register(new Code(this));
    }

    @Override
    public void play() {
        cast.perdure().start(Code::watch, "eu", StartOptions.id("watcher-eu"));
        cast.perdure().start(Code::watch, "", StartOptions.id("watcher-any"));
        cast.perdure().start(Invocation.of(Code::emit), StartOptions.id("emitter"));
        for (int i = 0; i < 2 * EACH; i++) {
            cast.pauseUpTo(Duration.ofMillis(40));
            reached.put(i, cast.perdure().emit(STOCK.key(i % 2 == 0 ? "eu" : "us"), i));
        }
    }

    @Override
    public void check() {
        Map<Integer, Integer> saw = new TreeMap<>();
        for (String id : List.of("watcher-eu", "watcher-any")) {
            if (!cast.completed(id)) {
                continue;
            }
            List<Integer> seen = cast.result(id, new TypeRef<List<Integer>>() {});
            seen.forEach(value -> saw.merge(value, 1, Integer::sum));
            for (boolean ofRun : new boolean[] {false, true}) {
                List<Integer> mine =
                        seen.stream().filter(value -> value >= 1_000 == ofRun).toList();
                for (int i = 1; i < mine.size(); i++) {
                    int before = mine.get(i - 1);
                    // A run that its worker loses between an emit and its record emits again.
                    Cast.must(before < mine.get(i) || (ofRun && before == mine.get(i)), "%s saw %s.", id, seen);
                }
            }
            Cast.must(
                    id.endsWith("any") || seen.stream().allMatch(value -> value >= 1_000 || value % 2 == 0),
                    "%s saw events of other keys: %s",
                    id,
                    seen);
        }
        // A watcher may also get an event and time out before it has looked.
        reached.forEach((value, count) -> {
            int times = saw.getOrDefault(value, 0);
            Cast.must(
                    times <= count,
                    "The event %s was seen by %s runs, and its caller was told %s.",
                    value,
                    times,
                    count);
        });
    }
}

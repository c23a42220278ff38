package dev.perdure.simulation.scene;

import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Calls of virtual objects: each call adds itself to the list of its object. */
public final class Counters implements Scene {
    private static final StateKey<List<String>> CALLS = StateKey.of("calls", new TypeRef<List<String>>() {});

    private final Cast cast;
    private final int keys;
    private final int calls;
    private final List<String> names = new ArrayList<>();

    /** For one history. */
    public Counters(Cast cast) {
        this.cast = cast;
        this.keys = (int) cast.choices().between(1, 2);
        this.calls = (int) cast.choices().between(2, 6);
    }

    /** The object. */
    @VirtualObject("counter")
    public static final class Counter {
        private final Counters scene;

        Counter(Counters scene) {
            this.scene = scene;
        }

        /** Adds a name and gives its place. */
        @Handler
        public int add(ObjectContext ctx, String name) {
            List<String> all = new ArrayList<>(ctx.get(CALLS).orElse(List.of()));
            all.add(name);
            if (name.endsWith("s")) {
                ctx.step("slow", () -> scene.cast.pause());
            }
            ctx.set(CALLS, all);
            return all.size();
        }
    }

    @Override
    public void register() {
        cast.register(new Counter(this));
    }

    @Override
    public void play() {
        cast.together(() -> send("a"), () -> send("b"));
    }

    private void send(String caller) {
        for (int i = 0; i < calls; i++) {
            String name = "call-" + caller + i + (cast.choices().oneIn(3) ? "s" : "");
            names.add(name);
            String key = "key-" + cast.choices().pick(keys);
            if (cast.choices().oneIn(3)) {
                cast.pauseUpTo(Duration.ofMillis(20));
            }
            cast.perdure().object(Counter.class, key).send(Counter::add, key + " " + name, StartOptions.id(key + name));
        }
    }

    @Override
    public void check() {
        for (int k = 0; k < keys; k++) {
            String key = "key-" + k;
            List<String> all =
                    cast.perdure().object(Counter.class, key).state().get(CALLS).orElse(List.of());
            int completed = 0;
            for (String name : names) {
                String id = key + name;
                if (cast.completed(id)) {
                    completed++;
                    int place = cast.result(id, Integer.class);
                    Cast.must(
                            place <= all.size() && all.get(place - 1).equals(key + " " + name),
                            "The call %s was number %s, and the object has %s.",
                            id,
                            place,
                            all);
                }
            }
            Cast.must(completed == all.size(), "%s calls of %s completed, and it has %s.", completed, key, all);
        }
    }
}

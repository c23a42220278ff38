package dev.perdure.simulation.scene;

import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.error.RunFailedException;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Objects whose calls set, clear and clear all, some after a delay: the calls that completed explain each other's answers. */
public final class Safes implements Scene {
    private static final StateKey<Integer> NUMBER = StateKey.of("number", Integer.class);
    private static final StateKey<String> LEFT = StateKey.of("left", String.class);
    private static final StateKey<String> RIGHT = StateKey.of("right", String.class);
    private static final String KEY = "safe";
    private static final String HALF = "half done ";

    private final Cast cast;
    private final int calls;
    private final List<String> names = new ArrayList<>();
    private final Map<String, List<String>> answered = new TreeMap<>();

    /** For one history. */
    public Safes(Cast cast) {
        this.cast = cast;
        this.calls = (int) cast.choices().between(3, 8);
    }

    /** The object. */
    @VirtualObject("safe")
    public static final class Safe {
        private final Safes scene;

        Safe(Safes scene) {
            this.scene = scene;
        }

        /** Does what the name says; gives its number, and what was there. */
        @Handler
        public List<String> use(ObjectContext ctx, String name) {
            int number = ctx.get(NUMBER).orElse(0) + 1;
            String left = ctx.get(LEFT).orElse("-");
            String right = ctx.get(RIGHT).orElse("-");
            if (name.startsWith("slow")) {
                ctx.set(LEFT, HALF + name);
                ctx.step("slow", () -> scene.cast.pause());
            }
            if (name.endsWith("all")) {
                ctx.clearAll();
            } else if (name.endsWith("clear")) {
                ctx.clear(LEFT);
            } else {
                ctx.set(LEFT, name);
                ctx.set(RIGHT, name);
            }
            ctx.set(NUMBER, number);
            return List.of(String.valueOf(number), left, right);
        }
    }

    @Override
    public void register() {
        cast.register(new Safe(this));
    }

    @Override
    public void play() {
        cast.together(() -> send("x"), () -> send("y"), () -> send("z"), () -> call("v"), () -> call("w"));
    }

    /** Calls one after another and waits for each answer: next to a worker, such calls run before the store knows them. */
    private void call(String caller) {
        for (int i = 0; i < calls; i++) {
            String name = "fast" + caller + i + cast.choices().pick(List.of("set", "set", "clear", "all"));
            try {
                answered.put(name, cast.perdure().object(Safe.class, KEY).call(Safe::use, name));
            } catch (RunFailedException ended) {
                return; // by an operator
            }
        }
    }

    private void send(String caller) {
        for (int i = 0; i < calls; i++) {
            String name = (cast.choices().oneIn(4) ? "slow" : "fast")
                    + caller
                    + i
                    + cast.choices().pick(List.of("set", "set", "clear", "all"));
            names.add(name);
            StartOptions options = StartOptions.id(KEY + name);
            boolean later = cast.choices().oneIn(5);
            cast.perdure()
                    .object(Safe.class, KEY)
                    .send(Safe::use, name, later ? options.delay(Duration.ofMillis(50)) : options);
        }
    }

    @Override
    public void check() {
        TreeMap<Integer, List<String>> answers = new TreeMap<>();
        TreeMap<Integer, String> order = new TreeMap<>(Comparator.naturalOrder());
        for (String name : names) {
            if (cast.completed(KEY + name)) {
                answered.put(name, cast.result(KEY + name, new TypeRef<List<String>>() {}));
            }
        }
        answered.forEach((name, answer) -> {
            int number = Integer.parseInt(answer.getFirst());
            String other = order.put(number, name);
            Cast.must(other == null, "Two calls of the safe are number %d: %s and %s.", number, other, name);
            answers.put(number, answer);
        });
        String left = "-";
        String right = "-";
        int expected = 1;
        for (var each : order.entrySet()) {
            List<String> answer = answers.getOrDefault(each.getKey(), List.of());
            // What a call has set before its last step stays, also when it was cancelled then.
            if (answer.size() == 3
                    && answer.get(1).startsWith(HALF)
                    && !cast.completed(KEY + answer.get(1).substring(HALF.length()))) {
                left = answer.get(1);
            }
            Cast.must(
                    answer.equals(List.of(String.valueOf(expected), left, right)),
                    "Call %d of the safe, %s, found %s instead of %s and %s; all: %s",
                    expected,
                    each.getValue(),
                    answer,
                    left,
                    right,
                    order);
            boolean sets = each.getValue().endsWith("set");
            boolean all = each.getValue().endsWith("all");
            left = sets ? each.getValue() : "-";
            right = sets ? each.getValue() : all ? "-" : right;
            expected++;
        }
    }
}

package dev.perdure.simulation.scene;

import dev.perdure.Perdure;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.error.RunFailedException;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.ObjectState;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Objects whose calls set, clear and clear all, some after a delay: the calls that completed explain each other's
 * answers.
 */
public final class Safes implements Scene {
    private static final StateKey<Integer> NUMBER = StateKey.of("number", Integer.class);
    private static final StateKey<String> LEFT = StateKey.of("left", String.class);
    private static final StateKey<String> RIGHT = StateKey.of("right", String.class);
    private static final String KEY = "safe";
    private static final String HALF = "half done ";

    private final Cast cast;
    private final int calls;
    private final List<List<String>> answered = new ArrayList<>();
    private int asked;

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

        /** Does what the name says; gives its number, what was there, and its name. */
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
            return List.of(String.valueOf(number), left, right, name);
        }
    }

    @Override
    public void register() {
        cast.register(new Safe(this));
    }

    @Override
    public void play() {
        cast.together(() -> send("x"), () -> send("y"), () -> send("z"), this::callers);
    }

    /** Callers that wait for their answers. Next to a worker, their calls run before the store knows them. */
    private void callers() {
        if (cast.choices().oneIn(2)) {
            cast.callElsewhere(true, perdure -> cast.together(() -> call(perdure, "v"), () -> call(perdure, "w")));
        } else {
            cast.together(() -> call(cast.perdure(), "v"), () -> call(cast.perdure(), "w"));
        }
    }

    private void call(Perdure perdure, String caller) {
        for (int i = 0; i < calls; i++) {
            // Another process may ask again, so that the place alone is not a name.
            String name = (cast.choices().oneIn(8) ? "slow" : "fast")
                    + caller
                    + i
                    + "-"
                    + ++asked
                    + cast.choices().pick(List.of("set", "set", "clear", "all"));
            try {
                answered.add(perdure.object(Safe.class, KEY).call(Safe::use, name));
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
        for (RunInfo run : cast.runs("safe/")) {
            if (run.state() == RunState.COMPLETED) {
                List<String> answer = cast.result(run.id().value(), new TypeRef<List<String>>() {});
                List<String> other = answers.put(Integer.valueOf(answer.getFirst()), answer);
                Cast.must(other == null, "Two calls of the safe have one number: %s and %s.", other, answer);
            }
        }
        Set<String> completed = answers.values().stream().map(List::getLast).collect(Collectors.toSet());
        for (List<String> answer : answered) {
            List<String> kept = answers.get(Integer.valueOf(answer.getFirst()));
            Cast.must(answer.equals(kept), "A caller was given %s, and the store has %s.", answer, kept);
        }
        String left = "-";
        String right = "-";
        int expected = 1;
        for (List<String> answer : answers.values()) {
            String name = answer.getLast();
            // What a call has set before its last step stays, also when it was cancelled then.
            if (answer.get(1).startsWith(HALF)
                    && !completed.contains(answer.get(1).substring(HALF.length()))) {
                left = answer.get(1);
            }
            Cast.must(
                    answer.equals(List.of(String.valueOf(expected), left, right, name)),
                    "Call %s of the safe, %s, found %s instead of %s and %s; all: %s",
                    expected,
                    name,
                    answer,
                    left,
                    right,
                    answers);
            boolean sets = name.endsWith("set");
            left = sets ? name : "-";
            right = sets ? name : name.endsWith("all") ? "-" : right;
            expected++;
        }
        checkState(left, right, completed);
    }

    /** The object is left as its last call left it. */
    private void checkState(String left, String right, Set<String> completed) {
        ObjectState state = cast.perdure().object(Safe.class, KEY).state();
        String found = state.get(LEFT).orElse("-");
        boolean half = found.startsWith(HALF) && !completed.contains(found.substring(HALF.length()));
        Cast.must(half || found.equals(left), "The safe has %s on the left instead of %s.", found, left);
        String other = state.get(RIGHT).orElse("-");
        Cast.must(other.equals(right), "The safe has %s on the right instead of %s.", other, right);
    }
}

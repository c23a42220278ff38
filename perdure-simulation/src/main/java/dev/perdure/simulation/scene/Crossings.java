package dev.perdure.simulation.scene;

import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.error.RunFailedException;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.VirtualObject;
import java.time.Duration;

/** Two objects whose calls call each other: if both hold their own key, one of them has to be refused. */
public final class Crossings implements Scene {
    private static final String PASSED = "passed";

    private final Cast cast;

    /** For one history. */
    public Crossings(Cast cast) {
        this.cast = cast;
    }

    /** The object. */
    @VirtualObject("crossing")
    public static final class Crossing {
        private final Crossings scene;

        Crossing(Crossings scene) {
            this.scene = scene;
        }

        /** Holds its own key, and calls the other. */
        @Handler
        public String cross(ObjectContext ctx, String other) {
            ctx.step("hold", () -> scene.cast.pause());
            try {
                return ctx.object(Crossing.class, other).call(Crossing::pass);
            } catch (RunFailedException refused) {
                return "refused";
            }
        }

        /** Gets through when the other has let go. */
        @Handler
        public String pass(ObjectContext ctx) {
            return PASSED;
        }
    }

    @Override
    public void register() {
        cast.register(new Crossing(this));
    }

    @Override
    public void play() {
        cast.call(
                perdure -> perdure.object(Crossing.class, "a").send(Crossing::cross, "b", StartOptions.id("cross-a")));
        if (cast.choices().oneIn(2)) {
            cast.pauseUpTo(Duration.ofMillis(10));
        }
        cast.perdure().object(Crossing.class, "b").send(Crossing::cross, "a", StartOptions.id("cross-b"));
    }

    @Override
    public void check() {
        if (!cast.completed("cross-a") || !cast.completed("cross-b")) {
            return; // an operator was there
        }
        boolean operated = cast.runs("crossing/").stream().anyMatch(run -> run.state() == RunState.CANCELLED);
        Cast.must(
                operated
                        || PASSED.equals(cast.result("cross-a", String.class))
                        || PASSED.equals(cast.result("cross-b", String.class)),
                "Both calls were refused.");
    }
}

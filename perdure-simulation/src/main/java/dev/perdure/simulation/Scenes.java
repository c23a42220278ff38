package dev.perdure.simulation;

import dev.perdure.simulation.scene.Alerts;
import dev.perdure.simulation.scene.BulkActions;
import dev.perdure.simulation.scene.Cast;
import dev.perdure.simulation.scene.Counters;
import dev.perdure.simulation.scene.Crossings;
import dev.perdure.simulation.scene.Dags;
import dev.perdure.simulation.scene.Events;
import dev.perdure.simulation.scene.Families;
import dev.perdure.simulation.scene.Imports;
import dev.perdure.simulation.scene.LimitedSteps;
import dev.perdure.simulation.scene.Limits;
import dev.perdure.simulation.scene.Mistakes;
import dev.perdure.simulation.scene.Orders;
import dev.perdure.simulation.scene.Passings;
import dev.perdure.simulation.scene.Payments;
import dev.perdure.simulation.scene.Questions;
import dev.perdure.simulation.scene.Recurring;
import dev.perdure.simulation.scene.Retries;
import dev.perdure.simulation.scene.Safes;
import dev.perdure.simulation.scene.Scene;
import dev.perdure.simulation.scene.Talks;
import java.util.Set;
import java.util.function.Function;

/** The scenes that histories are made of, with the rare kinds of changes, moves and effects that each of them makes. */
@SuppressWarnings("ImmutableEnumChecker") // what makes a scene is a constructor, and the set cannot be changed
enum Scenes {
    ORDERS(Orders::new),
    TALKS(
            Talks::new,
            "Effect.Deliver",
            "Effect.Publish",
            "Effect.SetAttribute",
            "Effect.SetStatus",
            "Effect.Take",
            "Change.Deliver"),
    QUESTIONS(Questions::new, "Effect.Awakeable", "Effect.Take", "Change.Deliver", "Move.Restart"),
    COUNTERS(Counters::new, "Effect.SetState"),
    DAGS(Dags::new, "Change.Rerun"),
    FAMILIES(Families::new, "Effect.Start", "Effect.Cancel", "Move.Restart"),
    PAYMENTS(Payments::new),
    EVENTS(Events::new, "Effect.Subscribe", "Effect.Take", "Change.Deliver"),
    SAFES(
            Safes::new,
            "Effect.SetState",
            "Effect.ClearState",
            "Effect.ClearAllState",
            "Move.Arrive",
            "Change.CompletedCall"),
    LIMITS(Limits::new),
    LIMITED_STEPS(LimitedSteps::new),
    RETRIES(Retries::new, "Change.Retry", "Change.Fork", "Change.Repair"),
    BULK_ACTIONS(BulkActions::new, "Change.Reassign", "Change.Retry"),
    RECURRING(Recurring::new, "Effect.Start", "Effect.Take", "Effect.Cancel", "Change.Deliver"),
    MISTAKES(Mistakes::new, "Move.Pause", "Move.Recover"),
    CROSSINGS(Crossings::new, "Effect.Start"),
    PASSINGS(Passings::new, "Effect.Start"),
    ALERTS(Alerts::new),
    IMPORTS(Imports::new);

    private final Function<Cast, Scene> make;
    private final Set<String> kinds;

    Scenes(Function<Cast, Scene> make, String... kinds) {
        this.make = make;
        this.kinds = Set.of(kinds);
    }

    /** Made anew for each history. */
    Scene make(Cast cast) {
        return make.apply(cast);
    }

    boolean shows(String kind) {
        return kinds.contains(kind);
    }
}

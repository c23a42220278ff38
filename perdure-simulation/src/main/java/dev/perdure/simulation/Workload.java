package dev.perdure.simulation;

import dev.perdure.simulation.scene.Cast;
import dev.perdure.simulation.scene.Counters;
import dev.perdure.simulation.scene.Dags;
import dev.perdure.simulation.scene.Events;
import dev.perdure.simulation.scene.Families;
import dev.perdure.simulation.scene.Limits;
import dev.perdure.simulation.scene.Operator;
import dev.perdure.simulation.scene.Orders;
import dev.perdure.simulation.scene.Payments;
import dev.perdure.simulation.scene.Questions;
import dev.perdure.simulation.scene.Safes;
import dev.perdure.simulation.scene.Scene;
import dev.perdure.simulation.scene.Talks;
import dev.perdure.spi.Store;
import dev.perdure.testing.internal.simulation.Histories;
import dev.perdure.testing.internal.simulation.World;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** One to three scenes at once, and the invariants after them. */
public final class Workload {
    private static final List<Function<Cast, Scene>> SCENES = List.of(
            Orders::new,
            Talks::new,
            Questions::new,
            Counters::new,
            Dags::new,
            Families::new,
            Payments::new,
            Events::new,
            Safes::new,
            Limits::new);
    private static final int MOST_SCENES = 3;

    private Workload() {}

    /** Histories of this workload. */
    public static Histories histories() {
        return histories(UnaryOperator.identity(), UnaryOperator.identity(), new Coverage());
    }

    /**
     * Histories of this workload with a defect.
     *
     * @param store puts it in front of the store
     * @param seen puts it in front of the store as each process sees it
     * @param coverage is told what they cover
     */
    static Histories histories(UnaryOperator<Store> store, UnaryOperator<Store> seen, Coverage coverage) {
        return new Histories(World.Shared.with(real -> new Records(store.apply(real)), seen), world -> {
            run(world);
            if (world.store() instanceof Records records) {
                coverage.add(world, records);
            }
        });
    }

    private static void run(World world) {
        Cast cast = new Cast(world);
        List<Function<Cast, Scene>> left = new ArrayList<>(SCENES);
        List<Scene> scenes = new ArrayList<>();
        int count = (int) world.choices().between(1, MOST_SCENES);
        for (int i = 0; i < count; i++) {
            scenes.add(left.remove(world.choices().pick(left.size())).apply(cast));
        }
        if (world.choices().oneIn(3)) {
            scenes.add(new Operator(cast));
        }
        scenes.forEach(Scene::register);
        world.client();
        world.together(scenes.stream().<Runnable>map(scene -> scene::play).toList());
        world.calm();
        Invariants invariants = new Invariants(world);
        invariants.awaitEnd();
        scenes.forEach(Scene::check);
        cast.check();
        invariants.check();
    }
}

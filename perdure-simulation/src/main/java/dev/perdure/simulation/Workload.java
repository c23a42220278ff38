package dev.perdure.simulation;

import dev.perdure.simulation.scene.Cast;
import dev.perdure.simulation.scene.Operator;
import dev.perdure.simulation.scene.Scene;
import dev.perdure.spi.Store;
import dev.perdure.testing.internal.simulation.Aim;
import dev.perdure.testing.internal.simulation.Choices;
import dev.perdure.testing.internal.simulation.Fault;
import dev.perdure.testing.internal.simulation.Histories;
import dev.perdure.testing.internal.simulation.World;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** One to three scenes at once, and the invariants after them. */
public final class Workload {
    private static final int MOST_SCENES = 3;

    private Workload() {}

    /** Histories of this workload. */
    public static Histories histories() {
        return histories(new Coverage());
    }

    /** Histories of this workload, which say what they cover. */
    static Histories histories(Coverage coverage) {
        return histories(coverage, UnaryOperator.identity(), UnaryOperator.identity());
    }

    /**
     * Histories of this workload with a defect.
     *
     * @param coverage is told what they cover
     * @param store puts it in front of the store
     * @param seen puts it in front of the store as each process sees it
     */
    static Histories histories(Coverage coverage, UnaryOperator<Store> store, UnaryOperator<Store> seen) {
        return new Histories(World.Shared.with(real -> new Records(store.apply(real)), seen), world -> {
            run(world);
            if (world.store() instanceof Records records) {
                coverage.add(world, records);
            }
        });
    }

    private static void run(World world) {
        Cast cast = new Cast(world);
        List<Scene> played = drawn(world.choices()).stream()
                .map(scene -> scene.make(cast))
                .collect(ArrayList::new, List::add, List::addAll);
        if (world.choices().oneIn(3) || cast.isAimedAt("Change.Command")) {
            played.add(new Operator(cast));
        }
        played.forEach(Scene::register);
        world.versions(2);
        if (world.choices().oneIn(6)) {
            world.keepApart();
        }
        world.client();
        world.together(played.stream().<Runnable>map(scene -> scene::play).toList());
        world.calm();
        Invariants invariants = new Invariants(world);
        invariants.awaitEnd();
        world.awaitLateCalls();
        played.forEach(Scene::check);
        cast.check();
        invariants.check();
    }

    /** A few scenes; one of them shows what the history aims at. */
    private static List<Scenes> drawn(Choices choices) {
        List<Scenes> left = new ArrayList<>(List.of(Scenes.values()));
        List<Scenes> drawn = new ArrayList<>();
        Aim aim = choices.aim();
        List<Scenes> showing = aim == null
                ? List.of()
                : left.stream().filter(scene -> scene.shows(aim.kind())).toList();
        if (!showing.isEmpty()) {
            Scenes one = choices.pick(showing);
            left.remove(one);
            drawn.add(one);
        }
        // Its bodies take longer than a lease then.
        if (aim != null && aim.fault() == Fault.RENEWAL_MISSED && left.remove(Scenes.ORDERS)) {
            drawn.add(Scenes.ORDERS);
        }
        int count = (int) choices.between(1, MOST_SCENES);
        while (drawn.size() < count) {
            drawn.add(left.remove(choices.pick(left.size())));
        }
        return drawn;
    }
}

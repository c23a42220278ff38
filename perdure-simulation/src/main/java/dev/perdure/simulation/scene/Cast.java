package dev.perdure.simulation.scene;

import dev.perdure.Perdure;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.TypeRef;
import dev.perdure.queue.Queue;
import dev.perdure.retention.Retention;
import dev.perdure.spi.Codec;
import dev.perdure.spi.Runs;
import dev.perdure.spi.Store;
import dev.perdure.testing.internal.simulation.Aim;
import dev.perdure.testing.internal.simulation.Choices;
import dev.perdure.testing.internal.simulation.Fault;
import dev.perdure.testing.internal.simulation.World;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** What scenes need of the world. */
public final class Cast {
    private static final int MOST_RUNS = 10_000;

    private final World world;
    private final Bodies bodies;
    private final Set<String> killed = new TreeSet<>();
    private final List<String> failures = new ArrayList<>();

    /** For scenes in this world. */
    public Cast(World world) {
        this.world = world;
        this.bodies = new Bodies(world);
    }

    void register(Object... registrations) {
        world.register(registrations);
    }

    Perdure perdure() {
        return world.client();
    }

    /**
     * Lets a process of its own do this, now and then: it may die before it has an answer, and then another one asks
     * again.
     */
    void call(Consumer<Perdure> code) {
        Aim aim = choices().aim();
        if (choices().oneIn(aim != null && aim.kind().startsWith("Change.") ? 2 : 4)) {
            callElsewhere(choices().oneIn(2), code);
        } else {
            code.accept(perdure());
        }
    }

    /**
     * Lets a process of its own do this.
     *
     * @param worker whether it runs workflows, too
     */
    void callElsewhere(boolean worker, Consumer<Perdure> code) {
        world.caller(worker, code);
    }

    /** Whether this history aims a fault at this kind of change. */
    public boolean isAimedAt(String kind) {
        Aim aim = choices().aim();
        return aim != null && aim.kind().equals(kind);
    }

    /** Whether this history aims this fault at some change. */
    boolean isAimedWith(Fault fault) {
        Aim aim = choices().aim();
        return aim != null && aim.fault() == fault;
    }

    Choices choices() {
        return world.choices();
    }

    Instant now() {
        return world.now();
    }

    /** A moment in which others run, and in which the worker may die. */
    void pause() {
        pause(Duration.ZERO);
    }

    void pause(Duration time) {
        Bodies.Body body = bodies.begin();
        try {
            world.pause(time);
            bodies.goOn(body).ifPresent(this::fail);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted");
        } finally {
            bodies.end(body);
        }
    }

    /** Whether the process of the caller has died, and this is only what it leaves behind. */
    boolean isDead() {
        return world.here().isDead();
    }

    /** Runs callers at the same time. */
    void together(Runnable... callers) {
        world.together(List.of(callers));
    }

    /** Up to this long. */
    void pauseUpTo(Duration most) {
        pause(Duration.ofNanos(choices().between(1, most.toNanos())));
    }

    /** Declares a queue; workers take runs from it. */
    void declare(Queue queue) {
        world.declare(queue);
    }

    /** How long runs are kept. */
    void retention(Retention retention) {
        world.retention(retention);
    }

    /** Puts something in front of the codec. */
    void codec(UnaryOperator<Codec> front) {
        world.codec(front);
    }

    /** The store itself, without a network. */
    Store store() {
        return world.store();
    }

    /** An operator has killed this run, so its code may have had no chance to tidy up. */
    void killed(RunId id) {
        killed.add(id.value());
    }

    boolean isKilled(String id) {
        return killed.contains(id);
    }

    /** Something that must never happen has happened in a body, where an exception would only fail the body. */
    void fail(String what) {
        failures.add(what);
    }

    /** Checks that nothing went wrong in bodies. */
    public void check() {
        must(failures.isEmpty(), "%s", String.join("\n", failures));
    }

    /** The states that a run has entered. */
    List<Runs.Entered> history(String id) {
        return store().runs()
                .find(RunId.of(id))
                .map(found -> store().runs().entered(found.ref()))
                .orElse(List.of());
    }

    Optional<RunInfo> info(String id) {
        return world.store().runs().find(RunId.of(id)).map(found -> found.info());
    }

    boolean completed(String id) {
        return info(id).map(info -> info.state() == RunState.COMPLETED).orElse(false);
    }

    /** All runs of definitions that begin like this. */
    List<RunInfo> runs(String definition) {
        return store().runs().list(RunFilter.all().limit(MOST_RUNS)).stream()
                .filter(run -> run.definition().startsWith(definition))
                .toList();
    }

    /** The result of a completed run. */
    <T> T result(String id, Class<T> type) {
        return perdure().run(RunId.of(id), TypeRef.of(type)).result();
    }

    /** The same, for types that a class does not tell. */
    <T> T result(String id, TypeRef<T> type) {
        return perdure().run(RunId.of(id), type).result();
    }

    /** Checks that something holds. */
    @SuppressWarnings("AnnotateFormatMethod") // that annotation would be a dependency of its own
    static void must(boolean holds, String what, @Nullable Object... values) {
        if (!holds) {
            throw new AssertionError(String.format(Locale.ROOT, what, values));
        }
    }
}

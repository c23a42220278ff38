package dev.perdure.simulation.scene;

import dev.perdure.Invocation;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.StepOptions;
import dev.perdure.TypeRef;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.CancelledException;
import dev.perdure.spi.Codec;
import dev.perdure.spi.change.Payload;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Code that is wrong, some of it only for a while: it does not match its journal, throws errors,
 * catches what it must not catch, or fails with what its codec cannot encode.
 */
public final class Mistakes implements Scene {
    private static final String CHANGED = "changed";
    private static final String SECRETIVE = "secretive";
    private static final String SWALLOWING = "swallowing";
    private static final String FAILING = "failing";
    private static final String SECRET = "This must not be read by everyone.";

    private final Cast cast;
    private final Set<String> passed = new TreeSet<>();
    private final Map<String, Integer> bodies = new TreeMap<>();
    private int unreadable;
    private boolean broken = true;

    /** For one history. */
    public Mistakes(Cast cast) {
        this.cast = cast;
        // After ten recoveries without progress the store pauses a run.
        this.unreadable = cast.choices().oneIn(4) ? 12 : (int) cast.choices().between(1, 3);
    }

    /**
     * A codec of the application that cannot encode one failure for a while, so that the engine cannot carry that run
     * on.
     */
    private final class Keyless implements Codec {
        private final Codec codec;

        Keyless(Codec codec) {
            this.codec = codec;
        }

        @Override
        public Payload encode(@Nullable Object value, Type type) {
            if (unreadable > 0 && String.valueOf(value).contains(SECRET)) {
                unreadable--;
                throw new IllegalStateException("The codec has no key.");
            }
            return codec.encode(value, type);
        }

        @Override
        public @Nullable Object decode(Payload payload, Type type) {
            return codec.decode(payload, type);
        }

        @Override
        public @Nullable Object verify(@Nullable Object value, Payload payload, Type type) {
            return codec.verify(value, payload, type);
        }

        @Override
        public void check(Type type) {
            codec.check(type);
        }
    }

    /** The workflows. */
    public static final class Code {
        private final Mistakes scene;

        Code(Mistakes scene) {
            this.scene = scene;
        }

        /** While it is broken, it begins with another step than the one that it has recorded. */
        @Workflow(CHANGED)
        public int changed(WorkflowContext ctx) {
            String id = ctx.runId().value();
            if (scene.broken && scene.passed.contains(id)) {
                ctx.step("another", () -> scene.body(id + " another"));
            }
            ctx.step("first", () -> scene.body(id + " first"));
            scene.passed.add(id);
            ctx.sleep(Duration.ofSeconds(2));
            ctx.step("last", () -> scene.body(id + " last"));
            return 1;
        }

        /** Fails, with what the codec cannot encode for a while. */
        @Workflow(SECRETIVE)
        public int failSecretly(WorkflowContext ctx) {
            String id = ctx.runId().value();
            ctx.step("first", () -> scene.body(id + " first"));
            throw new IllegalStateException(SECRET);
        }

        /** While it is broken, it catches what unwinds it, and goes on. */
        @Workflow(SWALLOWING)
        public int swallow(WorkflowContext ctx) {
            int naps = 0;
            while (naps < 2) {
                try {
                    ctx.sleep(Duration.ofSeconds(2));
                    naps++;
                } catch (CancelledException cancelled) {
                    throw cancelled;
                } catch (Throwable thrown) {
                    if (!scene.broken || scene.cast.isDead()) {
                        throw thrown;
                    }
                }
            }
            return naps;
        }

        /** Its body throws an error each time, not an exception. */
        @Workflow(FAILING)
        public int fail(WorkflowContext ctx) {
            return ctx.step("load", () -> scene.load(ctx.runId() + " load"), StepOptions.retry(2));
        }
    }

    private int load(String name) {
        body(name);
        throw new LinkageError("A class is missing.");
    }

    private void body(String name) {
        bodies.merge(name, 1, Integer::sum);
        cast.pause();
    }

    @Override
    public void register() {
        cast.register(new Code(this));
        cast.codec(Keyless::new);
    }

    @Override
    public void play() {
        cast.perdure().start(Invocation.of(Code::failSecretly), StartOptions.id(SECRETIVE));
        cast.perdure().start(Invocation.of(Code::changed), StartOptions.id(CHANGED));
        cast.perdure().start(Invocation.of(Code::swallow), StartOptions.id(SWALLOWING));
        cast.perdure().start(Invocation.of(Code::fail), StartOptions.id(FAILING));
        for (int i = 0; i < 20 && !(isPausedOrOver(CHANGED) && isPausedOrOver(SWALLOWING)); i++) {
            cast.pause(Duration.ofMillis(500));
        }
        broken = false;
        for (String id : new String[] {CHANGED, SWALLOWING}) {
            cast.call(perdure ->
                    perdure.run(RunId.of(id), TypeRef.of(Object.class)).resume());
        }
    }

    private boolean isPausedOrOver(String id) {
        return cast.info(id)
                .filter(info -> info.state() == RunState.PAUSED || info.state().isTerminal())
                .isPresent();
    }

    @Override
    public void check() {
        for (String id : new String[] {CHANGED, SECRETIVE, SWALLOWING, FAILING}) {
            RunState state = cast.info(id).orElseThrow().state();
            RunState right = id.equals(FAILING) || id.equals(SECRETIVE) ? RunState.FAILED : RunState.COMPLETED;
            Cast.must(state == right || state == RunState.CANCELLED, "%s is %s.", id, state);
        }
        Cast.must(!cast.completed(CHANGED) || bodies.containsKey(CHANGED + " last"), "Only %s ran.", bodies);
        Cast.must(
                !bodies.containsKey(CHANGED + " another"),
                "Code that did not match its journal ran a body: %s.",
                bodies);
    }
}

package dev.perdure.simulation.scene;

import static dev.perdure.StepOptions.limit;

import dev.perdure.DurableFuture;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.LimiterInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Steps that share a limiter. */
public final class LimitedSteps implements Scene {
    private static final String LIMITER = "partner";

    private final Cast cast;
    private final Limiter limiter;
    private final int count;
    private final Set<String> ran = new TreeSet<>();

    /** For one history. */
    public LimitedSteps(Cast cast) {
        this.cast = cast;
        this.count = (int) cast.choices().between(2, 6);
        Limiter limited =
                Limiter.named(LIMITER).concurrency((int) cast.choices().between(1, 2));
        this.limiter = cast.choices().oneIn(3) ? limited.rate(3, Duration.ofSeconds(2)) : limited;
    }

    /** The workflow. */
    public static final class Code {
        private final LimitedSteps scene;

        Code(LimitedSteps scene) {
            this.scene = scene;
        }

        /** A limited step, a sleep, and limited steps beside each other. */
        @Workflow("limited-steps")
        public int work(WorkflowContext ctx, int number) {
            String id = ctx.runId().value();
            ctx.step("one", () -> scene.body(id + "/one"), limit(scene.limiter));
            ctx.sleep(Duration.ofMillis(5));
            List<DurableFuture<Integer>> beside = new ArrayList<>();
            for (int i = 0; i < number % 3; i++) {
                String step = id + "/" + i;
                beside.add(ctx.stepAsync("beside", () -> scene.body(step), limit(scene.limiter)));
            }
            beside.forEach(DurableFuture::await);
            return number;
        }
    }

    /** A worker that has lost its run may still be in a body of it, so what counts is what the store has. */
    private int body(String step) {
        ran.add(step);
        checkLimit();
        cast.pause();
        checkLimit();
        return 1;
    }

    private void checkLimit() {
        info().ifPresent(info -> {
            if (info.held() > limiter.concurrency().orElse(Limiter.UNLIMITED)) {
                cast.fail("%s steps hold permits of %s.".formatted(info.held(), limiter));
            }
        });
    }

    private Optional<LimiterInfo> info() {
        return cast.store().permits().find(LIMITER);
    }

    private static String id(int i) {
        return "limited-steps-" + i;
    }

    @Override
    public void register() {
        cast.register(new Code(this));
    }

    @Override
    public void play() {
        for (int i = 0; i < count; i++) {
            int number = i;
            cast.call(perdure -> perdure.start(Code::work, number, StartOptions.id(id(number))));
            if (cast.choices().oneIn(2)) {
                cast.pauseUpTo(Duration.ofMillis(20));
            }
        }
    }

    @Override
    public void check() {
        info().ifPresent(info ->
                Cast.must(info.held() == 0 && info.waiting() == 0, "Permits are held or waited for: %s", info));
        for (int i = 0; i < count; i++) {
            RunState state = cast.info(id(i)).orElseThrow().state();
            Cast.must(state == RunState.COMPLETED || state == RunState.CANCELLED, "%s is %s.", id(i), state);
            Cast.must(state == RunState.CANCELLED || ran.contains(id(i) + "/one"), "%s ended without its step.", id(i));
        }
    }
}

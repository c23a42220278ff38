package dev.perdure.simulation.scene;

import dev.perdure.Awakeable;
import dev.perdure.Perdure;
import dev.perdure.StartOptions;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.AlreadyResolvedException;
import dev.perdure.error.RunEndedException;
import dev.perdure.error.UnknownTokenException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Awakeables: a run asks in each of its lives, and callers answer with the token of that life, or of an earlier one.
 */
public final class Questions implements Scene {
    private static final int LIVES = 3;

    private final Cast cast;
    private final List<String> tokens = new ArrayList<>();
    private final List<Integer> lives = new ArrayList<>();

    /** For one history. */
    public Questions(Cast cast) {
        this.cast = cast;
    }

    /** The workflow. */
    public static final class Code {
        private final Questions scene;

        Code(Questions scene) {
            this.scene = scene;
        }

        /** Asks, and begins anew with each answer. */
        @Workflow("question")
        public int ask(WorkflowContext ctx, int life) {
            Awakeable<Integer> question = ctx.awakeable(Integer.class);
            ctx.step("hand out", () -> scene.handOut(question.token(), life));
            int answer = question.await();
            if (answer != life) {
                throw new AssertionError("Life %s got the answer of life %s.".formatted(life, answer));
            }
            if (life < LIVES) {
                throw ctx.continueAsNew(life + 1);
            }
            return answer;
        }
    }

    private void handOut(String token, int life) {
        cast.pause();
        tokens.add(token);
        lives.add(life);
    }

    @Override
    public void register() {
        cast.register(new Code(this));
    }

    @Override
    public void play() {
        cast.perdure().start(Code::ask, 1, StartOptions.id("question"));
        int quiet = 0;
        while (quiet < 200
                && cast.info("question")
                        .filter(info -> info.state().isTerminal())
                        .isEmpty()) {
            cast.pauseUpTo(Duration.ofMillis(400));
            quiet++;
            // The newest token most of the time, an old one now and then.
            if (!tokens.isEmpty()) {
                int which = cast.choices().oneIn(3) ? cast.choices().pick(tokens.size()) : tokens.size() - 1;
                String token = tokens.get(which);
                int life = lives.get(which);
                cast.call(perdure -> resolve(perdure, token, life));
            }
        }
    }

    private static void resolve(Perdure perdure, String token, int life) {
        try {
            perdure.resolve(token, life);
        } catch (UnknownTokenException | AlreadyResolvedException | RunEndedException answered) {
            // a token is good for one answer, in one life
        }
    }

    @Override
    public void check() {
        cast.info("question")
                .filter(info -> !info.state().name().equals("CANCELLED"))
                .ifPresent(info ->
                        Cast.must(cast.completed("question"), "The question is %s: %s", info.state(), info.reason()));
    }
}

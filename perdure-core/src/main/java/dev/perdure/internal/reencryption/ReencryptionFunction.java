package dev.perdure.internal.reencryption;

import dev.perdure.RetryPolicy;
import dev.perdure.StepOptions;
import dev.perdure.WorkflowContext;
import dev.perdure.bulk.ReencryptionReport;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.execution.EngineContext;
import dev.perdure.internal.payload.PayloadCodec;
import dev.perdure.internal.reencryption.ReencryptionState.Rewritten;
import dev.perdure.internal.text.Reserved;
import dev.perdure.spi.Store;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The run that encrypts all values anew.
 *
 * <p>How it works. The run makes passes over all values. Each step of a pass reads some values that other keys encrypt,
 * encrypts them with the present key, and replaces those whose bytes are still the same. A pass may leave values that
 * another transaction was changing, or that were copied to where it had been already. So another pass follows one that
 * has found something, until a pass finds nothing, or replaces nothing of what it finds. What the last pass has found is
 * what is left.
 *
 * <p>A worker that crashes in a step leaves some values replaced; the step then finds the others. After some steps the
 * run begins anew, so that its journal stays short.
 */
public final class ReencryptionFunction implements Registered.Function {
    /** The definition. Every worker that encrypts has it. It is stored, so it never changes. */
    public static final String DEFINITION = "perdure.reencryption";

    /** What the ids of such runs begin with. */
    public static final String PREFIX = Reserved.REENCRYPTION;

    /** If a pass still finds values then, a process writes with another key all the time. */
    private static final int MOST_PASSES = 5;

    private static final int STEPS_OF_A_LIFE = 50;
    /** Only trouble of the store or a defect of ours fails such a step, and neither is a reason to give up. */
    private static final StepOptions PATIENT =
            StepOptions.retry(RetryPolicy.standard().attempts(Integer.MAX_VALUE));

    private final ValueRewriter rewriter;

    /** For the values of this store. */
    public ReencryptionFunction(Store store, PayloadCodec codec) {
        this.rewriter = new ValueRewriter(store, codec);
    }

    /** As a definition. */
    public Registered registered() {
        return new Registered(target(), "re-encryption of the engine", this);
    }

    /** The name and types. */
    public static Registered.Target target() {
        return new Registered.Target(DEFINITION, ReencryptionState.class, ReencryptionReport.class);
    }

    @Override
    public Object call(WorkflowContext ctx, @Nullable Object input) {
        EngineContext engine = (EngineContext) ctx;
        ReencryptionState state = (ReencryptionState) Objects.requireNonNull(input);
        for (int step = 0; step < STEPS_OF_A_LIFE; step++) {
            ReencryptionState now = state;
            requireKey(engine, now.key());
            state = now.plus((Rewritten) Objects.requireNonNull(engine.perform(
                    "rewrite", Rewritten.class, () -> rewriter.rewrite(now.key(), now.reached()), PATIENT)));
            boolean passed = state.reached().isEmpty();
            if (passed && isLast(state)) {
                ctx.status("ended: " + state.total());
                return state.total();
            }
            ctx.status("pass %s: %s".formatted(state.pass(), state.total()));
            state = passed ? state.nextPass() : state;
        }
        throw ctx.continueAsNew(state);
    }

    /** Another key would undo what other workers do. */
    private void requireKey(EngineContext engine, String key) {
        String mine = rewriter.key();
        if (!mine.equals(key)) {
            throw engine.stop(
                    "A worker encrypts with the key '%s', and all values are to be encrypted with '%s'. Let all processes encrypt with that key, then resume the run."
                            .formatted(mine, key));
        }
    }

    private static boolean isLast(ReencryptionState state) {
        ReencryptionReport report = state.report();
        return report.left().isEmpty() || report.replaced() == 0 || state.pass() == MOST_PASSES;
    }
}

package dev.perdure.internal.interception;

import dev.perdure.RunId;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.interceptor.Interceptor;
import dev.perdure.interceptor.StartCall;
import dev.perdure.interceptor.StepCall;
import dev.perdure.interceptor.WorkflowCall;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.NewRun;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** The interceptors of an engine: the first is the outermost. Without any, nothing is made and nothing is called. */
public final class Interceptors {
    /** No interceptors. */
    public static final Interceptors NONE = new Interceptors(List.of());

    private final List<Interceptor> all;

    private Interceptors(List<Interceptor> all) {
        this.all = all;
    }

    /** These, the outermost first. */
    public static Interceptors of(List<Interceptor> interceptors) {
        return interceptors.isEmpty() ? NONE : new Interceptors(List.copyOf(interceptors));
    }

    /** Whether there are any that are told of runs of this definition. */
    public boolean concern(String definition) {
        return !all.isEmpty() && !definition.startsWith(Runs.OF_THE_ENGINE);
    }

    /**
     * The run with the headers that the interceptors give it.
     *
     * @param run the run, with the headers of the one that starts it
     * @param startedBy the run that starts it, if it is one
     */
    public NewRun start(NewRun run, Optional<RunId> startedBy) {
        if (!concern(run.definition())) {
            return run;
        }
        Map<String, String> inherited = run.description().headers();
        StartCall call = new StartCall(run.id(), run.definition(), run.queue(), startedBy, inherited);
        for (Interceptor interceptor : all) {
            StartCall changed = interceptor.start(call);
            if (changed == null) {
                throw new InvalidRequestException(
                        "The interceptor %s returned null for the start of run '%s'. Return the call, with or without other headers."
                                .formatted(interceptor.getClass().getName(), run.id()));
            }
            call = changed;
        }
        return call.headers().equals(inherited)
                ? run
                : run.describedAs(run.description().withHeaders(call.headers()));
    }

    /**
     * Runs the code of a workflow with the interceptors around it. Returns what the code returns and throws what it
     * throws.
     *
     * @throws UncalledException if the code was not called
     */
    public @Nullable Object workflow(WorkflowCall call, Code code) throws Throwable {
        EnteredCode entered = new EnteredCode(call, code);
        try {
            Callable<@Nullable Object> wrapped = entered;
            for (Interceptor interceptor : all.reversed()) {
                wrapped = interceptor.workflow(call, wrapped);
            }
            wrapped.call();
        } catch (Throwable thrown) { // Only the code decides how its run goes on.
            return entered.outcome(thrown);
        }
        return entered.outcome(null);
    }

    /** The body with the interceptors around it. */
    public <T extends @Nullable Object> Callable<T> step(StepCall call, Callable<T> body) {
        try {
            Callable<T> wrapped = body;
            for (Interceptor interceptor : all.reversed()) {
                wrapped = interceptor.step(call, wrapped);
            }
            return wrapped;
        } catch (RuntimeException | Error thrown) {
            return () -> {
                throw thrown;
            };
        }
    }

    /** The code of a workflow. */
    @FunctionalInterface
    public interface Code {
        /** Runs it. Throws what the user's code throws. */
        @Nullable
        Object call() throws Throwable;
    }
}

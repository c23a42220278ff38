package dev.perdure.internal.interception;

import dev.perdure.RunId;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.interceptor.Interceptor;
import dev.perdure.interceptor.SendCall;
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

/**
 * The interceptors of an engine: the first is the outermost. Around all of them, the MDC is set. Without any, nothing is
 * made and nothing is called.
 */
public final class Interceptors {
    /** No interceptors. */
    public static final Interceptors NONE = new Interceptors(List.of(), LoggingContext.NONE);

    private final List<Interceptor> all;
    private final LoggingContext logging;

    private Interceptors(List<Interceptor> all, LoggingContext logging) {
        this.all = List.copyOf(all);
        this.logging = logging;
    }

    /** These, the outermost first, and around them the MDC if the logging library has one. */
    public static Interceptors of(List<Interceptor> interceptors) {
        return new Interceptors(interceptors, LoggingContext.ofLibrary());
    }

    /** Whether there are any around the code of runs of this definition. */
    public boolean concern(String definition) {
        return !all.isEmpty() && !isOfTheEngine(definition);
    }

    /** What the code of runs of this definition has in the MDC. */
    public LoggingContext logging(String definition) {
        return isOfTheEngine(definition) ? LoggingContext.NONE : logging;
    }

    private static boolean isOfTheEngine(String definition) {
        return definition.startsWith(Runs.OF_THE_ENGINE);
    }

    /**
     * The run with the headers that the interceptors give it.
     *
     * @param run the run, with the headers of the one that starts it
     * @param startedBy the run that starts it, if it is one
     */
    public NewRun start(NewRun run, Optional<RunId> startedBy) {
        if (all.isEmpty() || isOfTheEngine(run.definition())) {
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
     * The headers that the interceptors give something that is sent to a run.
     *
     * @param to the run that gets it, if the sender knows it
     * @param sentBy the run that sends it, if it is one
     */
    public Map<String, String> send(SendCall.Kind kind, String name, Optional<RunId> to, Optional<RunId> sentBy) {
        if (all.isEmpty() || isOfTheEngine(name)) {
            return Map.of();
        }
        SendCall call = new SendCall(kind, name, to, sentBy, Map.of());
        for (Interceptor interceptor : all) {
            SendCall changed = interceptor.send(call);
            if (changed == null) {
                throw new InvalidRequestException(
                        "The interceptor %s returned null for a message, an answer or an event. Return the call, with or without other headers."
                                .formatted(interceptor.getClass().getName()));
            }
            call = changed;
        }
        return call.headers();
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
            for (int i = all.size() - 1; i >= 0; i--) {
                wrapped = all.get(i).workflow(call, wrapped);
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
            for (int i = all.size() - 1; i >= 0; i--) {
                wrapped = all.get(i).step(call, wrapped);
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

package dev.perdure.internal.interception;

import dev.perdure.error.ContextMisuseException;
import dev.perdure.interceptor.WorkflowCall;
import dev.perdure.spi.report.EngineLog;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * The code of a run as the innermost interceptor gets it. It keeps what the code returns or throws, because only that
 * decides how the run goes on.
 */
final class EnteredCode implements Callable<@Nullable Object> {
    private static final Logger LOG = EngineLog.of("dev.perdure.run");

    private final WorkflowCall call;
    private final Interceptors.Code code;
    private final Thread own = Thread.currentThread();
    private boolean called;
    private @Nullable Object result;
    private @Nullable Throwable thrown;

    EnteredCode(WorkflowCall call, Interceptors.Code code) {
        this.call = call;
        this.code = code;
    }

    @Override
    public @Nullable Object call() throws Exception {
        if (!own.equals(Thread.currentThread()) || called) {
            throw new ContextMisuseException(
                    "An interceptor calls the code of run '%s' %s. Call it once, on the thread on which the engine calls the interceptor."
                            .formatted(call.run(), called ? "twice" : "on another thread"));
        }
        called = true;
        try {
            result = code.call();
            return result;
        } catch (Throwable fromCode) {
            thrown = fromCode;
            throw asUnchecked(fromCode);
        }
    }

    /** Lets checked exceptions through, which workflows may throw. */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <E extends Throwable> RuntimeException asUnchecked(Throwable thrown) throws E {
        throw (E) thrown;
    }

    /** What the code returned; throws what it threw. */
    @Nullable
    Object outcome(@Nullable Throwable fromInterceptors) throws Throwable {
        if (!called) {
            throw new UncalledException(call.run().value(), fromInterceptors);
        }
        if (fromInterceptors != null && fromInterceptors != thrown) {
            LOG.warn(
                    "Run {} of '{}': an interceptor failed after the code. What the code returned or threw counts.",
                    call.run(),
                    call.definition(),
                    fromInterceptors);
        }
        if (thrown != null) {
            throw thrown;
        }
        return result;
    }
}

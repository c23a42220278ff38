package dev.perdure.spring.boot;

import dev.perdure.error.DefinitionException;
import dev.perdure.error.PerdureException;
import dev.perdure.error.StoreException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Lets Spring Boot print the reason why the engine cannot start instead of a stack trace. These messages name the place
 * and say what to do; the stack trace is of the engine.
 */
final class StartFailures extends AbstractFailureAnalyzer<PerdureException> {
    @Override
    protected @Nullable FailureAnalysis analyze(Throwable root, PerdureException cause) {
        return cause instanceof DefinitionException || cause instanceof StoreException
                ? new FailureAnalysis("Perdure cannot start. " + cause.getMessage(), null, cause)
                : null;
    }
}

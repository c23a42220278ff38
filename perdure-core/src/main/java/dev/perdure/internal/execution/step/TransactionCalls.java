package dev.perdure.internal.execution.step;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.execution.host.HeldRun;
import dev.perdure.internal.execution.host.Host;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.execution.transition.ContextCalls;
import dev.perdure.internal.execution.transition.Transitions;
import dev.perdure.internal.text.Texts;
import dev.perdure.spi.Transactor;
import dev.perdure.spi.change.Entry;
import dev.perdure.transaction.TransactionBody;
import dev.perdure.transaction.TransactionOptions;
import dev.perdure.transaction.TransactionSource;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/** Transaction steps as user code calls them. */
public record TransactionCalls(HeldRun held, Host host, ContextCalls calls, Transitions transitions, Steps steps) {
    @SuppressWarnings({"unchecked", "NullAway"}) // decoded as the type that the caller declared
    public <C, T extends @Nullable Object> T perform(
            String name,
            TransactionSource<C> source,
            Type type,
            TransactionBody<C, T> body,
            TransactionOptions options) {
        Texts.requireGiven("transaction options", options);
        Texts.requireGiven("transaction source", source);
        Texts.requireName("transaction name", name);
        if (!(source instanceof Transactor<C> transactor)) {
            throw new InvalidRequestException(
                    "The source of transaction '%s' is %s, which cannot run transactions. Use one from a module for a database, such as PostgresTransactions.on(store)."
                            .formatted(name, source));
        }
        ContextCall call = calls.take("transaction", Entry.Kind.TRANSACTION, name);
        Steps.Doing doing = new TransactionAttempts<>(call, held, host, transitions, transactor, body, options);
        return (T) steps.perform(call, calls.past(call), type, doing, options.step());
    }
}

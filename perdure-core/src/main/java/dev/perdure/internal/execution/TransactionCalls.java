package dev.perdure.internal.execution;

import dev.perdure.InvalidRequestException;
import dev.perdure.TransactionBody;
import dev.perdure.TransactionOptions;
import dev.perdure.TransactionSource;
import dev.perdure.spi.Entry;
import dev.perdure.spi.Transactor;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/** Transaction steps, as user code calls them. */
record TransactionCalls(Held held, Host host, Calls calls, Transitions transitions, Steps steps) {
    @SuppressWarnings({"unchecked", "NullAway"}) // decoded as the type that the caller declared
    <C, T extends @Nullable Object> T perform(
            String name,
            TransactionSource<C> source,
            Type type,
            TransactionBody<C, T> body,
            TransactionOptions options) {
        Texts.requireName("transaction name", name);
        if (!(source instanceof Transactor<C> transactor)) {
            throw new InvalidRequestException(
                    "The source of transaction '%s' is %s, which cannot run any. Take one from a module that knows databases, such as PostgresTransactions.on(store)."
                            .formatted(name, source));
        }
        Call call = calls.take("transaction", Entry.Kind.TRANSACTION, name);
        Steps.Doing doing = new TransactionAttempts<>(call, held, host, transitions, transactor, body, options);
        return (T) steps.perform(call, calls.past(call), type, doing, options.step());
    }
}

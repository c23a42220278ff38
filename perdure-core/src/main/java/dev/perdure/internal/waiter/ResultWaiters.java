package dev.perdure.internal.waiter;

import dev.perdure.RunId;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.RunRef;
import java.util.Collection;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Callers that wait for the outcomes of runs, with one query for all of them. Runs that end in this process are
 * announced.
 */
public record ResultWaiters(Runs runs, Predicate<RunRef> here) implements Waiters.Questions<RunRef, Runs.Ended> {
    @Override
    public RunId run(RunRef key) {
        return key.id();
    }

    @Override
    public boolean isHere(RunRef key) {
        return here.test(key);
    }

    @Override
    public Map<RunRef, Runs.Ended> ask(Collection<RunRef> keys) {
        return runs.ended(keys).stream().collect(Collectors.toMap(Runs.Ended::run, Function.identity()));
    }
}

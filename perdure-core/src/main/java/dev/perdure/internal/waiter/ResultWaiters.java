package dev.perdure.internal.waiter;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.report.EngineLog;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.slf4j.Logger;

/**
 * Callers that wait for the outcomes of runs, with one query for all of them. Runs that end in this process are
 * announced.
 */
public record ResultWaiters(Runs runs, Predicate<RunRef> here) implements Waiters.Questions<RunRef, Runs.Ended> {
    private static final Logger LOG = EngineLog.of("dev.perdure.run");
    private static final Set<RunState> NOT_AT_WORK = Set.of(RunState.PENDING, RunState.READY, RunState.PAUSED);

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

    /** Says why, if it may be that nothing happens before a person acts. */
    @Override
    public void late(RunRef first, int callers) {
        runs.find(first.id())
                .map(Runs.Found::info)
                .filter(info -> NOT_AT_WORK.contains(info.state()))
                .ifPresent(info -> info.reason()
                        .ifPresent(reason -> LOG.warn(
                                "A caller has waited for run {} of '{}' for {}{}. The run is {}: {}",
                                info.id(),
                                info.definition(),
                                Waiters.LATE,
                                callers == 1 ? "" : ", as have %s others for this or other runs".formatted(callers - 1),
                                info.state(),
                                reason)));
    }
}

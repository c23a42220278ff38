package dev.perdure.spring.boot;

import dev.perdure.RunState;
import dev.perdure.spring.boot.internal.RunningEngine;
import dev.perdure.status.Finding;
import dev.perdure.status.StoreStatus;
import java.time.Instant;
import java.util.List;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

/** The endpoint {@code perdure} of the actuator: what waits, who works, and what is wrong with the store. */
@Endpoint(id = "perdure")
public final class PerdureEndpoint {
    private final RunningEngine engine;

    PerdureEndpoint(RunningEngine engine) {
        this.engine = engine;
    }

    /**
     * What the endpoint tells.
     *
     * @param worker whether this process runs workflows now
     * @param workers how many workers of all processes are alive
     * @param runs the runs that have not ended, by state
     * @param findings what is wrong with the store, and what to do
     */
    public record Report(boolean worker, int workers, List<Waiting> runs, List<Finding> findings) {}

    /**
     * The runs in a state.
     *
     * @param state the state
     * @param count how many they are
     * @param oldest the id of the one that was started first
     * @param oldestCreatedAt when that was
     */
    public record Waiting(RunState state, long count, String oldest, Instant oldestCreatedAt) {}

    /** Reads the status of the store. */
    @ReadOperation
    public Report report() {
        StoreStatus status = engine.current().status();
        return new Report(
                engine.works(),
                status.workers(),
                status.runs().stream().map(PerdureEndpoint::waiting).toList(),
                status.findings());
    }

    private static Waiting waiting(StoreStatus.InState runs) {
        return new Waiting(runs.state(), runs.count(), runs.oldest().value(), runs.oldestCreatedAt());
    }
}

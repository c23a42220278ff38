package dev.perdure.spring.boot;

import dev.perdure.RunState;
import dev.perdure.error.PerdureException;
import dev.perdure.spring.boot.internal.RunningEngine;
import dev.perdure.status.StoreStatus;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The health of the engine, for the health indicators of both generations of Spring Boot.
 *
 * @param up whether the engine runs, the store answers and, if this process runs workflows, a worker has a lease
 * @param details the workers, and what waits
 */
record EngineHealth(boolean up, Map<String, Object> details) {
    static EngineHealth of(RunningEngine engine) {
        Map<String, Object> details = new LinkedHashMap<>();
        StoreStatus status;
        try {
            status = engine.current().status();
        } catch (PerdureException unreachable) {
            details.put("error", String.valueOf(unreachable.getMessage()));
            return new EngineHealth(false, details);
        }
        details.put("worker", engine.works());
        details.put("workers", status.workers());
        status.runs().stream()
                .filter(runs -> runs.state() == RunState.READY)
                .findFirst()
                .ifPresent(ready -> {
                    details.put("ready", ready.count());
                    details.put("oldestReady", ready.oldestCreatedAt());
                });
        return new EngineHealth(!engine.works() || status.workers() > 0, details);
    }
}

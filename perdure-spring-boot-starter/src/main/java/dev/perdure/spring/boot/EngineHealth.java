package dev.perdure.spring.boot;

import dev.perdure.status.StoreHealth;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The health of the engine, for the health indicators of both generations of Spring Boot.
 *
 * @param up whether the engine runs, the store answers and, if this process runs workflows, a worker has a lease
 * @param details the workers, and what waits
 */
record EngineHealth(boolean up, Map<String, Object> details) {
    static EngineHealth of(boolean works, StoreHealth store) {
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("worker", works);
        details.put("workers", store.workers());
        details.put("ready", store.ready());
        store.oldestReady().ifPresent(since -> details.put("oldestReady", since));
        return new EngineHealth(!works || store.workers() > 0, details);
    }

    static EngineHealth down(String error) {
        return new EngineHealth(false, Map.of("error", error));
    }
}

package dev.perdure.internal.engine;

import dev.perdure.internal.check.HistoryCheck;
import dev.perdure.internal.dag.CallTargets;
import dev.perdure.internal.dag.TypedDags;
import dev.perdure.internal.definition.Registry;
import dev.perdure.internal.settings.Settings;

/** Makes checks of exported runs against the definitions of an engine. */
public final class HistoryChecks {
    private HistoryChecks() {}

    /** A check against the definitions that an engine with these settings has. It does not use the store. */
    public static HistoryCheck of(Settings settings) {
        TypedDags dags =
                new TypedDags(settings.registrations(), settings.rules().stepTypes());
        Registry registry = new Registry(
                DeclaredSchedules.definitions(dags, DeclaredSchedules.of(settings)),
                settings.rules().codec());
        return new HistoryCheck(new CallTargets(registry, dags), settings.rules());
    }
}

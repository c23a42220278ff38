package dev.perdure.internal.engine;

import dev.perdure.Operations;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.TypeRef;
import dev.perdure.bulk.EncryptedValues;
import dev.perdure.bulk.SelectedRuns;
import dev.perdure.error.UnknownRunException;
import dev.perdure.internal.command.Auditor;
import dev.perdure.internal.command.Commands;
import dev.perdure.internal.handle.RunHandle;
import dev.perdure.internal.text.Texts;
import dev.perdure.queue.Limiters;
import dev.perdure.queue.Queues;
import dev.perdure.reaction.Reactions;
import dev.perdure.retention.Retentions;
import dev.perdure.spi.Runs;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.RunRef;
import dev.perdure.version.Versions;
import org.jspecify.annotations.Nullable;

/** What one operator looks at and changes. */
final class EngineOperations implements Operations {
    private final RunHandle.Services services;
    private final Store store;
    private final Starter starter;
    private final Queues queues;
    private final EngineSchedules schedules;
    private final Limiters limiters;
    private final Versions versions;
    private final Retentions retention;
    private final Reactions reactions;

    EngineOperations(RunHandle.Services services, ScheduleWrites scheduleWrites, Starter starter) {
        Auditor auditor = services.auditor();
        this.starter = starter;
        this.services = services;
        this.store = services.settings().store();
        this.queues = new EngineQueues(store.queues(), auditor);
        this.schedules = new EngineSchedules(store.runs(), scheduleWrites, services.mailSender(), auditor);
        this.limiters = new EngineLimiters(store.permits(), auditor);
        this.versions = new EngineVersions(store.versions(), auditor);
        this.retention = new EngineRetentions(store.removals(), auditor);
        this.reactions = new EngineReactions(store.reactions(), auditor);
    }

    @Override
    public <R extends @Nullable Object> Run<R> run(RunId id, TypeRef<R> resultType) {
        Texts.requireGiven("run id", id);
        Texts.requireGiven("result type", resultType);
        return store.runs()
                .find(id)
                .map(found -> new RunHandle<R>(found.ref(), resultType.type(), services))
                .orElseThrow(() -> new UnknownRunException(
                        "There is no run '%s'. Check the id, or list the runs. A run that was started through an outbox exists when a worker has read the request."
                                .formatted(id)));
    }

    @Override
    public void rerun(RunId id) {
        Texts.requireGiven("run id", id);
        RunRef run = store.runs().find(id).map(Runs.Found::ref).orElseThrow(() -> Commands.unknown(id));
        services.commands().beginAnew(run, services.settings().clockwork().random());
    }

    @Override
    public SelectedRuns runs(RunFilter filter) {
        Texts.requireGiven("filter", filter);
        return new EngineSelectedRuns(filter, services, starter);
    }

    @Override
    public EncryptedValues encryptedValues() {
        return new EngineEncryptedValues(services, starter);
    }

    @Override
    public Queues queues() {
        return queues;
    }

    @Override
    public EngineSchedules schedules() {
        return schedules;
    }

    @Override
    public Limiters limiters() {
        return limiters;
    }

    @Override
    public Versions versions() {
        return versions;
    }

    @Override
    public Reactions reactions() {
        return reactions;
    }

    @Override
    public Retentions retention() {
        return retention;
    }
}

package dev.perdure.internal.engine;

import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.bulk.EncryptedValues;
import dev.perdure.bulk.ReencryptionReport;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.execution.value.CallTarget;
import dev.perdure.internal.handle.RunHandle;
import dev.perdure.internal.reencryption.ReencryptionFunction;
import dev.perdure.internal.reencryption.ReencryptionState;
import dev.perdure.internal.settings.Settings;
import dev.perdure.internal.text.Texts;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.payload.EncryptedPayload;

/** The encrypted values, for one operator. */
record EngineEncryptedValues(RunHandle.Services services, Starter starter) implements EncryptedValues {
    @Override
    public Run<ReencryptionReport> reencrypt(String key) {
        Texts.requireGiven("id of the key", key);
        EncryptedPayload.requireKey(key);
        Settings settings = services.settings();
        settings.rules().codec().key().filter(mine -> !mine.equals(key)).ifPresent(mine -> {
            throw new InvalidRequestException(
                    "This process encrypts with the key '%s', and not with '%s'. Let all processes encrypt with the key that stays, then name that."
                            .formatted(mine, key));
        });
        ReencryptionState state = ReencryptionState.of(key, services.auditor().operator());
        RunId id = RunId.of(ReencryptionFunction.PREFIX
                + TimeOrderedId.next(settings.clockwork()).value());
        StartOptions options = StartOptions.defaults()
                .withId(id)
                .queue(Settings.SCHEDULES_QUEUE)
                .memo(state.memo());
        RunRef run = starter.start(CallTarget.of(ReencryptionFunction.target()), state, options);
        return new RunHandle<>(run, ReencryptionReport.class, services);
    }
}

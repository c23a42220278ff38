package dev.perdure.internal.engine;

import dev.perdure.internal.text.Texts;
import dev.perdure.retention.Retention;
import dev.perdure.retention.RetentionInfo;
import dev.perdure.retention.Retentions;
import dev.perdure.spi.Removals;

/** The retention as operators see and change it, on top of the store. */
final class EngineRetentions implements Retentions {
    private final Removals removals;

    EngineRetentions(Removals removals) {
        this.removals = removals;
    }

    @Override
    public RetentionInfo info() {
        return removals.info();
    }

    @Override
    public void change(Retention retention) {
        Texts.requireGiven("retention", retention);
        removals.change(retention);
    }

    @Override
    public void reset() {
        removals.change(null);
    }
}

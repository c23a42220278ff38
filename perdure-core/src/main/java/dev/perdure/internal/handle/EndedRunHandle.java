package dev.perdure.internal.handle;

import dev.perdure.spi.Runs;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/** A handle to a call that ended before the caller got the handle, for a caller that only needs the result. */
public final class EndedRunHandle<R extends @Nullable Object> extends RunHandle<R> {
    private final Runs.Ended ended;

    public EndedRunHandle(Runs.Ended ended, Type resultType, Services services) {
        super(ended.run(), resultType, services);
        this.ended = ended;
    }

    @Override
    public R result() {
        return valueOf(ended);
    }
}

package dev.perdure.internal.execution.child;

import dev.perdure.Child;
import dev.perdure.ChildOptions.OnCancel;
import dev.perdure.RunId;
import dev.perdure.Settled;
import dev.perdure.internal.execution.future.EngineFuture;
import dev.perdure.internal.execution.future.Futures;
import dev.perdure.internal.execution.future.StartedChild;
import dev.perdure.internal.execution.mail.MailFuture;
import dev.perdure.internal.execution.mail.RunMail;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.execution.replay.Replay;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.payload.PayloadPlace;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The future of a started child and of its outcome. */
final class ChildFuture<T extends @Nullable Object> extends MailFuture<T> implements Child<T>, StartedChild {
    private final RunId id;
    private final OnCancel onCancel;

    ChildFuture(
            Futures futures,
            ContextCall call,
            Replay.Past past,
            RunMail runMail,
            Function<Entry, Settled<T>> reader,
            RunId id,
            OnCancel onCancel) {
        super(
                futures,
                call,
                past,
                new Source(Channel.answer(call.position()), PayloadPlace.result(id)),
                runMail,
                reader);
        this.id = id;
        this.onCancel = onCancel;
    }

    @Override
    public RunId id() {
        return id;
    }

    @Override
    public OnCancel onCancel() {
        return onCancel;
    }

    @Override
    public EngineFuture<?> outcome() {
        return this;
    }
}

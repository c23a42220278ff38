package dev.perdure.internal.handle;

import dev.perdure.Promise;
import dev.perdure.Topic;
import dev.perdure.error.RejectedException;
import dev.perdure.error.ResultUnavailableException;
import dev.perdure.internal.command.MailSender;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.internal.settings.Settings;
import dev.perdure.internal.waiter.ProgressWaiters;
import dev.perdure.internal.waiter.Waiters;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.payload.PayloadPlace;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A promise of a run, for code outside the run. */
record PromiseHandle<T extends @Nullable Object>(
        RunRef run,
        Topic<T> name,
        Settings settings,
        Waiters<ProgressWaiters.Wanted, ProgressWaiters.Seen> progress,
        MailSender mailSender)
        implements Promise<T> {
    @Override
    public void resolve(T value) {
        mailSender.deliver(run.id(), mailSender.resolution(run.id(), name, value));
    }

    @Override
    public void reject(String reason) {
        mailSender.deliver(run.id(), mailSender.rejection(run.id(), name, reason));
    }

    @Override
    public Optional<T> peek() {
        return settings.store().mailboxes().promise(run, name.name()).flatMap(mail -> Optional.ofNullable(value(mail)));
    }

    @Override
    public T await(Duration timeout) {
        try {
            if (progress.await(
                            new ProgressWaiters.Settlement(new Mailboxes.Promised(run, name.name())),
                            WaitLimit.nanos(timeout))
                    instanceof ProgressWaiters.Settled settled) {
                return value(settled.mail());
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        throw new ResultUnavailableException(
                "Promise '%s' of run '%s' is not settled after %s. Wait again, or settle it."
                        .formatted(name, run.id(), timeout));
    }

    @SuppressWarnings({"unchecked", "NullAway"}) // decoded as the promise's own type
    private T value(Mail mail) {
        if (mail.status() == Entry.Status.FAILURE) {
            throw new RejectedException(mail.text());
        }
        return (T) Values.read(
                settings.rules().codec().at(PayloadPlace.promise(run.id(), name.name())),
                mail.payload(),
                name.type(),
                () -> "Promise '%s' of run '%s'".formatted(name, run.id()));
    }
}

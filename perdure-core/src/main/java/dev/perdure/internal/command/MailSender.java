package dev.perdure.internal.command;

import dev.perdure.RunId;
import dev.perdure.Topic;
import dev.perdure.audit.AuditEntry.Action;
import dev.perdure.audit.AuditEntry.Subject;
import dev.perdure.error.AlreadyResolvedException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.PayloadException;
import dev.perdure.error.PerdureException;
import dev.perdure.error.RunEndedException;
import dev.perdure.error.UnknownRunException;
import dev.perdure.error.UnknownTokenException;
import dev.perdure.interceptor.SendCall.Kind;
import dev.perdure.internal.execution.host.Emission;
import dev.perdure.internal.execution.value.Tokens;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.internal.settings.Settings;
import dev.perdure.internal.text.Texts;
import dev.perdure.internal.worker.MailChanges;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.Mailboxes.Address;
import dev.perdure.spi.Mailboxes.Arrived;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.payload.PayloadPlace;
import java.lang.reflect.Type;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Delivers mail from callers outside to runs: messages, values of promises and awakeables, events. */
public final class MailSender {
    /** Small enough for one batch, so that the mails of one call stay in order. */
    private static final int CHUNK = 500;

    private static final int PAGE_BYTES = 1 << 16;

    private final Settings settings;
    private final Commits commits;
    private final Values values;

    public MailSender(Settings settings, Commits commits) {
        this.settings = settings;
        this.commits = commits;
        this.values = new Values(settings.rules().codec(), settings.rules().maxPayloadBytes());
    }

    UUID token() {
        return new UUID(settings.clockwork().random(), settings.clockwork().random());
    }

    public <T extends @Nullable Object> Mail message(RunId to, Topic<T> topic, T value) {
        PayloadPlace place = PayloadPlace.message(to, topic.name());
        return Mail.value(
                        Channel.message(topic.name()),
                        token(),
                        encode(place, value, topic.type(), "the message for '" + topic + "'"))
                .withHeaders(headers(Kind.MESSAGE, topic.name(), to));
    }

    public <T extends @Nullable Object> Mail resolution(RunId to, Topic<T> promise, T value) {
        PayloadPlace place = PayloadPlace.promise(to, promise.name());
        return Mail.value(
                        Channel.promise(promise.name()),
                        token(),
                        encode(place, value, promise.type(), "the value of promise '" + promise + "'"))
                .withHeaders(headers(Kind.PROMISE, promise.name(), to));
    }

    public Mail rejection(RunId to, Topic<?> promise, String reason) {
        Texts.requireReason(reason);
        return Mail.failure(Channel.promise(promise.name()), token(), reason, Payload.EMPTY)
                .withHeaders(headers(Kind.PROMISE, promise.name(), to));
    }

    private Map<String, String> headers(Kind kind, String name, @Nullable RunId to) {
        return settings.rules().interceptors().send(kind, name, Optional.ofNullable(to), Optional.empty());
    }

    private Mail answer(int position, Payload payload) {
        return Mail.value(Channel.answer(position), token(), payload).withHeaders(headers(Kind.AWAKEABLE, "", null));
    }

    private Mail rejected(int position, String reason) {
        return Mail.failure(Channel.answer(position), token(), reason, Payload.EMPTY)
                .withHeaders(headers(Kind.AWAKEABLE, "", null));
    }

    private Payload encode(PayloadPlace place, @Nullable Object value, Type type, String what) {
        return values.at(place).store(value, type, what).payload();
    }

    private Payload answer(Address address, @Nullable Object value) {
        Type type = value == null ? Object.class : value.getClass();
        PayloadPlace place = PayloadPlace.answer(address.run(), address.position());
        return encode(place, value, type, "the value of an awakeable");
    }

    public void deliver(RunId to, Mail mail) {
        deliverAll(List.of(new Change.Deliver(to, mail)));
    }

    public void deliverAll(Collection<RunId> runs, Function<RunId, Mail> mail) {
        deliverAll(runs.stream()
                .map(run -> new Change.Deliver(run, mail.apply(run)))
                .toList());
    }

    /** Tries all of them, and then throws the first refusal. */
    public void deliverAll(List<Change.Deliver> deliveries) {
        PerdureException refusal = null;
        for (int from = 0; from < deliveries.size(); from += CHUNK) {
            List<Change> chunk = List.copyOf(deliveries.subList(from, Math.min(from + CHUNK, deliveries.size())));
            List<Outcome> outcomes = commits.commitAll(chunk);
            for (int i = 0; i < chunk.size(); i++) {
                PerdureException refused = refusalOf(deliveries.get(from + i), outcomes.get(i));
                refusal = refusal == null ? refused : refusal;
            }
        }
        if (refusal != null) {
            throw refusal;
        }
    }

    /** Whether a message under this topic has reached the run, and the run has not taken it yet. */
    public boolean hasUnread(RunRef run, Topic<?> topic) {
        Channel channel = Channel.message(topic.name());
        long after = 0;
        List<Arrived> page = settings.store().mailboxes().unread(run, after, PAGE_BYTES);
        while (!page.isEmpty()) {
            if (page.stream().anyMatch(arrived -> arrived.mail().channel().equals(channel))) {
                return true;
            }
            after = page.getLast().number();
            page = settings.store().mailboxes().unread(run, after, PAGE_BYTES);
        }
        return false;
    }

    private static @Nullable PerdureException refusalOf(Change.Deliver delivery, Outcome outcome) {
        return switch (outcome) {
            case Outcome.Applied applied -> null;
            case Outcome.AlreadyThere there -> null;
            case Outcome.UnknownRun unknown ->
                new UnknownRunException("There is no run '%s'. Check the id, or start it with its first message."
                        .formatted(delivery.to()));
            case Outcome.Refused refused ->
                new PayloadException(
                        "Mail for run '%s' was refused by the store: %s".formatted(delivery.to(), refused.reason()));
            case Outcome.Undelivered undelivered ->
                switch (undelivered.why()) {
                    case ENDED ->
                        new RunEndedException(
                                "Run '%s' has ended, so nothing reaches it any more. Look at its result, or start another run."
                                        .formatted(delivery.to()));
                    case TAKEN ->
                        new AlreadyResolvedException(
                                "%s of run '%s' is settled already; the first answer counts. Look at it instead of settling it again."
                                        .formatted(describe(delivery.mail().channel()), delivery.to()));
                    case BEGAN_ANEW ->
                        delivery.audit() == null
                                ? unknownToken()
                                : noAwakeable(
                                        delivery.to(), delivery.mail().channel().position());
                };
            default -> throw new IllegalStateException("Unexpected outcome " + outcome);
        };
    }

    private static String describe(Channel channel) {
        return channel.kind() == Channel.Kind.PROMISE
                ? "Promise '" + channel.name() + "'"
                : "The awakeable at position " + channel.position();
    }

    // ---- awakeables

    public void resolve(String token, @Nullable Object value) {
        deliverAll(List.of(resolution(token, value)));
    }

    public void reject(String token, String reason) {
        deliverAll(List.of(rejection(token, reason)));
    }

    public Change.Deliver resolution(String token, @Nullable Object value) {
        Address address = find(token);
        Payload payload = answer(address, value);
        return MailChanges.answer(address, answer(address.position(), payload));
    }

    public Change.Deliver rejection(String token, String reason) {
        Texts.requireReason(reason);
        Address address = find(token);
        return MailChanges.answer(address, rejected(address.position(), reason));
    }

    // ---- awakeables, by an operator

    public void resolve(RunRef run, int position, @Nullable Object value, Auditor auditor) {
        Address address = find(run, position);
        Payload payload = answer(address, value);
        deliverAll(List.of(answer(address, answer(position, payload), auditor, Action.RESOLVE, "")));
    }

    public void reject(RunRef run, int position, String reason, Auditor auditor) {
        Texts.requireReason(reason);
        Address address = find(run, position);
        deliverAll(List.of(answer(address, rejected(position, reason), auditor, Action.REJECT, reason)));
    }

    private static Change.Deliver answer(Address address, Mail mail, Auditor auditor, Action action, String detail) {
        Audit audit = auditor.of(
                action, Subject.RUN, address.run().value(), mail.channel().position(), detail);
        return new Change.Deliver(address.run(), mail, address.life(), audit);
    }

    private Address find(RunRef run, int position) {
        return settings.store().mailboxes().awakeable(run, position).orElseThrow(() -> noAwakeable(run.id(), position));
    }

    private static InvalidRequestException noAwakeable(RunId run, int position) {
        return new InvalidRequestException(
                "Run '%s' has no awakeable at position %s now. Look for AWAKEABLE in its history, and give the position that stands there."
                        .formatted(run, position));
    }

    private Address find(String token) {
        return find(settings.store().mailboxes(), token);
    }

    /** The call that a token answers. */
    public static Address find(Mailboxes mailboxes, String token) {
        if (!Tokens.isOne(token)) {
            throw new UnknownTokenException(
                    "This is no token of an awakeable: it does not begin with awk1_ or awk2_, or has not the right length. Pass on exactly what Awakeable.token() gave.");
        }
        return mailboxes.awakeable(Tokens.hash(token)).orElseThrow(MailSender::unknownToken);
    }

    /** No awakeable has a token. */
    public static UnknownTokenException unknownToken() {
        return new UnknownTokenException(
                "No awakeable has this token. It was mistyped, or its run has begun anew or is gone.");
    }

    // ---- events

    public <T extends @Nullable Object> int emit(Topic<T> event, String key, T value) {
        PayloadPlace place = PayloadPlace.event(event.name());
        Payload payload = encode(place, value, event.type(), "the event '" + event + "'");
        Emission emission = new Emission(event.name(), key, payload, token(), headers(Kind.EVENT, event.name(), null));
        List<Change> deliveries = MailChanges.deliveries(settings.store().mailboxes(), emission);
        return MailChanges.reached(deliveries.isEmpty() ? List.of() : commits.commitAll(deliveries));
    }
}

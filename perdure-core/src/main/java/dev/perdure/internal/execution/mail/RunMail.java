package dev.perdure.internal.execution.mail;

import dev.perdure.Awakeable;
import dev.perdure.DurableFuture;
import dev.perdure.RunId;
import dev.perdure.Settled;
import dev.perdure.Topic;
import dev.perdure.attribute.Attribute;
import dev.perdure.attribute.AttributeValue;
import dev.perdure.attribute.Description;
import dev.perdure.error.PayloadException;
import dev.perdure.error.RejectedException;
import dev.perdure.interceptor.SendCall;
import dev.perdure.internal.execution.future.EngineFuture;
import dev.perdure.internal.execution.future.Futures;
import dev.perdure.internal.execution.host.Host;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.execution.replay.Replay;
import dev.perdure.internal.execution.transition.ContextCalls;
import dev.perdure.internal.execution.transition.Transitions;
import dev.perdure.internal.execution.value.Derived;
import dev.perdure.internal.execution.value.Tokens;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.internal.failure.FailedMail;
import dev.perdure.internal.failure.Failure;
import dev.perdure.internal.text.Texts;
import dev.perdure.spi.Mailboxes.Arrived;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadPlace;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The messages, promises and events that a run receives and sends, and the values that it publishes. */
public final class RunMail {
    /** In the journal, in the place of a token: the token has the partition of the run. */
    private static final Payload WITH_PARTITION = new Payload(new byte[] {2});

    private final ContextCalls calls;
    private final Transitions transitions;
    private final Futures futures;
    private final Values values;
    private final Derived derived;
    private final UnreadMail inbox;
    private final Host host;
    private final Sending sending;

    /** The attributes that the code has set in this life. */
    private Description said = Description.NONE;

    public RunMail(
            ContextCalls calls,
            Transitions transitions,
            Futures futures,
            Values values,
            Derived derived,
            UnreadMail inbox,
            Host host,
            Sending sending) {
        this.calls = calls;
        this.transitions = transitions;
        this.futures = futures;
        this.values = values;
        this.derived = derived;
        this.inbox = inbox;
        this.host = host;
        this.sending = sending;
    }

    /**
     * The first mail on a channel that is to be taken. If the run has passed its deadline and not been told so, only one that arrived
     * before it: a child with the same deadline fails at that time, too.
     */
    Optional<Arrived> first(Channel channel) {
        return inbox.first(channel).filter(arrived -> transitions.deadline().isInTime(arrived.at()));
    }

    UnreadMail inbox() {
        return inbox;
    }

    void defer(Entry entry) {
        transitions.defer(entry);
    }

    void defer(Entry entry, Effect effect) {
        transitions.defer(entry, effect);
    }

    // ---- getting

    public <T extends @Nullable Object> DurableFuture<T> receive(Topic<T> topic) {
        Texts.requireGiven("topic", topic);
        ContextCall call = calls.open("receive", Entry.Kind.RECEIVE, topic.name());
        Replay.Past past = calls.rethrowDelivered(call);
        return new MailFuture<>(
                futures,
                call,
                past,
                new MailFuture.Source(Channel.message(topic.name()), PayloadPlace.message(values.run(), topic.name())),
                this,
                entry -> value(call, entry, topic.type()));
    }

    public <T extends @Nullable Object> DurableFuture<T> promise(Topic<T> name) {
        Texts.requireGiven("name of the promise", name);
        ContextCall call = calls.open("promise", Entry.Kind.PROMISE, name.name());
        Replay.Past past = calls.rethrowDelivered(call);
        return new MailFuture<>(
                futures,
                call,
                past,
                new MailFuture.Source(Channel.promise(name.name()), PayloadPlace.promise(values.run(), name.name())),
                this,
                entry -> answer(call, entry, name.type()));
    }

    public <T extends @Nullable Object> DurableFuture<T> event(Topic<T> event, String key) {
        ContextCall call = calls.open("event", Entry.Kind.EVENT, eventName(event, key));
        return subscribed(call, event.name(), key, entry -> value(call, entry, event.type()));
    }

    /** An event whose value the run does not read. */
    public DurableFuture<@Nullable Void> occurrence(String event) {
        ContextCall call = calls.open("event", Entry.Kind.EVENT, event);
        return subscribed(call, event, "", entry -> EngineFuture.value(null));
    }

    private <T extends @Nullable Object> DurableFuture<T> subscribed(
            ContextCall call, String event, String key, Function<Entry, Settled<T>> reader) {
        Replay.Past past = calls.rethrowDelivered(call);
        if (past.notes().isEmpty()) {
            transitions.deliverTo(call);
            transitions.defer(
                    call.note(1, Entry.Status.BEGUN, Payload.EMPTY), new Effect.Subscribe(event, key, call.position()));
        }
        MailFuture.Source source = new MailFuture.Source(Channel.answer(call.position()), PayloadPlace.event(event));
        return new MailFuture<>(futures, call, past, source, this, reader);
    }

    static String eventName(Topic<?> event, String key) {
        return key.isEmpty() ? event.name() : event.name() + "/" + key;
    }

    public <T extends @Nullable Object> Awakeable<T> awakeable(Type type) {
        ContextCall call = calls.open("awakeable", Entry.Kind.AWAKEABLE, "");
        Replay.Past past = calls.rethrowDelivered(call);
        boolean created = past.notes().isEmpty();
        Payload written = created
                ? host.tokens().areDivided() ? WITH_PARTITION : Payload.EMPTY
                : past.notes().getFirst().entry().payload();
        String token = token(written, call.position());
        if (created) {
            transitions.deliverTo(call);
            transitions.defer(
                    call.note(1, Entry.Status.BEGUN, written),
                    new Effect.Awakeable(Tokens.hash(token), call.position()));
        }
        return new AwakeableFuture<>(call, past, type, token);
    }

    /** Journals of earlier versions have the token itself. */
    private String token(Payload written, int position) {
        if (written.equals(Payload.EMPTY)) {
            return derived.token(host.tokens(), position);
        }
        return written.equals(WITH_PARTITION)
                ? derived.tokenOfPart(host.tokens(), position)
                : new String(written.bytes(), StandardCharsets.UTF_8);
    }

    private final class AwakeableFuture<T extends @Nullable Object> extends MailFuture<T> implements Awakeable<T> {
        private final String token;

        AwakeableFuture(ContextCall call, Replay.Past past, Type type, String token) {
            super(
                    futures,
                    call,
                    past,
                    new Source(Channel.answer(call.position()), PayloadPlace.answer(values.run(), call.position())),
                    RunMail.this,
                    entry -> RunMail.this.answer(call, entry, type));
            this.token = token;
        }

        @Override
        public String token() {
            return token;
        }
    }

    /** A mail as an entry of the journal, and so as a value for that position. */
    Entry answer(ContextCall call, Mail mail, PayloadPlace madeFor) {
        Values found = values.at(madeFor);
        return switch (mail.status()) {
            case VALUE -> call.answer(Entry.Status.VALUE, moved(call, mail, found));
            case FAILURE -> {
                FailedMail failed = new FailedMail(mail.text(), failure(call, mail, found));
                yield call.answer(
                        Entry.Status.FAILURE, values.at(call.position()).encode(failed));
            }
            case BEGUN, ATTEMPT, CANCELLED, DEADLINE, ABSENT, HEADERS, UNKNOWN ->
                throw transitions.unreadable(
                        call, new PayloadException("Its status is %s, which no mail has.".formatted(mail.status())));
        };
    }

    private Payload moved(ContextCall call, Mail mail, Values found) {
        try {
            return found.moved(mail.payload(), PayloadPlace.entry(values.run(), call.position()));
        } catch (PayloadException unreadable) {
            throw transitions.unreadable(call, unreadable);
        }
    }

    private @Nullable Failure failure(ContextCall call, Mail mail, Values found) {
        try {
            return mail.payload().size() == 0 ? null : found.decode(mail.payload(), Failure.class);
        } catch (PayloadException unreadable) {
            throw transitions.unreadable(call, unreadable);
        }
    }

    private <T extends @Nullable Object> Settled<T> answer(ContextCall call, Entry entry, Type type) {
        return entry.status() == Entry.Status.VALUE
                ? value(call, entry, type)
                : EngineFuture.failure(new RejectedException(failed(call, entry).text()));
    }

    @SuppressWarnings({"unchecked", "NullAway"}) // decoded as the type that the caller declared
    public <T extends @Nullable Object> Settled<T> value(ContextCall call, Entry entry, Type type) {
        try {
            return EngineFuture.value((T) values.at(call.position()).decode(entry.payload(), type));
        } catch (PayloadException unreadable) {
            throw transitions.unreadable(call, unreadable);
        }
    }

    public FailedMail failed(ContextCall call, Entry entry) {
        try {
            return values.at(call.position()).decode(entry.payload(), FailedMail.class);
        } catch (PayloadException unreadable) {
            throw transitions.unreadable(call, unreadable);
        }
    }

    // ---- giving

    public <T extends @Nullable Object> void send(RunId to, Topic<T> topic, T value) {
        Texts.requireGiven("topic", topic);
        Texts.requireGiven("run id", to);
        Payload payload = encode("message", PayloadPlace.message(to, topic.name()), topic, value);
        ContextCall call = calls.take("send", Entry.Kind.EFFECT, "send on topic '%s' to '%s'".formatted(topic, to));
        deliver(call, to, Mail.value(Channel.message(topic.name()), derived.uuid("send", call.position()), payload));
    }

    public <T extends @Nullable Object> void resolve(RunId run, Topic<T> promise, T value) {
        Texts.requireGiven("name of the promise", promise);
        Texts.requireGiven("run id", run);
        Payload payload = encode("promise", PayloadPlace.promise(run, promise.name()), promise, value);
        ContextCall call =
                calls.take("resolve", Entry.Kind.EFFECT, "resolve promise '%s' of '%s'".formatted(promise, run));
        Channel channel = Channel.promise(promise.name());
        deliver(call, run, Mail.value(channel, derived.uuid("resolve", call.position()), payload));
    }

    public void reject(RunId run, Topic<?> promise, String reason) {
        Texts.requireGiven("name of the promise", promise);
        Texts.requireGiven("run id", run);
        Texts.requireReason(reason);
        ContextCall call =
                calls.take("reject", Entry.Kind.EFFECT, "reject promise '%s' of '%s'".formatted(promise, run));
        Channel channel = Channel.promise(promise.name());
        deliver(call, run, Mail.failure(channel, derived.uuid("reject", call.position()), reason, Payload.EMPTY));
    }

    public <T extends @Nullable Object> void publish(Topic<T> topic, T value) {
        Texts.requireGiven("topic", topic);
        Payload payload = encode("published value", PayloadPlace.published(values.run(), topic.name()), topic, value);
        ContextCall call = calls.take("publish", Entry.Kind.EFFECT, "publish '%s'".formatted(topic));
        carryOut(call, new Effect.Publish(topic.name(), call.position(), payload));
    }

    /** What the code has set counts, also during a replay, so that the limit does not depend on it. */
    public <T> void attribute(Attribute<T> attribute, @Nullable T value) {
        Texts.requireGiven("attribute", attribute);
        String name = attribute.name();
        AttributeValue stored = value == null ? null : attribute.value(value);
        said = stored == null ? said.without(name) : said.with(name, stored);
        ContextCall call = calls.take("attribute", Entry.Kind.EFFECT, "set attribute '%s'".formatted(name));
        carryOut(
                call,
                () -> new Effect.SetAttribute(
                        name, stored == null ? null : values.attributes().encrypted(values.run(), name, stored)));
    }

    public void status(String text) {
        Description.NONE.withStatus(text);
        ContextCall call = calls.take("status", Entry.Kind.EFFECT, "set status");
        carryOut(call, new Effect.SetStatus(text));
    }

    private void deliver(ContextCall call, RunId to, Mail mail) {
        carryOut(call, () -> new Effect.Deliver(to, mail.withHeaders(headers(to, mail.channel()))));
    }

    private Map<String, String> headers(RunId to, Channel channel) {
        SendCall.Kind kind = channel.kind() == Channel.Kind.PROMISE ? SendCall.Kind.PROMISE : SendCall.Kind.MESSAGE;
        return sending.headers(kind, channel.name(), Optional.of(to));
    }

    private void carryOut(ContextCall call, Effect effect) {
        carryOut(call, () -> effect);
    }

    /** Needs no answer, so it is written with the next transition. */
    private void carryOut(ContextCall call, Supplier<Effect> effect) {
        if (calls.rethrowDelivered(call).answer().isEmpty()) {
            transitions.deliverTo(call);
            transitions.defer(call.answer(Entry.Status.VALUE, Payload.EMPTY), effect.get());
        }
    }

    private <T extends @Nullable Object> Payload encode(String what, PayloadPlace place, Topic<T> topic, T value) {
        return values.at(place)
                .store(value, topic.type(), "the %s for '%s'".formatted(what, topic))
                .payload();
    }
}

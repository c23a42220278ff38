package dev.perdure.memory;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Outcome.Undelivered.Why;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.EndReport;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;

/** Delivers mail to runs and wakes those that wait for it. Keeps which calls a token or an event reaches. */
final class MailDelivery implements Mailboxes {
    private final Tables tables;
    private final byte[] secret = new byte[32];
    private final Map<String, Address> awakeables = new HashMap<>();
    private final Collection<Subscription> subscriptions = new ArrayList<>();

    private record Subscription(String event, String key, Address address) {}

    MailDelivery(Tables tables, Clockwork clockwork) {
        this.tables = tables;
        ByteBuffer random = ByteBuffer.wrap(secret);
        while (random.hasRemaining()) {
            random.putLong(clockwork.random());
        }
    }

    Outcome deliver(Change.Deliver delivery) {
        Row row = tables.byId.get(delivery.to());
        if (row == null) {
            return new Outcome.UnknownRun();
        }
        boolean stale = !delivery.isFor(row.restarts) && !row.mailbox.knows(delivery.mail());
        if (stale && !row.state.isTerminal()) {
            return new Outcome.Undelivered(Why.BEGAN_ANEW);
        }
        Outcome outcome = deliver(row, delivery.mail());
        if (outcome instanceof Outcome.Applied || outcome instanceof Outcome.AlreadyThere) {
            tables.audits.add(delivery.audit());
        }
        return outcome;
    }

    Outcome deliver(Row row, Mail mail) {
        if (row.state.isTerminal() && !row.mailbox.knows(mail)) {
            return new Outcome.Undelivered(Why.ENDED);
        }
        return switch (row.mailbox.put(mail, tables.now())) {
            case SEEN_BEFORE -> new Outcome.AlreadyThere(tables.now(), row.state);
            case TAKEN -> new Outcome.Undelivered(Why.TAKEN);
            case NEW -> {
                if (mail.channel().kind() == Channel.Kind.ANSWER) {
                    unsubscribe(new Address(row.ref.id(), mail.channel().position(), row.restarts));
                }
                tell(row, mail);
                if (mail.channel().kind() == Channel.Kind.PROMISE) {
                    tables.hint(new Hints.RunShows(row.ref.id()));
                }
                yield new Outcome.Applied(tables.now(), row.state);
            }
        };
    }

    private void tell(Row row, Mail mail) {
        boolean held = row.state == RunState.RUNNING;
        row.ask(asked -> new Control(
                asked.wakes() + (held ? 1 : 0), row.mailbox.count(), asked.cancel(), asked.kill(), asked.pause()));
        if (held && row.owner != null) {
            tables.hint(new Hints.MailArrived(
                    row.owner, row.ref.key(), row.epoch, row.control.wakes(), row.control.mails(), mail));
        } else if (row.awaited.contains(mail.channel())) {
            row.needed--;
            if (row.needed <= 0 || mail.status() == Entry.Status.FAILURE) {
                tables.change(row, RunState.READY, null);
            }
        }
    }

    /** A run has ended: its parent gets the outcome, and the run gets no more answers. */
    void ended(Row row) {
        Parent parent = row.start.parent();
        Row waiting = parent == null || !parent.answers()
                ? null
                : tables.byKey.get(parent.run().key());
        if (parent != null && waiting != null) {
            deliver(waiting, told(row, parent));
        }
        tables.exchange.ended(row);
        forget(row.ref.id());
    }

    /** A child has ended before its parent could get the outcome. */
    void answer(Row child, Row parent, int position) {
        deliver(parent, outcomeOf(child, position));
    }

    /** A child that has ended is to continue: its parent forgets the outcome, if it has not taken it. */
    void untell(Row child) {
        Parent parent = child.start.parent();
        Row told = parent == null || !parent.answers() || parent.isReport()
                ? null
                : tables.byKey.get(parent.run().key());
        if (parent != null && told != null) {
            told.mailbox.forget(outcomeOf(child, parent.position()));
        }
    }

    /** What a parent gets when a run has ended. */
    static Mail told(Row row, Parent parent) {
        return parent.isReport() ? reportOf(row) : outcomeOf(row, parent.position());
    }

    private static Mail reportOf(Row row) {
        String reason = Objects.requireNonNullElse(row.reason, "");
        return Mail.value(
                EndReport.channel(),
                new UUID(row.ref.key(), row.start.seed()),
                new EndReport(row.ref.id(), row.state, reason).payload());
    }

    private static Mail outcomeOf(Row row, int position) {
        Channel channel = Channel.answer(position);
        UUID token = new UUID(row.ref.key(), row.start.seed());
        Payload outcome = Objects.requireNonNullElse(row.outcome, Payload.EMPTY);
        return row.state == RunState.COMPLETED
                ? Mail.value(channel, token, outcome)
                : Mail.failure(channel, token, row.state + ": " + Objects.requireNonNullElse(row.reason, ""), outcome);
    }

    /** Calls of this run get no more answers. */
    void forget(RunId run) {
        subscriptions.removeIf(subscription -> subscription.address().run().equals(run));
    }

    void forgetTokens(RunId run) {
        awakeables.values().removeIf(address -> address.run().equals(run));
    }

    void awakeable(String hash, Address address) {
        awakeables.put(hash, address);
    }

    void subscribe(String event, String key, Address address) {
        unsubscribe(address);
        Row row = tables.byId.get(address.run());
        if (row != null && row.mailbox.at(Channel.answer(address.position())).isEmpty()) {
            subscriptions.add(new Subscription(event, key, address));
        }
    }

    /** Describes what answers a call of this run. */
    Optional<String> answerTo(Address address) {
        return subscriptions.stream()
                .filter(subscription -> subscription.address().equals(address))
                .map(subscription -> "event '" + subscription.event() + "'"
                        + (subscription.key().isEmpty() ? "" : " with key '" + subscription.key() + "'"))
                .findFirst()
                .or(() -> awakeables.containsValue(address)
                        ? Optional.of("awakeable at position " + address.position())
                        : Optional.empty());
    }

    private void unsubscribe(Address address) {
        subscriptions.removeIf(subscription -> subscription.address().equals(address));
    }

    // ---- questions

    @Override
    public List<Arrived> unread(RunRef run, long afterNumber, int maxBytes) {
        return tables.inTransaction(() -> {
            Row row = tables.byKey.get(run.key());
            return row == null ? List.of() : row.mailbox.unread(afterNumber, maxBytes);
        });
    }

    @Override
    public Map<Promised, Mail> promises(Collection<Promised> promises) {
        return tables.inTransaction(() -> {
            Map<Promised, Mail> settled = new HashMap<>();
            for (Promised promise : promises) {
                row(promise.run())
                        .flatMap(row -> row.mailbox.at(Channel.promise(promise.name())))
                        .ifPresent(mail -> settled.put(promise, mail));
            }
            return settled;
        });
    }

    @Override
    public Optional<Address> awakeable(String hash) {
        return tables.inTransaction(() -> Optional.ofNullable(awakeables.get(hash)));
    }

    @Override
    public Optional<Address> awakeable(RunRef run, int position) {
        return tables.inTransaction(() -> row(run).map(row -> new Address(row.ref.id(), position, row.restarts))
                .filter(awakeables::containsValue));
    }

    @Override
    public byte[] secret() {
        return secret.clone();
    }

    @Override
    public List<Address> subscribers(String event, String key) {
        return tables.inTransaction(() -> subscriptions.stream()
                .filter(subscription -> subscription.event().equals(event))
                .filter(subscription ->
                        subscription.key().isEmpty() || subscription.key().equals(key))
                .map(Subscription::address)
                .toList());
    }

    @Override
    public Map<Place, Shown> published(Collection<Place> places, int limit, int maxBytes) {
        return tables.inTransaction(() -> {
            Map<Place, Shown> shown = new HashMap<>();
            for (Place place : places) {
                Shown there = row(place.run())
                        .map(row -> new Shown(page(place, row, limit, maxBytes).values(), row.state.isTerminal()))
                        .orElseGet(() -> new Shown(List.of(), true, true));
                if (there.ended() || !there.values().isEmpty()) {
                    shown.put(place, there);
                }
            }
            return shown;
        });
    }

    private static FittingPage<Published> page(Place place, Row row, int limit, int maxBytes) {
        List<Published> following = row.published.stream()
                .filter(output -> output.name().equals(place.name()))
                .map(Row.Output::value)
                .filter(value -> value.offset() > place.after())
                .toList();
        return FittingPage.of(following, each -> each.payload().size(), limit, maxBytes);
    }

    @Override
    public PublishedPage published(Place place, int limit, int maxBytes) {
        return tables.inTransaction(() -> row(place.run())
                .map(row -> page(place, row, limit, maxBytes))
                .map(page -> new PublishedPage(page.values(), page.last()))
                .orElseGet(() -> new PublishedPage(List.of(), true)));
    }

    @Override
    public List<PublishedName> publishedNames(RunRef run, String after, int limit) {
        return tables.inTransaction(() -> row(run).stream()
                .flatMap(row -> row.published.stream())
                .filter(output -> Utf8Order.COMPARATOR.compare(output.name(), after) > 0)
                .collect(Collectors.groupingBy(
                        Row.Output::name,
                        () -> new TreeMap<>(Utf8Order.COMPARATOR),
                        Collectors.mapping(Row.Output::value, Collectors.toList())))
                .entrySet()
                .stream()
                .limit(limit)
                .map(each -> new PublishedName(
                        each.getKey(),
                        Math.min(each.getValue().size(), MOST_COUNTED),
                        each.getValue().getLast().offset(),
                        each.getValue().getLast().at()))
                .toList());
    }

    @Override
    public Optional<Published> latest(RunRef run, String name) {
        return tables.inTransaction(() -> row(run).flatMap(row -> row.published.stream()
                .filter(output -> output.name().equals(name))
                .map(Row.Output::value)
                .reduce((earlier, later) -> later)));
    }

    private Optional<Row> row(RunRef run) {
        return Optional.ofNullable(tables.byKey.get(run.key()));
    }
}

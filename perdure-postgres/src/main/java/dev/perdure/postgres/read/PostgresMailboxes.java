package dev.perdure.postgres.read;

import dev.perdure.RunId;
import dev.perdure.error.StoreException;
import dev.perdure.postgres.hint.WaitingCallers;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Descriptions;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Query;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Reads mailboxes. The end of a run does not remove its subscriptions, because it would have to look for them. The
 * query for subscribers removes those that it finds void.
 */
public final class PostgresMailboxes implements Mailboxes {
    private static final int ROWS_LOOKED_AT = 4_096;
    private static final String ANY_KEY = "";

    private final Database database;
    private final Query query;
    private final MailboxSql sql;
    private final WaitingCallers waitingCallers;
    private final byte[] secret;

    public PostgresMailboxes(Database database, Schema schema, WaitingCallers waitingCallers) {
        this.database = database;
        this.query = new Query(database);
        this.sql = new MailboxSql(schema);
        this.waitingCallers = waitingCallers;
        this.secret = query.all(sql.secret, none -> {}, row -> row.getBytes("value")).stream()
                .findFirst()
                .orElseThrow(() -> new StoreException(
                        StoreException.Kind.UNUSABLE,
                        "The table '%1$s.secret' is empty: tokens of awakeables are derived from its one row. Restore it, or make another with INSERT INTO %1$s.secret DEFAULT VALUES; tokens that were given out stay valid."
                                .formatted(schema.name()),
                        null));
    }

    @Override
    public byte[] secret() {
        return secret.clone();
    }

    @Override
    public Optional<Address> awakeable(RunRef run, int position) {
        return query
                .all(
                        sql.awakeableAt,
                        parameters -> parameters.integer(position).number(run.key()),
                        PostgresMailboxes::address)
                .stream()
                .findFirst();
    }

    @Override
    public List<Arrived> unread(RunRef run, long afterNumber, int maxBytes) {
        return query.readable(
                sql.unread,
                parameters -> parameters
                        .number(run.key())
                        .number(afterNumber)
                        .number(run.key())
                        .integer(ROWS_LOOKED_AT)
                        .number(maxBytes),
                PostgresMailboxes::arrived);
    }

    @Override
    public Map<Unread, List<Arrived>> unread(Collection<Unread> places, int maxBytes) {
        List<Unread> asked = List.copyOf(places);
        Map<Unread, List<Arrived>> found = new HashMap<>();
        query.readable(
                        sql.unreadOfMany,
                        parameters -> parameters
                                .longs(asked.stream()
                                        .mapToLong(place -> place.run().key())
                                        .toArray())
                                .longs(asked.stream().mapToLong(Unread::after).toArray())
                                .integer(ROWS_LOOKED_AT)
                                .number(maxBytes),
                        row -> Map.entry(asked.get(row.getInt("ordinal") - 1), arrived(row)))
                .forEach(mail -> found.computeIfAbsent(mail.getKey(), unseen -> new ArrayList<>())
                        .add(mail.getValue()));
        asked.forEach(place -> found.putIfAbsent(place, List.of()));
        return found;
    }

    private static Arrived arrived(ResultSet row) throws SQLException {
        return new Arrived(row.getLong("number"), mail(row), Results.time(row, "at"));
    }

    private static Mail mail(ResultSet row) throws SQLException {
        Channel channel =
                new Channel(Codes.channel(row.getInt("channel")), row.getInt("position"), row.getString("name"));
        return new Mail(
                channel,
                row.getObject("token", UUID.class),
                Codes.recordedStatus(row.getInt("status")),
                row.getString("text"),
                new Payload(row.getBytes("payload")),
                Descriptions.headers(row));
    }

    @Override
    public Map<Promised, Mail> promises(Collection<Promised> promises) {
        List<Promised> asked = List.copyOf(promises);
        Map<Promised, Mail> settled = new HashMap<>();
        query.readable(
                        sql.promises,
                        parameters -> parameters
                                .longs(asked.stream()
                                        .mapToLong(promise -> promise.run().key())
                                        .toArray())
                                .texts(asked.stream().map(Promised::name).toArray(String[]::new)),
                        row -> Map.entry(asked.get(row.getInt("ordinal") - 1), mail(row)))
                .forEach(found -> settled.put(found.getKey(), found.getValue()));
        if (settled.size() < asked.size()) {
            waitingCallers.add();
        }
        return settled;
    }

    @Override
    public Optional<Address> awakeable(String hash) {
        return query.all(sql.awakeable, parameters -> parameters.text(hash), PostgresMailboxes::address).stream()
                .findFirst();
    }

    private static Address address(ResultSet row) throws SQLException {
        return new Address(RunId.of(row.getString("id")), row.getInt("position"), row.getInt("restarts"));
    }

    /** A subscription as it was found. */
    private record Subscriber(Address address, long key, boolean waits) {}

    @Override
    public List<Address> subscribers(String event, String key) {
        String[] keys = key.equals(ANY_KEY) ? new String[] {ANY_KEY} : new String[] {ANY_KEY, key};
        List<Subscriber> subscribers = query.readable(
                sql.subscribers,
                parameters -> parameters.texts(keys).text(event),
                row -> new Subscriber(address(row), row.getLong("key"), row.getBoolean("waits")));
        unsubscribe(
                subscribers.stream().filter(subscriber -> !subscriber.waits()).toList());
        return subscribers.stream()
                .filter(Subscriber::waits)
                .map(Subscriber::address)
                .toList();
    }

    private void unsubscribe(List<Subscriber> subscribers) {
        if (subscribers.isEmpty()) {
            return;
        }
        database.call(connection -> {
            try (PreparedStatement statement = Database.prepare(connection, sql.unsubscribe)) {
                new Parameters(statement)
                        .longs(subscribers.stream().mapToLong(Subscriber::key).toArray())
                        .ints(subscribers.stream()
                                .mapToInt(subscriber -> subscriber.address().position())
                                .toArray())
                        .ints(subscribers.stream()
                                .mapToInt(subscriber -> subscriber.address().life())
                                .toArray());
                return statement.execute();
            }
        });
    }

    /** A value, or the end of the run if there is no value. */
    private record Found(Place place, boolean ended, boolean removed, Optional<Published> value) {}

    @Override
    public Map<Place, Shown> published(Collection<Place> places, int limit, int maxBytes) {
        List<Place> asked = List.copyOf(places);
        Map<Place, Shown> shown = new HashMap<>();
        query.all(
                        sql.published,
                        parameters -> parameters
                                .longs(asked.stream()
                                        .mapToLong(place -> place.run().key())
                                        .toArray())
                                .texts(asked.stream().map(Place::name).toArray(String[]::new))
                                .longs(asked.stream().mapToLong(Place::after).toArray())
                                .integer(limit)
                                .number(maxBytes),
                        row -> found(asked, row))
                .forEach(found -> {
                    Shown there = shown.computeIfAbsent(
                            found.place(), unseen -> new Shown(new ArrayList<>(), found.ended(), found.removed()));
                    found.value().ifPresent(there.values()::add);
                });
        if (shown.size() < asked.size()) {
            waitingCallers.add();
        }
        return shown;
    }

    private static Found found(List<Place> asked, ResultSet row) throws SQLException {
        Optional<Published> value = row.getObject("offset") == null ? Optional.empty() : Optional.of(published(row));
        return new Found(
                asked.get(row.getInt("ordinal") - 1), row.getBoolean("ended"), row.getBoolean("removed"), value);
    }

    /** A value of a page, and how many the server looked at for the page. */
    private record OnPage(Published value, int lookedAt) {}

    @Override
    public PublishedPage published(Place place, int limit, int maxBytes) {
        List<OnPage> page = query.all(
                sql.publishedPage,
                parameters -> parameters
                        .number(place.run().key())
                        .text(place.name())
                        .number(place.after())
                        .integer(limit + 1)
                        .number(maxBytes)
                        .integer(limit),
                row -> new OnPage(published(row), row.getInt("looked_at")));
        return new PublishedPage(
                page.stream().map(OnPage::value).toList(),
                page.isEmpty() || page.getFirst().lookedAt() == page.size());
    }

    @Override
    public List<PublishedName> publishedNames(RunRef run, String after, int limit) {
        return query.all(
                sql.publishedNames,
                parameters ->
                        parameters.number(run.key()).text(after).integer(limit).integer(MOST_COUNTED),
                row -> new PublishedName(
                        row.getString("name"), row.getInt("values"), row.getLong("offset"), Results.time(row, "at")));
    }

    @Override
    public Optional<Published> latest(RunRef run, String name) {
        return query
                .all(sql.latest, parameters -> parameters.number(run.key()).text(name), PostgresMailboxes::published)
                .stream()
                .findFirst();
    }

    private static Published published(ResultSet row) throws SQLException {
        return new Published(row.getLong("offset"), Results.time(row, "at"), new Payload(row.getBytes("payload")));
    }
}

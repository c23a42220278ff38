package dev.perdure.postgres.shard;

import dev.perdure.RunId;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Query;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.write.change.Keys;
import dev.perdure.postgres.write.part.ElsewhereSql;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.CallWaits;
import dev.perdure.spi.shard.Exchange;
import dev.perdure.spi.shard.Links;
import dev.perdure.spi.shard.Places;
import dev.perdure.spi.shard.ShardMap;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** A PostgreSQL database as one of several shards. */
public final class PostgresExchange implements Exchange {
    private static final long TIDY_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Query query;
    private final ExchangeSql sql;
    private final ElsewhereSql elsewhere;
    private final Keys keys;
    private final Consumer<Route> followers;
    private final Links links;
    private final Places places;
    private final CallWaits waits;
    private final AtomicLong nextTidying = new AtomicLong(System.nanoTime());
    private volatile long tidiedTo;

    /** @param followers whatever applies changes of runs that may be on other shards */
    public PostgresExchange(
            Database database,
            Schema schema,
            ElsewhereSql elsewhere,
            Keys keys,
            Consumer<Route> followers,
            Links links,
            Places places) {
        this.query = new Query(database);
        this.sql = new ExchangeSql(schema);
        this.elsewhere = elsewhere;
        this.keys = keys;
        this.followers = followers;
        this.links = links;
        this.places = places;
        this.waits = new PostgresWaits(database, schema);
    }

    @Override
    public void follow(Route route) {
        followers.accept(route);
    }

    @Override
    public Optional<Membership> membership() {
        Optional<Membership> membership = query
                .all(sql.membership, parameters -> {}, row -> {
                    keys.beShard(row.getInt("number"));
                    return member(row);
                })
                .stream()
                .findFirst();
        if (membership.isPresent()) {
            elsewhere.beShard();
        }
        return membership;
    }

    private static Membership member(ResultSet row) throws SQLException {
        return new Membership(row.getString("name"), map(row));
    }

    private static ShardMap map(ResultSet row) throws SQLException {
        return new ShardMap(row.getInt("version"), Results.texts(row, "owners"));
    }

    @Override
    public Optional<ShardMap> newerMap(int version) {
        return query.allFirst(sql.newerMap, parameters -> parameters.integer(version), PostgresExchange::map).stream()
                .findFirst();
    }

    /**
     * A shard that has joined may have no partitions any more, or not yet, and then the map does not give it a number. A
     * concurrent insert wins or loses as a whole, so what is read afterwards is what all processes see.
     */
    @Override
    public Membership join(Membership first) {
        return membership().orElseGet(() -> store(first));
    }

    private Membership store(Membership first) {
        query.all(
                sql.join,
                parameters -> parameters
                        .text(first.name())
                        .integer(first.map().version())
                        .texts(first.map().owners())
                        .integer(first.map().shards().indexOf(first.name())),
                row -> row.getString("name"));
        return membership().orElseThrow();
    }

    @Override
    public Set<Integer> closed() {
        return Set.copyOf(query.all(sql.closed, parameters -> {}, row -> row.getInt("number")));
    }

    @Override
    public Look look(Collection<Integer> partitions, int limit) {
        int[] version = new int[1];
        boolean[] awaited = new boolean[1];
        List<Outgoing> outgoing = new ArrayList<>();
        query.all(
                sql.look,
                parameters -> parameters
                        .shorts(shorts(partitions))
                        .number(0)
                        .integer(limit)
                        .integer(limit),
                row -> {
                    version[0] = row.getInt("version");
                    awaited[0] = row.getBoolean("awaited");
                    return row.getObject("number") != null && outgoing.add(outgoing(row));
                });
        return new Look(version[0], outgoing, awaited[0]);
    }

    private static Short[] shorts(Collection<Integer> partitions) {
        return partitions.stream().map(Integer::shortValue).toArray(Short[]::new);
    }

    @Override
    public List<Outgoing> outgoing(Collection<Integer> partitions, long after, int limit) {
        return query.all(
                sql.outgoing,
                parameters -> parameters
                        .shorts(shorts(partitions))
                        .number(after)
                        .integer(limit)
                        .integer(limit),
                PostgresExchange::outgoing);
    }

    private static Outgoing outgoing(ResultSet row) throws SQLException {
        byte[] change = row.getBytes("change");
        Payload payload = new Payload(row.getBytes("payload"));
        Content content = change == null
                ? new Content.Told(RunId.of(row.getString("to_run")), mail(row, payload), row.getInt("life"))
                : new Content.Sent(new Payload(change), payload, row.getInt("life"));
        return new Outgoing(row.getLong("number"), row.getInt("to_partition"), content);
    }

    private static Mail mail(ResultSet row, Payload payload) throws SQLException {
        return new Mail(
                new Channel(Codes.channel(row.getInt("channel")), row.getInt("position"), row.getString("name")),
                row.getObject("token", UUID.class),
                Codes.recordedStatus(row.getInt("status")),
                row.getString("text"),
                payload,
                Map.of());
    }

    @Override
    public void remove(Collection<Long> numbers) {
        long[] arrived = numbers.stream().mapToLong(Long::longValue).toArray();
        query.all(sql.remove, parameters -> parameters.longs(arrived), row -> row.getLong(1));
    }

    @Override
    public Optional<Parent> parent(RunId run) {
        return query
                .all(
                        sql.parent,
                        parameters -> parameters.text(run.value()),
                        row -> new Parent(
                                new RunRef(RunId.of(row.getString("parent")), row.getLong("parent_key")),
                                row.getInt("position"),
                                row.getBoolean("answers"),
                                row.getInt("life")))
                .stream()
                .findFirst();
    }

    @Override
    public List<Lived> below(Collection<RunRef> runs) {
        long[] keys = runs.stream().mapToLong(RunRef::key).toArray();
        return query.all(sql.below, parameters -> parameters.longs(keys), PostgresExchange::lived);
    }

    @Override
    public List<Lived> children(Collection<Lived> parents) {
        long[] keys = parents.stream().mapToLong(parent -> parent.run().key()).toArray();
        int[] lives = parents.stream().mapToInt(Lived::life).toArray();
        return query.all(sql.children, parameters -> parameters.longs(keys).ints(lives), PostgresExchange::lived);
    }

    @Override
    public Links links() {
        return links;
    }

    @Override
    public Places places() {
        return places;
    }

    @Override
    public CallWaits waits() {
        return waits;
    }

    private static Lived lived(ResultSet row) throws SQLException {
        return new Lived(
                new RunRef(RunId.of(row.getString("id")), row.getLong("key")),
                row.getInt("restarts"),
                Codes.state(row.getInt("state")));
    }

    /** Forgets the parents of runs that were removed, some of them at a time. */
    public void tidy() {
        long due = nextTidying.get();
        if (elsewhere.isShard()
                && System.nanoTime() - due >= 0
                && nextTidying.compareAndSet(due, System.nanoTime() + TIDY_NANOS)) {
            tidiedTo = query.all(sql.tidy, parameters -> parameters.number(tidiedTo), row -> row.getLong("next"))
                    .getFirst();
        }
    }
}

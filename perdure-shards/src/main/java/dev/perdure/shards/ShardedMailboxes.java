package dev.perdure.shards;

import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.Partitions;
import dev.perdure.spi.shard.Parts;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** The mailboxes, each on the shard of its run. Tokens and events are looked for on all shards. */
final class ShardedMailboxes implements Mailboxes {
    private final Shards shards;
    private final byte[] secret;

    /**
     * The mailboxes of all shards.
     *
     * @param secret of the first shard; all use the same, so that it does not matter where a run is
     */
    ShardedMailboxes(Shards shards, byte[] secret) {
        this.shards = shards;
        this.secret = secret.clone();
    }

    @Override
    public List<Arrived> unread(RunRef run, long afterNumber, int maxBytes) {
        return shards.having(run).mailboxes().unread(run, afterNumber, maxBytes);
    }

    @Override
    public Map<Unread, List<Arrived>> unread(Collection<Unread> places, int maxBytes) {
        Map<Unread, List<Arrived>> found = new HashMap<>();
        Parts.divide(places, place -> shards.of(place.run()))
                .forEach((shard, some) ->
                        found.putAll(shards.store(shard).mailboxes().unread(some, maxBytes)));
        return found;
    }

    @Override
    public Map<Promised, Mail> promises(Collection<Promised> promises) {
        return ShardedRuns.merged(shards.askOfSome(
                promises,
                promise -> shards.of(promise.run()),
                (store, some) -> store.mailboxes().promises(some)));
    }

    @Override
    public Optional<Address> awakeable(String hash) {
        OptionalInt partition = Partitions.ofTokenHash(hash);
        return partition.isPresent()
                ? shards.find(partition.getAsInt(), store -> store.mailboxes().awakeable(hash))
                : shards.ask(store -> store.mailboxes().awakeable(hash)).stream()
                        .flatMap(Optional::stream)
                        .findFirst();
    }

    @Override
    public Optional<Address> awakeable(RunRef run, int position) {
        return shards.find(Partitions.of(run.id()), store -> store.mailboxes().awakeable(run, position));
    }

    @Override
    public byte[] secret() {
        return secret.clone();
    }

    @Override
    public List<Address> subscribers(String event, String key) {
        return shards.ask(store -> store.mailboxes().subscribers(event, key)).stream()
                .flatMap(List::stream)
                .toList();
    }

    @Override
    public Map<Place, Shown> published(Collection<Place> places, int limit, int maxBytes) {
        return ShardedRuns.merged(shards.askOfSome(
                places,
                place -> shards.of(place.run()),
                (store, some) -> store.mailboxes().published(some, limit, maxBytes)));
    }

    @Override
    public PublishedPage published(Place place, int limit, int maxBytes) {
        return shards.having(place.run()).mailboxes().published(place, limit, maxBytes);
    }

    @Override
    public List<PublishedName> publishedNames(RunRef run, String after, int limit) {
        return shards.having(run).mailboxes().publishedNames(run, after, limit);
    }

    @Override
    public Optional<Published> latest(RunRef run, String name) {
        return shards.having(run).mailboxes().latest(run, name);
    }
}

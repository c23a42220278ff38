-- Perdure: what is on its way from this shard to others, by the partition that it is for.

-- What waits for a shard that is down must not be read again and again while others are served.
CREATE INDEX outgoing_to_partition ON ${schema}.outgoing (to_partition, number);

-- A run that was asked to cancel has the first rank, so that it does not wait behind what it is to end. A claim from a queue with
-- limits looks for such runs by themselves, because they need no place. There are few of them at a time.
CREATE INDEX ready_first ON ${schema}.ready (queue, since) WHERE rank = -2147483648;

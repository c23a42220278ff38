package dev.perdure.internal.engine;

import dev.perdure.RunId;
import dev.perdure.spi.Mail;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.Mailboxes.Published;
import dev.perdure.spi.RunRef;
import dev.perdure.spi.Store;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What runs show to the world while they go on: published values and settled promises. */
record Signs(Store store) implements Board.Questions<Signs.Wanted, Signs.Seen> {
    private static final int PAGE = 500;

    /** Something to wait for. */
    sealed interface Wanted {
        /** Of which run. */
        RunRef run();
    }

    /** More of what is published under a name, or the end of the run. */
    record More(RunRef run, String name, long after) implements Wanted {}

    /** A promise to be settled. */
    record Promised(RunRef run, String name) implements Wanted {}

    /** What was seen. */
    sealed interface Seen {}

    /** A page of published values; none at the end. */
    record Page(List<Published> values) implements Seen {}

    /** A settled promise. */
    record Settled(Mail mail) implements Seen {}

    @Override
    public RunId run(Wanted key) {
        return key.run().id();
    }

    @Override
    public boolean isHere(Wanted key) {
        return false;
    }

    @Override
    public Map<Wanted, Seen> ask(Collection<Wanted> keys) {
        Map<Wanted, Seen> seen = new HashMap<>();
        for (Wanted key : keys) {
            look(key).ifPresent(sign -> seen.put(key, sign));
        }
        return seen;
    }

    private Optional<Seen> look(Wanted key) {
        Mailboxes mailboxes = store.mailboxes();
        return switch (key) {
            case More more -> {
                boolean over = !store.runs().ended(List.of(more.run())).isEmpty();
                List<Published> values = mailboxes.published(more.run(), more.name(), more.after(), PAGE);
                yield values.isEmpty() && !over ? Optional.empty() : Optional.of(new Page(values));
            }
            case Promised promised ->
                mailboxes.promise(promised.run(), promised.name()).map(Settled::new);
        };
    }
}

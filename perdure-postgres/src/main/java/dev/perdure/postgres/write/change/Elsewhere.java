package dev.perdure.postgres.write.change;

import dev.perdure.postgres.jdbc.Columns;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.write.change.NewRuns.RunToStart;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Parent;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** What a batch sends to runs of other shards, and the runs that it starts for them. */
public final class Elsewhere {
    private record Sent(Change.Advance sender, Effect.Send send) {}

    private record Link(long key, Parent parent) {}

    public static final Columns<Sent> SENDS = Columns.<Sent>of()
            .with(Rights.columns("key", "epoch", Sent::sender))
            .uuid("token", sent -> sent.send().token())
            .smallint("to_partition", sent -> sent.send().partition())
            .bytes("change", sent -> sent.send().change().bytes())
            .bytes("payload", sent -> sent.send().value().bytes());

    public static final Columns<Link> LINKS = Columns.<Link>of()
            .bigint("key", Link::key)
            .bigint("parent_key", link -> link.parent().run().key())
            .integer("position", link -> link.parent().position())
            .integer("life", link -> link.parent().life())
            .bool("answers", link -> link.parent().answers())
            .text("parent", link -> link.parent().run().id().value());

    private final List<Sent> sends = new ArrayList<>();
    private final List<Link> links = new ArrayList<>();

    void send(Change.Advance sender, Effect.Send send) {
        sends.add(new Sent(sender, send));
    }

    void born(List<RunToStart> births) {
        for (RunToStart birth : births) {
            Parent parent = birth.run().parent();
            if (parent != null && parent.isElsewhere()) {
                links.add(new Link(birth.key(), parent));
            }
        }
    }

    /** Whether transitions send something. */
    public boolean sends() {
        return !sends.isEmpty();
    }

    /** Whether runs are started whose parents are elsewhere. */
    public boolean links() {
        return !links.isEmpty();
    }

    public void bindSends(Parameters parameters) throws SQLException {
        SENDS.bind(parameters, sends);
    }

    public void bindLinks(Parameters parameters) throws SQLException {
        LINKS.bind(parameters, links);
    }
}

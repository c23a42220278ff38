package dev.perdure.postgres.write.change;

import static dev.perdure.spi.change.Change.Deliver.ANY_LIFE;

import dev.perdure.RunId;
import dev.perdure.postgres.jdbc.AuditText;
import dev.perdure.postgres.jdbc.Columns;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.spi.Audit;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.EndReport;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Payload;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The mail that a batch delivers, in the order in which it arrives. */
public final class MailDeliveries {
    /** The index of a delivery that belongs to no change of the batch. */
    public static final int UNASKED = -1;

    /**
     * A mail on its way, to a run given by id or by key.
     *
     * @param index the index of its change in the batch, or {@link #UNASKED}
     * @param to the id of the receiving run, or null
     * @param key the key of the receiving run, or null
     * @param mail the mail
     * @param life the life of the run that it is for, or {@link Change.Deliver#ANY_LIFE}
     * @param audit its audit entry, if it is a command of an operator; or null
     * @param sender the transition that sends it, or null
     * @param rival the id of a run; the mail is sent only if another run than the sender's child has that id; null for
     *     all other mail
     */
    public record MailDelivery(
            int index,
            @Nullable RunId to,
            @Nullable Long key,
            Mail mail,
            int life,
            @Nullable Audit audit,
            Change.@Nullable Advance sender,
            @Nullable RunId rival) {}

    public static final Columns<MailDelivery> COLUMNS = Columns.<MailDelivery>of()
            .text("id", delivery -> delivery.to() == null ? null : delivery.to().value())
            .bigintOrNull("key", MailDelivery::key)
            .with(MailColumns.COLUMNS.in(MailDelivery::mail))
            .integer("life", MailDelivery::life)
            .text("audit", delivery -> AuditText.of(delivery.audit()))
            .with(Rights.columns("sender", "epoch", MailDelivery::sender))
            .text(
                    "rival",
                    delivery ->
                            delivery.rival() == null ? null : delivery.rival().value());

    public final List<MailDelivery> all = new ArrayList<>();

    void asked(int index, Change.Deliver deliver) {
        all.add(new MailDelivery(
                index, deliver.to(), null, deliver.mail(), deliver.life(), deliver.audit(), null, null));
    }

    void sent(Change.Advance sender, RunId to, Mail mail) {
        all.add(new MailDelivery(UNASKED, to, null, mail, ANY_LIFE, null, sender, null));
    }

    /** Mail that a run starts with. It is addressed by key, so the run exists only if this batch has started it. */
    void born(long key, Mail mail) {
        all.add(new MailDelivery(UNASKED, null, key, mail, ANY_LIFE, null, null, null));
    }

    /** Tells a parent that another run has the id of its child, if so. */
    void taken(Change.Advance sender, NewRun run, Parent parent) {
        Mail mail = parent.isReport() ? EndReport.taken(run.id(), run.seed()) : taken(run, parent.position());
        all.add(new MailDelivery(UNASKED, null, sender.run().key(), mail, ANY_LIFE, null, sender, run.id()));
    }

    private static Mail taken(NewRun run, int position) {
        String text = "The run id '%s' is taken.".formatted(run.id());
        return Mail.failure(Channel.answer(position), new UUID(run.seed(), position), text, Payload.EMPTY);
    }

    public boolean isEmpty() {
        return all.isEmpty();
    }

    List<String> ids() {
        return all.stream()
                .map(MailDelivery::to)
                .filter(Objects::nonNull)
                .map(RunId::value)
                .toList();
    }

    public void bind(Parameters parameters) throws SQLException {
        COLUMNS.bind(parameters, all);
    }
}

package dev.perdure.postgres.hint;

import dev.perdure.postgres.lane.Sender;
import dev.perdure.spi.Hints;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.WorkerId;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The hint that mail has arrived for a run in memory.
 *
 * @param hint the hint for its worker
 * @param here whether that worker sent the mail
 */
public record MailHint(Hints.MailArrived hint, boolean here) {
    /**
     * The hint of a row about a run that got mail, or null if no worker holds the run in memory.
     *
     * @param mail the mail, if it is the only one; in this process the run gets it without reading its mailbox
     */
    public static @Nullable MailHint of(ResultSet row, Sender sender, @Nullable Mail mail) throws SQLException {
        UUID worker = row.getObject("signalled", UUID.class);
        if (worker == null) {
            return null;
        }
        boolean here = sender.worker() != null && sender.worker() == row.getInt("owner");
        Hints.MailArrived hint = new Hints.MailArrived(
                new WorkerId(worker),
                row.getLong("key"),
                row.getLong("epoch"),
                row.getInt("wakes_now"),
                row.getLong("mails_now"),
                here ? mail : null);
        return new MailHint(hint, here);
    }

    public void tell(PostgresHints hints) {
        if (here) {
            hints.tellHere(hint);
        } else {
            hints.tell(hint);
        }
    }
}

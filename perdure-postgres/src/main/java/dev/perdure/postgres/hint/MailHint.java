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
 * That mail has arrived for a run in memory.
 *
 * @param hint what its worker is told
 * @param here whether that is the worker that sent it
 */
public record MailHint(Hints.MailArrived hint, boolean here) {
    /**
     * What a row tells of a run that got mail, or null if no worker has it in memory.
     *
     * @param mail what has arrived, if it is the only one; in this process the run gets it without a look into its mailbox
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

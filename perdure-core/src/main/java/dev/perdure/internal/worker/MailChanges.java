package dev.perdure.internal.worker;

import dev.perdure.internal.execution.host.Emission;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.Mailboxes.Address;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Mail;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** The changes that deliver events and answers to runs. */
public final class MailChanges {
    private MailChanges() {}

    /** An answer to a call in this life of the run. A call at the same position after a restart does not get it. */
    public static Change.Deliver answer(Address address, Mail mail) {
        return new Change.Deliver(address.run(), mail, address.life());
    }

    /** An event as mail to every run that waits for it. */
    public static List<Change> deliveries(Mailboxes mailboxes, Emission emission) {
        UUID token = emission.token();
        List<Change> deliveries = new ArrayList<>();
        for (Address address : mailboxes.subscribers(emission.event(), emission.key())) {
            UUID mine = new UUID(token.getMostSignificantBits() + address.position(), token.getLeastSignificantBits());
            Mail mail = Mail.value(Channel.answer(address.position()), mine, emission.payload());
            deliveries.add(answer(address, mail.withHeaders(emission.headers())));
        }
        return deliveries;
    }

    /** How many of these deliveries arrived. */
    public static int reached(List<Outcome> outcomes) {
        return (int) outcomes.stream()
                .filter(outcome -> outcome instanceof Outcome.Applied || outcome instanceof Outcome.AlreadyThere)
                .count();
    }
}

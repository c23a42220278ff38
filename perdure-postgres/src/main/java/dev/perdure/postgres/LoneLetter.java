package dev.perdure.postgres;

import dev.perdure.RunId;
import dev.perdure.postgres.Letters.Letter;
import dev.perdure.postgres.PostgresLedger.Sender;
import dev.perdure.spi.Change;
import dev.perdure.spi.Effect;
import dev.perdure.spi.Mail;
import dev.perdure.spi.Move;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The one mail of a batch that consists of one change: what runs do that talk to each other, while nothing else goes on. If
 * a transition sends it, that appends to the sender's journal and takes mail out of its mailbox, and does nothing else.
 */
final class LoneLetter {
    private final Letter letter;
    private final String to;

    private LoneLetter(Letter letter, String to) {
        this.letter = letter;
        this.to = to;
    }

    /** The letter of this batch, or null if it does more than {@link MailSql#deliverHeld} can. */
    static @Nullable LoneLetter of(Batch batch) {
        if (batch.size != 1 || batch.letters.all.size() != 1) {
            return null;
        }
        Letter letter = batch.letters.all.getFirst();
        RunId to = letter.to();
        Change.Advance sender = letter.sender();
        return to != null && (sender == null || isPlain(sender)) ? new LoneLetter(letter, to.value()) : null;
    }

    private static boolean isPlain(Change.Advance sender) {
        return sender.move() instanceof Move.Stay
                && sender.effects().stream()
                        .allMatch(effect -> effect instanceof Effect.Deliver || effect instanceof Effect.Take);
    }

    Mail mail() {
        return letter.mail();
    }

    /** Whether a transition sends it. */
    boolean isOfTransition() {
        return letter.sender() != null;
    }

    void bind(Parameters parameters, Sender sender, @Nullable Instant time) throws SQLException {
        Mail mail = letter.mail();
        short channel = Codes.of(mail.channel().kind());
        int position = mail.channel().position();
        String name = mail.channel().name();
        parameters.integer(sender.worker()).integer(sender.lane()).text(to).integer(sender.worker());
        parameters
                .object(mail.token())
                .number(channel)
                .number(position)
                .number(channel)
                .text(name);
        parameters.time(time).number(channel).number(position).text(name).object(mail.token());
        parameters
                .number(Codes.of(mail.status()))
                .text(Text.storable(mail.text()))
                .bytes(mail.payload().bytes());
        parameters.number(channel);
        Change.Advance own = letter.sender();
        parameters.number(own == null ? 0 : own.run().key()).longs(taken(own == null ? List.of() : own.effects()));
    }

    static long[] taken(List<Effect> effects) {
        return effects.stream()
                .filter(Effect.Take.class::isInstance)
                .mapToLong(effect -> ((Effect.Take) effect).number())
                .toArray();
    }
}

package dev.perdure.postgres;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.postgres.Database.RefusedException;
import dev.perdure.postgres.PostgresLedger.Sender;
import dev.perdure.spi.Change;
import dev.perdure.spi.Channel;
import dev.perdure.spi.Effect;
import dev.perdure.spi.Mail;
import dev.perdure.spi.Move;
import dev.perdure.spi.Outcome;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Applies a change that is alone and tells one run in memory something, by {@link LoneTalkSql}: a delivery, a transition that
 * stays and sends one mail, the end of a run whose parent waits for its result. It is tried only if mail went to runs in
 * memory lately.
 */
final class LoneTalk {
    private final Database database;
    private final LoneTalkSql sql;
    private final PostgresHints hints;
    private final Lately mailInMemory;

    LoneTalk(BatchRun.Office office, Schema schema) {
        this.database = office.database();
        this.sql = new LoneTalkSql(schema, office.sql());
        this.hints = office.hints();
        this.mailInMemory = office.mailInMemory();
    }

    /** What came of it; null if it is not of this kind, or the run is not in memory: then nothing was done. */
    @Nullable
    Outcome apply(Sender sender, Change change) {
        if (!mailInMemory.isSo()) {
            return null;
        }
        try {
            return switch (change) {
                case Change.Deliver deliver when deliver.operator() == null -> deliver(sender, deliver);
                case Change.Advance advance when advance.move() instanceof Move.Stay -> send(sender, advance);
                case Change.Advance advance when advance.move() instanceof Move.End end -> end(sender, advance, end);
                default -> null;
            };
        } catch (RefusedException sentBefore) {
            return null;
        }
    }

    /** Binds a statement. */
    private interface Binding {
        void to(Parameters parameters) throws SQLException;
    }

    /** Makes the outcome of the row that tells of the run in memory. */
    private interface Reading {
        Outcome of(ResultSet row) throws SQLException;
    }

    private @Nullable Outcome call(String statement, Binding binding, Reading reading) {
        return database.call(connection -> {
            try (PreparedStatement prepared = Database.prepare(connection, statement)) {
                binding.to(new Parameters(prepared).text(LedgerSql.LOCK_TIMEOUT));
                prepared.execute();
                Results results = new Results(prepared);
                results.skip();
                ResultSet row = results.next();
                boolean told = row.next();
                mailInMemory.was(told);
                return told ? reading.of(row) : null;
            }
        });
    }

    private @Nullable Outcome deliver(Sender sender, Change.Deliver delivery) {
        return call(
                sql.settingsAndDeliver,
                parameters -> bindDelivery(parameters, sender, delivery),
                row -> applied(row, sender, delivery.mail(), RunState.RUNNING));
    }

    private @Nullable Outcome send(Sender sender, Change.Advance advance) {
        Effect.Deliver letter = onlyLetter(advance.effects());
        return letter == null
                ? null
                : call(
                        sql.settingsAndSend,
                        parameters -> {
                            bindDelivery(parameters, sender, new Change.Deliver(letter.to(), letter.mail()));
                            bindNotes(parameters, advance);
                        },
                        row -> applied(row, sender, letter.mail(), RunState.RUNNING));
    }

    /** The one mail of a transition that does nothing else to others. */
    private static Effect.@Nullable Deliver onlyLetter(List<Effect> effects) {
        Effect.Deliver letter = null;
        for (Effect effect : effects) {
            if (effect instanceof Effect.Deliver deliver && letter == null) {
                letter = deliver;
            } else if (!(effect instanceof Effect.Take)) {
                return null;
            }
        }
        return letter;
    }

    private @Nullable Outcome end(Sender sender, Change.Advance advance, Move.End end) {
        long key = advance.run().key();
        boolean onlyAnswers = Keys.answers(key) && !Keys.precedes(key) && !Keys.holds(key);
        boolean onlyTakes = advance.effects().stream().allMatch(Effect.Take.class::isInstance);
        if (!onlyAnswers || !onlyTakes || end.state() != RunState.COMPLETED) {
            return null;
        }
        return call(sql.settingsAndEnd, parameters -> bindEnd(parameters, sender, advance, end), row -> {
            Channel channel = Channel.answer(row.getInt("position"));
            Mail answer = Mail.value(channel, row.getObject("token", UUID.class), end.outcome());
            return applied(row, sender, answer, RunState.COMPLETED);
        });
    }

    private void bindDelivery(Parameters parameters, Sender sender, Change.Deliver delivery) throws SQLException {
        RunId to = delivery.to();
        Mail mail = delivery.mail();
        Integer life = delivery.life() == Change.Deliver.ANY_LIFE ? null : Integer.valueOf(delivery.life());
        parameters.integer(sender.worker()).integer(sender.lane());
        parameters.text(to.value()).number(Keys.partition(to)).integer(life).integer(life);
        parameters.integer(sender.worker());
        parameters.time(database.time());
        parameters.number(Codes.of(mail.channel().kind())).number(mail.channel().position());
        parameters.text(mail.channel().name()).object(mail.token()).number(Codes.of(mail.status()));
        parameters.text(Text.storable(mail.text())).bytes(mail.payload().bytes());
    }

    private void bindEnd(Parameters parameters, Sender sender, Change.Advance advance, Move.End end)
            throws SQLException {
        long key = advance.run().key();
        Instant time = database.time();
        parameters.integer(sender.worker()).integer(sender.lane());
        parameters.number(key).number(advance.epoch()).integer(sender.worker()).number(key);
        parameters.time(time).bytes(end.outcome().bytes());
        bindNotes(parameters, advance);
        parameters.integer(sender.worker()).number(key).time(time).number(key);
    }

    private static void bindNotes(Parameters parameters, Change.Advance advance) throws SQLException {
        long[] taken = advance.effects().stream()
                .filter(Effect.Take.class::isInstance)
                .mapToLong(effect -> ((Effect.Take) effect).number())
                .toArray();
        parameters.number(advance.run().key()).longs(taken);
        new Entries(List.of(advance)).bind(parameters);
    }

    private Outcome applied(ResultSet row, Sender sender, Mail mail, RunState state) throws SQLException {
        MailHint hint = MailHint.of(row, sender, mail);
        if (hint != null) {
            hint.tell(hints);
        }
        return new Outcome.Applied(Results.time(row, "at"), state);
    }
}

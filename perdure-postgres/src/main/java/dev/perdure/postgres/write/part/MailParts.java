package dev.perdure.postgres.write.part;

import dev.perdure.RunState;
import dev.perdure.postgres.hint.MailHint;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Part;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.lane.Sending;
import dev.perdure.postgres.write.change.Batch;
import dev.perdure.postgres.write.change.MailDeliveries;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.Parent;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The parts of a batch for effects outside the moved runs: mail, children, published values. */
public final class MailParts {
    private final MailSql sql;
    private final Sending sending;
    private final Batch batch;
    private final Answers answers;

    public MailParts(MailSql sql, Sending sending, Batch batch, Answers answers) {
        this.sql = sql;
        this.sending = sending;
        this.batch = batch;
        this.answers = answers;
    }

    /** The effects of transitions on their own runs. */
    public Part effects() {
        return new Part(sql.effect, parameters -> {
            batch.ownEffects.bindActing(parameters);
            sending.lane(parameters).integer(sending.worker());
            batch.ownEffects.bind(parameters, sending.time());
        });
    }

    public Part deliver() {
        return new Part(
                sql.deliver,
                parameters -> {
                    batch.deliveries.bind(parameters.time(sending.time()));
                    sending.laneOfWorker(parameters).integer(sending.worker());
                },
                results -> readDelivered(results.next()));
    }

    private void readDelivered(ResultSet rows) throws SQLException {
        if (answers.fenced) {
            batch.deliveries.all.forEach(delivery -> answers.fence(delivery.index()));
            return;
        }
        while (rows.next()) {
            int index = batch.deliveries.all.get(rows.getInt("ordinal") - 1).index();
            if (index != MailDeliveries.UNASKED) {
                answers.outcomes[index] = reception(rows);
            }
            told(
                    rows,
                    batch.deliveries.all.size() == 1
                            ? batch.deliveries.all.getFirst().mail()
                            : null);
        }
    }

    private static Outcome reception(ResultSet row) throws SQLException {
        Instant at = Results.time(row, "at");
        RunState state = Codes.state(row.getInt("state_now"));
        return switch (row.getInt("reception")) {
            case Codes.NEW -> new Outcome.Applied(at, state);
            case Codes.KNOWN -> new Outcome.AlreadyThere(at, state);
            case Codes.STALE -> new Outcome.Undelivered(Outcome.Undelivered.Why.BEGAN_ANEW);
            case Codes.TAKEN -> new Outcome.Undelivered(Outcome.Undelivered.Why.TAKEN);
            default -> new Outcome.Undelivered(Outcome.Undelivered.Why.ENDED);
        };
    }

    /** Delivers the outcomes of runs that end to the parents that wait for them. */
    public Part answer() {
        return answer(
                sql, sending, batch.ends.answeringKeys(), batch.endingIds(), results -> readAnswers(results.next()));
    }

    /**
     * The same for any runs that end.
     *
     * @param keys the runs that are given by key
     * @param ids the runs that are given by id
     */
    public static Part answer(MailSql sql, Sending sending, long[] keys, String[] ids, Part.Reading reading) {
        return new Part(
                sql.answer,
                parameters -> sending.laneOfWorker(
                        parameters.time(sending.time()).longs(keys).texts(ids)),
                reading);
    }

    private void readAnswers(ResultSet rows) throws SQLException {
        while (rows.next()) {
            told(rows, onlyAnswer(rows));
        }
    }

    /** What a parent gets from the only run that ends, if that is only its result. */
    private @Nullable Mail onlyAnswer(ResultSet row) throws SQLException {
        boolean only = batch.size == 1 && batch.moves.size() == 1 && row.getInt("position") != Parent.REPORTS;
        return only
                        && batch.moves.getFirst().change().move() instanceof Move.End end
                        && end.state() == RunState.COMPLETED
                ? Mail.value(Channel.answer(row.getInt("position")), row.getObject("token", UUID.class), end.outcome())
                : null;
    }

    /**
     * @param mail the mail, if it is the only one; the run gets it without reading its mailbox
     */
    private void told(ResultSet row, @Nullable Mail mail) throws SQLException {
        if (row.getBoolean("goes_on")) {
            answers.hints.add(new Hints.WorkReady());
        }
        MailHint hint = MailHint.of(row, sending.sender(), mail);
        answers.addresseeWasRunning = hint != null;
        if (hint != null) {
            (hint.here() ? answers.hintsHere : answers.hints).add(hint.hint());
        }
    }
}

package dev.perdure.postgres.write;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.postgres.hint.MailHint;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Part;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Text;
import dev.perdure.postgres.lane.Sender;
import dev.perdure.postgres.lane.Sending;
import dev.perdure.postgres.reaction.TouchedRuns;
import dev.perdure.postgres.write.change.Entries;
import dev.perdure.postgres.write.change.Keys;
import dev.perdure.postgres.write.change.MailColumns;
import dev.perdure.postgres.write.change.SelfContained;
import dev.perdure.postgres.write.part.OneChangeSql;
import dev.perdure.postgres.write.part.RunParts;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.RunRef;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The plan for a single change, with the statements of {@link OneChangeSql}: an append, a start, an end, or mail to a
 * run in a worker's memory. If a belief is wrong, no row comes back and nothing was changed.
 */
public final class OneChangePlan implements BelievedPlan {
    private final WriteContext context;
    private final Sending sending;
    private final List<Part> parts;
    private final @Nullable Belief belief;
    private @Nullable Outcome outcome;

    private OneChangePlan(
            WriteContext context,
            Sender sender,
            @Nullable Belief belief,
            @Nullable Part settings,
            String sql,
            Binding binding,
            Reading reading) {
        this.context = context;
        this.sending = context.by(sender);
        this.belief = belief;
        Part part = new Part(sql, parameters -> binding.to(parameters, sending), results -> {
            ResultSet row = results.next();
            outcome = row.next() ? reading.of(row, this) : null;
        });
        this.parts = new ArrayList<>(settings == null ? List.of(part) : List.of(settings, part));
    }

    /** Binds the parameters of the statement. */
    private interface Binding {
        void to(Parameters parameters, Sending sending) throws SQLException;
    }

    /** Makes the outcome from the only row of the answer. */
    private interface Reading {
        Outcome of(ResultSet row, OneChangePlan plan) throws SQLException;
    }

    /** The plan for this change; null if there is none for this kind, or if its belief was wrong recently. */
    static @Nullable OneChangePlan of(WriteContext context, OneChangeSql sql, Sender sender, Change change, Keys keys) {
        return switch (change) {
            case Change.Advance advance
            when SelfContained.isAppend(advance) && advance.entries().size() == 1 ->
                append(context, sql, sender, advance, advance.entries().getFirst());
            case Change.Advance advance
            when SelfContained.isEnd(advance) && advance.move() instanceof Move.End end ->
                end(context, sql, sender, advance, end);
            case Change.Start start
            when SelfContained.isStart(start) && (start.owner() != null || sender.worker() == null) ->
                start(context, sql, sender, start, keys);
            default -> telling(context, sql, sender, change);
        };
    }

    private static OneChangePlan append(
            WriteContext context, OneChangeSql sql, Sender sender, Change.Advance advance, Entry entry) {
        OneChangeSql.KeyedEntry row = new OneChangeSql.KeyedEntry(advance.run().key(), entry);
        return new OneChangePlan(
                context,
                sender,
                null,
                null,
                sql.append,
                (parameters, sending) -> OneChangeSql.ENTRY.bindOne(sending.fence(parameters), row),
                (answer, plan) -> new Outcome.Applied(Results.time(answer, "at"), RunState.RUNNING));
    }

    private static @Nullable OneChangePlan start(
            WriteContext context, OneChangeSql sql, Sender sender, Change.Start start, Keys keys) {
        Belief idsAreNew = context.beliefs().idsAreNew;
        if (!idsAreNew.isWorthwhile()) {
            return null;
        }
        boolean owned = start.owner() != null;
        NewRun run = start.run();
        RunRef ref = new RunRef(run.id(), Keys.key(keys.take(), run));
        return new OneChangePlan(
                context,
                sender,
                idsAreNew,
                null,
                owned ? sql.start : sql.enqueue,
                (parameters, sending) -> {
                    parameters.time(sending.time()).text(Database.LOCK_TIMEOUT);
                    if (owned) {
                        sending.lane(parameters);
                    }
                    OneChangeSql.RUN.bindOne(parameters, new OneChangeSql.KeyedRun(ref.key(), run));
                    parameters.bytes(run.input().bytes());
                },
                (answer, plan) -> new Outcome.Started(ref, owned, Results.time(answer, "at")));
    }

    private static OneChangePlan end(
            WriteContext context, OneChangeSql sql, Sender sender, Change.Advance advance, Move.End end) {
        long key = advance.run().key();
        OneChangePlan plan = new OneChangePlan(
                context,
                sender,
                null,
                new Part(sql.settings, parameters -> parameters.text(Database.LOCK_TIMEOUT)),
                sql.end,
                (parameters, sending) -> {
                    parameters.number(Codes.of(end.state())).text(Text.storableOrNull(end.reason()));
                    sending.fence(parameters);
                    parameters.number(key).number(Keys.partition(key)).number(advance.epoch());
                    parameters.bytes(end.outcome().bytes());
                    parameters.integer(sending.worker()).number(key).number(Keys.partition(key));
                },
                (answer, made) -> new Outcome.Applied(Results.time(answer, "at"), end.state()));
        TouchedRuns touched = TouchedRuns.of(List.of(advance));
        if (!touched.isEmpty()) {
            plan.parts.add(context.react(touched));
        }
        return plan;
    }

    /** A change that delivers to one run, if mail recently went to runs in memory. */
    private static @Nullable OneChangePlan telling(
            WriteContext context, OneChangeSql sql, Sender sender, Change change) {
        return switch (change) {
            case Change.Deliver deliver when deliver.audit() == null -> deliver(context, sql, sender, deliver, null);
            case Change.Advance advance
            when advance.move() instanceof Move.Stay -> {
                Effect.Deliver mail = onlyMail(advance.effects());
                yield mail == null
                        ? null
                        : deliver(context, sql, sender, new Change.Deliver(mail.to(), mail.mail()), advance);
            }
            case Change.Advance advance
            when advance.move() instanceof Move.End end -> endAndAnswer(context, sql, sender, advance, end);
            default -> null;
        };
    }

    /** The one mail of a transition that has no other effect. */
    private static Effect.@Nullable Deliver onlyMail(List<Effect> effects) {
        Effect.Deliver mail = null;
        for (Effect effect : effects) {
            if (effect instanceof Effect.Deliver deliver && mail == null) {
                mail = deliver;
            } else if (!(effect instanceof Effect.Take)) {
                return null;
            }
        }
        return mail;
    }

    /**
     * @param noted the transition that sends it and stays, or null if it comes from outside
     */
    private static @Nullable OneChangePlan deliver(
            WriteContext context,
            OneChangeSql sql,
            Sender sender,
            Change.Deliver delivery,
            Change.@Nullable Advance noted) {
        RunId to = delivery.to();
        Integer life = delivery.life() == Change.Deliver.ANY_LIFE ? null : Integer.valueOf(delivery.life());
        Belief running = context.beliefs().addresseesAreRunning;
        if (!running.isWorthwhile()) {
            return null;
        }
        return new OneChangePlan(
                context,
                sender,
                running,
                RunParts.settings(context.sql()),
                noted == null ? sql.deliver : sql.send,
                (parameters, sending) -> {
                    sending.lane(parameters);
                    parameters.text(to.value()).integer(life).integer(life);
                    parameters.integer(sending.worker()).time(sending.time());
                    MailColumns.COLUMNS.bindOne(parameters, delivery.mail());
                    if (noted != null) {
                        bindNotes(parameters, noted);
                    }
                },
                (answer, plan) -> plan.told(answer, delivery.mail(), RunState.RUNNING));
    }

    private static @Nullable OneChangePlan endAndAnswer(
            WriteContext context, OneChangeSql sql, Sender sender, Change.Advance advance, Move.End end) {
        long key = advance.run().key();
        boolean onlyAnswers = Keys.answers(key) && !Keys.precedes(key) && !Keys.holds(key);
        boolean onlyTakes = advance.effects().stream().allMatch(Effect.Take.class::isInstance);
        Belief running = context.beliefs().addresseesAreRunning;
        if (!onlyAnswers || !onlyTakes || end.state() != RunState.COMPLETED || !running.isWorthwhile()) {
            return null;
        }
        return new OneChangePlan(
                context,
                sender,
                running,
                RunParts.settings(context.sql()),
                sql.endAndAnswer,
                (parameters, sending) -> {
                    sending.lane(parameters);
                    parameters
                            .number(key)
                            .number(advance.epoch())
                            .integer(sending.worker())
                            .number(key);
                    parameters.time(sending.time()).bytes(end.outcome().bytes());
                    bindNotes(parameters, advance);
                    parameters
                            .integer(sending.worker())
                            .number(key)
                            .time(sending.time())
                            .number(key);
                },
                (answer, plan) -> {
                    Channel channel = Channel.answer(answer.getInt("position"));
                    Mail mail = Mail.value(channel, answer.getObject("token", UUID.class), end.outcome());
                    return plan.told(answer, mail, RunState.COMPLETED);
                });
    }

    private static void bindNotes(Parameters parameters, Change.Advance advance) throws SQLException {
        long[] taken = advance.effects().stream()
                .filter(Effect.Take.class::isInstance)
                .mapToLong(effect -> ((Effect.Take) effect).number())
                .toArray();
        parameters.number(advance.run().key()).longs(taken);
        new Entries(List.of(advance)).bind(parameters);
    }

    private Outcome told(ResultSet row, Mail mail, RunState state) throws SQLException {
        MailHint hint = MailHint.of(row, sending.sender(), mail);
        if (hint != null) {
            hint.tell(context.hints());
        }
        return new Outcome.Applied(Results.time(row, "at"), state);
    }

    @Override
    public List<Part> parts() {
        return parts;
    }

    @Override
    public @Nullable Outcome[] outcomes() {
        if (belief != null) {
            belief.proved(outcome != null);
        }
        return new Outcome[] {outcome};
    }

    @Override
    public void failed() {
        // The plan that looks everything up finds out what is wrong.
    }
}

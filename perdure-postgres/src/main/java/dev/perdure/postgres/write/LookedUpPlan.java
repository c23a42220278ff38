package dev.perdure.postgres.write;

import dev.perdure.postgres.jdbc.Part;
import dev.perdure.postgres.lane.Sender;
import dev.perdure.postgres.lane.Sending;
import dev.perdure.postgres.write.change.Batch;
import dev.perdure.postgres.write.part.Answers;
import dev.perdure.postgres.write.part.CommandParts;
import dev.perdure.postgres.write.part.DagParts;
import dev.perdure.postgres.write.part.ElsewhereSql;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.postgres.write.part.MailParts;
import dev.perdure.postgres.write.part.ObjectParts;
import dev.perdure.postgres.write.part.RunParts;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Outcome;
import java.util.ArrayList;
import java.util.List;

/**
 * The plan for any batch: it locks what it touches in one ordered pass, looks everything up, and decides by what it
 * finds. It reads back rows that existed before in a second round trip.
 */
public final class LookedUpPlan {
    private final WriteContext context;
    private final Batch batch;
    private final boolean careful;
    private final Answers answers;
    private final RunParts runs;
    private final DagParts dags;
    private final ObjectParts objects;
    private final MailParts mail;
    private final CommandParts commands;
    private final ElsewhereSql elsewhere;
    private final Sending sending;

    /**
     * The plan for a batch.
     *
     * @param careful whether entries may already exist: see {@link LedgerSql}
     */
    public LookedUpPlan(WriteContext context, Sender sender, Batch batch, boolean careful) {
        this.context = context;
        this.batch = batch;
        this.careful = careful;
        this.answers = new Answers(batch, sender);
        LedgerSql sql = context.sql();
        this.sending = context.by(sender);
        this.runs = new RunParts(sql, sending, batch, answers);
        this.dags = new DagParts(sql.dag, sending, batch, answers);
        this.objects = new ObjectParts(sql, sending, batch, answers);
        this.mail = new MailParts(sql.mail, sending, batch, answers);
        this.elsewhere = sql.elsewhere;
        this.commands = new CommandParts(sql.commands, sending, batch, answers);
    }

    /** Sends the batch. */
    public List<Outcome> outcomes() {
        answers.fence(batch.completedCallChanges);
        context.send(parts());
        answers.readBack(context.readBack(), runs.stayEntries());
        learn(context.beliefs());
        answers.hints.forEach(context.hints()::tell);
        answers.hintsHere.forEach(context.hints()::tellHere);
        return List.of(answers.outcomes);
    }

    private void learn(Beliefs beliefs) {
        if (batch.starts()) {
            beliefs.idsAreNew.proved(answers.taken.isEmpty());
        }
        if (answers.addresseeWasRunning != null) {
            beliefs.addresseesAreRunning.proved(answers.addresseeWasRunning);
        }
    }

    /** Calls of virtual objects that wait for their turn since this batch, and for whose results other runs wait. */
    List<Long> waiting() {
        return List.copyOf(answers.waiting);
    }

    /**
     * The parts that the batch needs, in the order in which they are sent: parts that lock rows that others know come
     * before new ids, for which others may wait.
     */
    private List<Part> parts() {
        Parts parts = new Parts();
        parts.addIf(batch.objects.makes(), objects::make);
        parts.addIf(batch.touchesObjects(), objects::lock);
        addLocks(parts);
        parts.addIf(!batch.stays.isEmpty(), () -> runs.append(careful));
        parts.addIf(batch.starts(), runs::start);
        parts.addIf(batch.elsewhere.links(), () -> elsewhere.link(batch));
        parts.addIf(!batch.tasks.isEmpty(), dags::startTasks);
        parts.addIf(batch.objects.enters(), objects::enter);
        parts.addIf(!batch.births.limited().isEmpty(), runs::limit);
        parts.addIf(!batch.commands.isEmpty(), commands::commands);
        parts.addIf(!batch.commands.passedOn().isEmpty(), commands::tasksOfCommanded);
        parts.addIf(!batch.cancels.isEmpty(), commands::cancels);
        parts.addIf(!batch.cancels.isEmpty(), commands::tasksOfCancelled);
        parts.addIf(batch.ends.follows(), objects::follow);
        parts.addIf(!batch.ownEffects.isEmpty(), mail::effects);
        parts.addIf(batch.elsewhere.sends(), () -> elsewhere.send(sending, batch, this::kept));
        parts.addIf(!batch.described.isEmpty(), runs::describe);
        parts.addIf(batch.objects.changesStates(), objects::states);
        parts.addIf(!batch.deliveries.isEmpty(), mail::deliver);
        parts.addIf(!batch.moves.isEmpty(), () -> batch.onlyEnds() ? runs.end(careful) : runs.move());
        parts.addIf(!batch.restarts.isEmpty(), runs::restart);
        parts.addIf(!batch.reruns.isEmpty(), dags::rerun);
        parts.addIf(!batch.completedCalls.isEmpty(), objects::completed);
        parts.addIf(batch.completedCalls.states.changesStates(), objects::statesOfCompleted);
        parts.addIf(batch.attributed().length > 0, runs::findable);
        parts.addIf(batch.answers(), mail::answer);
        parts.addIf(
                batch.answers() && elsewhere.isShard(),
                () -> elsewhere.tell(sending, batch.ends.answeringKeys(), batch.endingIds(), this::kept));
        parts.addIf(batch.releases(), objects::release);
        parts.addIf(batch.opens(), dags::open);
        parts.addIf(!batch.touched.isEmpty(), () -> context.react(batch.touched));
        boolean takesOn = batch.ends.takingKeys().length > 0;
        parts.addIf(takesOn, () -> batch.releases() ? dags.handed() : dags.handedTasks());
        parts.addIf(batch.objects.mayHold() && !takesOn, objects::knownStates);
        return parts.withSettings(context.sql(), !batch.onlyAppends());
    }

    private void kept() {
        answers.hintsHere.add(new Hints.OutgoingKept());
    }

    private void addLocks(Parts parts) {
        if (batch.touchesOnlyWhatComesAfter()) {
            parts.add(runs.lockWithSuccessors());
        } else if (batch.touchesOthers()) {
            parts.add(runs.lockAll());
        } else if (batch.moves()) {
            parts.add(runs.lock());
        }
    }

    /** Parts in the order in which they are sent. */
    static final class Parts {
        private final List<Part> all = new ArrayList<>();

        /** Makes a part. */
        interface Making {
            Part part();
        }

        void add(Part part) {
            all.add(part);
        }

        void addIf(boolean wanted, Making making) {
            if (wanted) {
                all.add(making.part());
            }
        }

        /** All parts after the settings. A batch that only appends does not need the settings. */
        List<Part> withSettings(LedgerSql sql, boolean wanted) {
            if (wanted) {
                all.addFirst(RunParts.settings(sql));
            }
            return all;
        }
    }
}

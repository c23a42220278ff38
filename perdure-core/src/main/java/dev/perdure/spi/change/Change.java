package dev.perdure.spi.change;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.attribute.AttributeValue;
import dev.perdure.attribute.Description;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Outcome;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** One atomic change to the store. Applying the same change twice does what applying it once does. */
public sealed interface Change {
    /** The run that it is about: the one that it starts, moves, commands or writes to. */
    default RunId about() {
        return switch (this) {
            case Start start -> start.run().id();
            case Advance advance -> advance.run().id();
            case CompletedCall completed -> completed.run().id();
            case Command command -> command.run();
            case Rerun rerun -> rerun.run();
            case Retry retry -> retry.run();
            case Retell retell -> retell.run();
            case Fork fork -> fork.id();
            case Repair repair -> repair.run();
            case Reassign reassign -> reassign.run();
            case Deliver deliver -> deliver.to();
        };
    }

    /**
     * Starts a run. With an owner it begins as running, in that worker's memory. Without one it is ready for any
     * worker.
     *
     * @param run the run
     * @param owner the worker of this batch, or null
     * @param mails the mail in its mailbox when it begins
     * @param tasks the runs that start with it, each listed after the tasks that it comes after. If there are any, the
     *     run itself is pending until the last of them has ended, and the owner gets the tasks that begin at once.
     *     Without an owner, these tasks wait for the delay of the run, if it has one. If another run has the id of a
     *     task, the whole start is {@link Outcome.Refused}
     */
    record Start(NewRun run, @Nullable WorkerId owner, List<Mail> mails, List<Task> tasks) implements Change {
        /** A start of a run without tasks. */
        public Start(NewRun run, @Nullable WorkerId owner, List<Mail> mails) {
            this(run, owner, mails, List.of());
        }

        /** A start with an empty mailbox. */
        public Start(NewRun run, @Nullable WorkerId owner) {
            this(run, owner, List.of());
        }
    }

    /**
     * A transition of a run that the worker of this batch holds: appends these entries, then makes this move.
     *
     * @param run the run
     * @param epoch the epoch under which the worker holds it
     * @param entries the entries to append, in order; may be empty
     * @param effects what it does outside the run, in order; may be empty
     * @param move the move of the run
     */
    record Advance(RunRef run, long epoch, List<Entry> entries, List<Effect> effects, Move move) implements Change {
        /** A transition without effects. */
        public Advance(RunRef run, long epoch, List<Entry> entries, Move move) {
            this(run, epoch, entries, List.of(), move);
        }
    }

    /**
     * A call of a virtual object from its start to its end. The worker of this batch has run it ahead of its turn, and
     * the store does not know it yet. It has no parent, no delay and no timeout. The store applies it only if the same
     * batch ends the call right before it, and no other calls wait for the object except those that it names. Otherwise
     * it is {@link Outcome.Fenced}, and the store applies nothing of it. Of calls that follow one another, the store
     * applies all or none.
     *
     * @param run the call, which is exclusive
     * @param entries the entries that it has recorded
     * @param effects its changes to the state, in order
     * @param end how it ended; it takes over no other run
     * @param follows the call right before it, from whose state the worker ran it: a call that the worker holds and
     *     ends in this batch, or another one like this
     * @param beside calls that may also wait for the object, because they were not acknowledged to any caller before
     *     this call was made
     */
    record CompletedCall(
            NewRun run, List<Entry> entries, List<Effect> effects, Move.End end, RunId follows, Set<RunId> beside)
            implements Change {
        /** A call for whose object no other calls may wait. */
        public CompletedCall(NewRun run, List<Entry> entries, List<Effect> effects, Move.End end, RunId follows) {
            this(run, entries, effects, end, follows, Set.of());
        }
    }

    /**
     * Puts a mail into a run's mailbox, and lets the run continue if it waits for this mail.
     *
     * @param to the receiving run
     * @param mail the mail
     * @param life the life of the run that the mail is for, or {@link #ANY_LIFE}. If the run has begun anew since, the
     *     mail is {@link Outcome.Undelivered}. An answer is always for one life, because the next life has other calls
     *     at the same positions
     * @param audit the audit entry, if this is a command of an operator; otherwise null
     */
    record Deliver(RunId to, Mail mail, int life, @Nullable Audit audit) implements Change {
        /** The mail is for the run, however often it begins anew. */
        public static final int ANY_LIFE = -1;

        /** Checks that an answer names a life. */
        public Deliver {
            if (mail.channel().kind() == Channel.Kind.ANSWER && life == ANY_LIFE) {
                throw new IllegalArgumentException(
                        "An answer is for one life of run '%s'. Name the life of the call that it answers."
                                .formatted(to));
            }
        }

        /** A message or the value of a promise, which are for every life of the run. */
        public Deliver(RunId to, Mail mail) {
            this(to, mail, ANY_LIFE);
        }

        /** Mail for one life, or for any, that does not come from an operator. */
        public Deliver(RunId to, Mail mail, int life) {
            this(to, mail, life, null);
        }

        /** Whether the mail is for this life of the run. */
        public boolean isFor(int present) {
            return life == ANY_LIFE || life == present;
        }
    }

    /**
     * A command from outside to a run. It takes effect at once on a run that no worker holds. If a worker holds the
     * run, the store leaves the command on the row and raises the wake count. A command whose audit entry is there was
     * carried out before: it does nothing, whatever has become of the run since. Otherwise the run is unknown if it is
     * not the one that the sender saw; for {@link CommandKind#RESUME} and {@link CommandKind#REFUSE} also if it has changed
     * its state since.
     *
     * @param run the run
     * @param kind what it does
     * @param reason why; empty for {@link CommandKind#RESUME}
     * @param audit the audit entry, or null for a command that the engine gives by itself
     * @param seen the run as the sender saw it, or null for whichever run has the id
     */
    record Command(
            RunId run,
            CommandKind kind,
            String reason,
            @Nullable Audit audit,
            @Nullable Seen seen) implements Change {
        /** A command to whichever run has the id. */
        public Command(RunId run, CommandKind kind, String reason, @Nullable Audit audit) {
            this(run, kind, reason, audit, null);
        }

        /** A command that the engine gives by itself. */
        public Command(RunId run, CommandKind kind, String reason) {
            this(run, kind, reason, null);
        }

        /** For stores: the reason of this command for the tasks of the run that it is for. */
        public static String ofTask(CommandKind kind, String reason) {
            return kind == CommandKind.CANCEL ? "its DAG was cancelled: " + reason : reason;
        }

        /** For stores: whether the command is for the run that was created and entered its state at these times. */
        public boolean isFor(Instant createdAt, Instant changedAt) {
            return seen == null
                    || (kind.isForSeenState()
                            ? seen.equals(new Seen(createdAt, changedAt))
                            : seen.createdAt().equals(createdAt));
        }
    }

    /**
     * Gives a run a new life under the same id, with the same input and an empty journal; a run with tasks together with
     * some of its tasks. What it had recorded is kept for its history, without payloads. Refused unless the run and these tasks
     * have ended, and while another run that has not ended has the deduplication key of the run, which it otherwise gets
     * back; and as {@link #refusal} says. The store recognises a repeated rerun by the seed.
     *
     * @param run the run
     * @param tasks the tasks that begin anew; the others keep their outcomes
     * @param seed the run's new seed, from which the store derives those of the tasks
     * @param ended when the run ended: if it has gone on since, or ended once more, this change does nothing; or null for
     *     whenever it ended
     * @param audit the audit entry, or null
     */
    record Rerun(
            RunId run,
            List<RunId> tasks,
            long seed,
            @Nullable Instant ended,
            @Nullable Audit audit) implements Change {
        /** A rerun without an audit entry, whenever the run ended. */
        public Rerun(RunId run, List<RunId> tasks, long seed) {
            this(run, tasks, seed, null, null);
        }

        /** For stores: why a run cannot begin anew, or null. A run with tasks may in any state in which it has ended. */
        public static @Nullable String refusal(
                RunId run, RunState state, boolean hasTasks, boolean isTask, boolean isCall, @Nullable String told) {
            if (isTask) {
                return "The run '%s' is a task of a DAG. Let the DAG run it again: rerun(…) of the DAG.".formatted(run);
            }
            if (isCall) {
                return "The run '%s' is a call of a virtual object, which has gone on since. Call the object again."
                        .formatted(run);
            }
            if (hasTasks ? !state.isTerminal() : state != RunState.FAILED && state != RunState.CANCELLED) {
                return state.isTerminal()
                        ? "The run '%s' is %s. Only a run that failed or was cancelled begins anew. Fork it from position 1 instead."
                                .formatted(run, state)
                        : "The run '%s' is %s. Wait until it has ended, or cancel it.".formatted(run, state);
            }
            return told == null || hasTasks
                    ? null
                    : "The run '%s', which called it, has got the outcome of '%s'. Let that run begin anew, or fork one of them."
                            .formatted(told, run);
        }

        /** The new seed of a task. */
        public long seedOf(long oldSeed) {
            return oldSeed ^ seed;
        }

        /** For stores: why the tasks of a run cannot begin anew whose deduplication key another run has got. */
        public static String keyTaken(RunId run, String key, String holder) {
            return "The run '%s' has its deduplication key '%s' now, and only one run at a time has it. Let '%s' begin anew when that run has ended."
                    .formatted(holder, key, run);
        }
    }

    /**
     * Lets a run that failed or was cancelled continue from the call that failed, in the same life: see {@link
     * RetryPlan}. The store refuses it for a run with tasks, for a task, for a call of a virtual object, if the run
     * that called it has got its outcome, and if another run that has not ended has its deduplication key, which it
     * otherwise gets back. Outcomes of children that ended since are delivered.
     *
     * @param run the run
     * @param ended when it ended: if it has continued since, or ended once more, this change was applied before
     * @param audit the audit entry, or null
     * @param sends what it sends to runs of other shards if it is applied: a {@link Retell} to each child there of which the
     *     run has no result
     */
    record Retry(RunId run, Instant ended, @Nullable Audit audit, List<Effect.Send> sends) implements Change {
        /** A retry that sends nothing. */
        public Retry(RunId run, Instant ended, @Nullable Audit audit) {
            this(run, ended, audit, List.of());
        }

        /** A retry without an audit entry. */
        public Retry(RunId run, Instant ended) {
            this(run, ended, null);
        }

        /** For stores: why a run cannot be retried, or null if its journal decides. */
        public static @Nullable String refusal(
                RunId run, RunState state, boolean hasTasks, boolean isTask, boolean isCall, @Nullable String told) {
            if (hasTasks || isTask) {
                return "The run '%s' belongs to a DAG. Run its failed tasks again: retryFailed() of the DAG."
                        .formatted(run);
            }
            if (isCall) {
                return "The run '%s' is a call of a virtual object, which has gone on since. Call the object again."
                        .formatted(run);
            }
            if (state != RunState.FAILED && state != RunState.CANCELLED) {
                return "The run '%s' is %s. Only a run that failed or was cancelled is retried. Fork it instead."
                        .formatted(run, state);
            }
            return told == null
                    ? null
                    : "The run '%s', which called it, has got the outcome of '%s'. Fork one of them instead."
                            .formatted(told, run);
        }

        /** For stores: why a run cannot be retried whose deduplication key another run has got. */
        public static String keyTaken(RunId run, String key, String holder) {
            return "The run '%s' has its deduplication key '%s' now, and only one run at a time has it. Retry '%s' when that run has ended, or fork it."
                    .formatted(holder, key, run);
        }
    }

    /**
     * Lets a run that has ended send its outcome once more to the run of another shard that called it, which is retried and
     * may have missed it. It is the same mail as the first time, so the other run takes it once. A run that has not ended
     * sends it when it ends, and one that has another caller, or none, sends nothing: both are {@link Outcome.Applied}.
     *
     * @param run the run
     * @param caller the run that called it
     */
    record Retell(RunId run, Parent caller) implements Change {}

    /**
     * Puts another answer in the place of what a step has recorded, or of the answer that it has not got yet. The run
     * must not be in the memory of a worker: it is paused, or it has ended and could be retried. Its state does not
     * change. If it has ended, the repair also removes what a retry would remove beside this step: see {@link
     * RetryPlan}. The store recognises a repeated repair by its audit entry.
     *
     * @param run the run
     * @param position the position of the step
     * @param status {@link Entry.Status#VALUE} or {@link Entry.Status#FAILURE}
     * @param payload the value or the failure
     * @param audit the audit entry
     */
    record Repair(RunId run, int position, Entry.Status status, Payload payload, Audit audit) implements Change {
        /** For stores: why the journal of a run in this state cannot be repaired, or null. */
        public static @Nullable String refusal(RunId run, RunState state) {
            return switch (state) {
                case PAUSED, FAILED, CANCELLED -> null;
                case COMPLETED, SKIPPED ->
                    "The run '%s' is %s, and its result stays. Fork it instead.".formatted(run, state);
                default ->
                    "The run '%s' is %s, so a worker may be at work on it. Pause it, repair it, and resume it."
                            .formatted(run, state);
            };
        }

        /** For stores: what stands at the position instead; or null if there is no step. */
        public @Nullable Entry answer(Collection<Recorded> journal) {
            return journal.stream()
                    .map(Recorded::entry)
                    .filter(entry -> entry.position() == position)
                    .filter(entry -> entry.kind() == Entry.Kind.STEP || entry.kind() == Entry.Kind.TRANSACTION)
                    .map(entry -> new Entry(position, Entry.ANSWER, entry.kind(), entry.name(), status, payload))
                    .findFirst()
                    .orElse(null);
        }

        /**
         * For stores: the time of the answer. In a paused run it is that of the answer it replaces, because what came
         * before the step and what after it stays so. In a run that has ended it is after the end.
         *
         * @param changed when the run entered its state
         */
        public Instant time(Collection<Recorded> journal, RunState state, Instant changed, Instant now) {
            if (state.isTerminal()) {
                return now.isAfter(changed) ? now : changed.plus(1, ChronoUnit.MICROS);
            }
            return journal.stream()
                    .filter(recorded -> recorded.entry().position() == position
                            && recorded.entry().note() == Entry.ANSWER)
                    .map(Recorded::at)
                    .findFirst()
                    .orElse(now);
        }

        /** For stores: the refusal if there is none. */
        public String noStep() {
            return "The run '%s' has recorded no step at position %s. The history shows its steps, with their attempts; for any other call, fork the run."
                    .formatted(run, position);
        }
    }

    /**
     * Starts a run with what another one has recorded before a position: see {@link ForkPlan}. It has the definition,
     * queue, priority, timeout, description and key of the other run, and not its parent.
     *
     * @param from the other run
     * @param position the first position that it does not take over, from 1
     * @param id the id of the new run
     * @param seed the seed of the new run, by which the store recognises a fork that was sent twice
     * @param input its input, or null for that of the other run
     * @param copy what it takes over instead of what the other run has at the same places; null: it takes over everything
     *     as it is. If the other run has begun anew, or has other entries or attributes in the meantime, the store starts
     *     nothing: {@link Outcome.Outdated}
     * @param compensated whether it may take over what a saga of the other run has undone
     * @param audit the audit entry, or null
     */
    record Fork(
            RunId from,
            int position,
            RunId id,
            long seed,
            @Nullable Payload input,
            @Nullable Copy copy,
            boolean compensated,
            @Nullable Audit audit)
            implements Change {
        /**
         * What the engine has made anew for the new run.
         *
         * @param seed the seed of the other run, which the engine read before all else: each life has its own
         * @param entries the entries of the journal
         * @param read the attributes that the other run had when the engine read them
         * @param attributes those of the new run in their place
         */
        public record Copy(
                long seed,
                List<Entry> entries,
                Map<String, AttributeValue> read,
                Map<String, AttributeValue> attributes) {}

        /** A fork that takes over what the other run has recorded, without an audit entry. */
        public Fork(RunId from, int position, RunId id, long seed, @Nullable Payload input) {
            this(from, position, id, seed, input, null, false, null);
        }

        /** The same with an audit entry. */
        public Fork auditedBy(@Nullable Audit entry) {
            return new Fork(from, position, id, seed, input, copy, compensated, entry);
        }

        /** The entries that the engine has made anew; empty if the store copies them as they are. */
        public List<Entry> entries() {
            return copy == null ? List.of() : copy.entries();
        }

        /** For stores: whether it has a copy, and not of all that it takes over, as that is now apart from payloads. */
        public boolean isOutdated(ForkPlan plan, NewRun other) {
            Copy anew = copy;
            if (anew == null) {
                return false;
            }
            Set<Entry> named = anew.entries().stream()
                    .map(entry -> entry.with(Payload.EMPTY))
                    .collect(Collectors.toSet());
            return anew.seed() != other.seed()
                    || !anew.read().equals(other.description().attributes())
                    || !named.containsAll(plan.copied());
        }

        /** For stores: why a run cannot be forked, or null if its journal decides. */
        public static @Nullable String refusal(
                RunId run, Description described, boolean hasTasks, boolean isTask, boolean isCall) {
            if (hasTasks || isTask) {
                return "The run '%s' belongs to a DAG. Start the DAG again, or run tasks of it again with rerun(…)."
                        .formatted(run);
            }
            if (isCall) {
                return "The run '%s' is a call of a virtual object. Call the object again.".formatted(run);
            }
            return described.attributes().entrySet().stream()
                    .filter(each -> each.getValue() instanceof AttributeValue.Unreadable)
                    .map(each ->
                            "The attribute '%s' of the run '%s' has a value that this version of Perdure cannot read, so it cannot be copied. Fork the run with the version that wrote it."
                                    .formatted(each.getKey(), run))
                    .findFirst()
                    .orElse(null);
        }

        private Description described(Description other) {
            return copy == null ? other : other.withAttributes(copy.attributes());
        }

        /** The new run. */
        public NewRun of(NewRun other) {
            Payload its = input == null ? other.input() : input;
            NewRun bare = new NewRun(id, other.definition(), its, seed, StartOptions.DEFAULT_QUEUE, 0, null, null);
            return bare.startedFor(StartedFor.FORK, other.describedAs(described(other.description())), Set.of());
        }
    }

    /**
     * Gives a run another queue, or pins it to another version. No worker must hold the run. It then waits in that queue
     * from now on, and gives back its place in the other one. Refused as {@link #refusal} says. The store recognises a
     * repeated move by its audit entry; a run that is there already is {@link Outcome.AlreadyThere}. A run that was
     * created at another time than the one that the sender saw is unknown.
     *
     * @param run the run
     * @param queue its new queue, or null to leave it where it is
     * @param version its new version, or null to leave it as it is
     * @param audit the audit entry
     * @param seen the run as the sender saw it
     */
    record Reassign(
            RunId run, @Nullable String queue, @Nullable String version, Audit audit, Seen seen) implements Change {
        /**
         * For stores: why a run cannot be moved, or null.
         *
         * @param begun whether it has ever run
         * @param ofDag whether it is a task or has tasks
         * @param isCall whether it calls a virtual object
         */
        public @Nullable String refusal(RunState state, boolean begun, boolean ofDag, boolean isCall) {
            if (ofDag || isCall) {
                return "The run '%s' belongs to a DAG or calls a virtual object, and stays where it is. Start it anew with other options."
                        .formatted(run);
            }
            return switch (state) {
                case PAUSED -> null;
                case READY, SUSPENDED, BACKING_OFF ->
                    version != null && begun
                            ? "The run '%s' has begun under its version. Pause it, move it, and resume it."
                                    .formatted(run)
                            : null;
                case RUNNING, PENDING ->
                    "The run '%s' is %s, so it cannot be moved now. Pause it, move it, and resume it."
                            .formatted(run, state);
                case COMPLETED, FAILED, CANCELLED, SKIPPED ->
                    "The run '%s' has ended (%s). Only a run that has not ended is moved.".formatted(run, state);
            };
        }
    }

    /**
     * A run as the sender of a change saw it. By the time at which it was created, the store knows a run from another
     * one that has got its id since.
     *
     * @param createdAt when it was created
     * @param changedAt when it entered the state that it had
     */
    record Seen(Instant createdAt, Instant changedAt) {}

    /** What a command does to a run. */
    enum CommandKind {
        /** Cancels it, with its tasks: its workflow gets the cancel and can compensate. */
        CANCEL,
        /** Ends it without running its code again. */
        KILL,
        /** Pauses it. */
        PAUSE,
        /** Lets a paused run continue. */
        RESUME,
        /** Fails a call of a virtual object that waits for a turn that can never come. */
        REFUSE,
        /** Ends it as cancelled, with its tasks, if it has not begun; otherwise does nothing. */
        EXPIRE;

        /** Whether the same transaction gives it to the tasks of the run. */
        public boolean isForTasks() {
            return this == CANCEL || this == KILL || this == EXPIRE;
        }

        /** Whether it is for the run in the state in which its sender saw it, and in no other. */
        public boolean isForSeenState() {
            return this == RESUME || this == REFUSE;
        }
    }
}

package dev.perdure.internal.schedule;

import dev.perdure.RunId;
import dev.perdure.error.CancelledException;
import dev.perdure.error.DecryptionException;
import dev.perdure.error.MissingPayloadException;
import dev.perdure.error.PayloadException;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.execution.EngineContext;
import dev.perdure.internal.execution.mail.Turns;
import dev.perdure.internal.schedule.ScheduleSpec.RuleKind;
import dev.perdure.internal.schedule.ScheduleTurn.Start;
import dev.perdure.queue.Placement;
import dev.perdure.schedule.Fire;
import dev.perdure.schedule.Overlap;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.EndReport;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Task;
import dev.perdure.spi.payload.PayloadPlace;
import dev.perdure.spi.report.EngineLog;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * The run that a schedule is.
 *
 * <p>How it works. The run waits for its next fire time, for a command, and, if something depends on them, for the ends
 * of runs that it has started. Then it takes a turn ({@link ScheduleTurn}): what it knows then is the entry that it
 * records, and the runs that it starts are effects of the same transition, which also sets the timer for the next turn.
 * So a fire time has its run if and only if the schedule has gone past it. A worker that crashes before the commit has
 * done nothing; after it, any worker takes the next turn. After some turns the run begins anew, so that its journal
 * stays short.
 */
public final class ScheduleFunction {
    private static final Logger LOG = EngineLog.of("dev.perdure.schedule");
    private static final String TURN = "schedule";
    private static final int TURNS_OF_A_LIFE = 20;
    private static final Channel COMMANDS = Channel.message(ScheduleNames.COMMANDS.name());
    private static final Channel REPORTS = EndReport.channel();
    private static final Set<Channel> ALL_MAIL = Set.of(COMMANDS, REPORTS);

    private final FireTimes times;

    /** Shares what is known of expressions. */
    public ScheduleFunction(FireTimes times) {
        this.times = times;
    }

    /** As a definition of this name. */
    public Registered registered(String definition) {
        return new Registered(
                new Registered.Target(definition, ScheduleState.class, void.class),
                "schedules of the engine",
                (ctx, input) -> call((EngineContext) ctx, definition, input));
    }

    /** What goes wrong pauses the run, and nothing is applied: a schedule must never fail, because its name is its run. */
    private @Nullable Object call(EngineContext engine, String definition, @Nullable Object input) {
        try {
            Known known = new Known(engine, (ScheduleState) Objects.requireNonNull(input));
            for (int turn = 0; turn < TURNS_OF_A_LIFE; turn++) {
                known.recorded(engine.turns()
                        .take(
                                TURN,
                                () -> wanted(inItsPlace(engine, definition, known.state())),
                                situation -> turn(engine, known, situation)));
            }
            throw engine.continueAsNew(known.state());
        } catch (CancelledException asked) {
            throw asked;
        } catch (RuntimeException wrong) {
            RunId run = engine.runId();
            LOG.error("The schedule '{}' cannot take its turn and is paused.", ScheduleNames.schedule(run), wrong);
            throw engine.stop(
                    "The schedule '%s' cannot take its turn: %s. Nothing was applied. Put that right, then resume the run '%s'."
                            .formatted(ScheduleNames.schedule(run), wrong, run));
        }
    }

    /** The definition follows what the schedule is: one that is deleted, and declared or made anew, changes its workers. */
    private static ScheduleState inItsPlace(EngineContext engine, String definition, ScheduleState state) {
        String name = ScheduleNames.schedule(engine.runId());
        String wanted = state.equals(ScheduleState.NOTHING) ? definition : ScheduleNames.definition(name, state);
        if (!wanted.equals(definition)) {
            throw engine.continueAs(wanted, state);
        }
        return state;
    }

    private Turns.Decided turn(EngineContext engine, Known known, Turns.Situation situation) {
        RunId run = situation.run().id();
        ScheduleTurn.Decision decision = decide(engine, known.state(), situation);
        if (decision.trouble() != null) {
            LOG.error(
                    "The schedule '{}' has paused itself: its fire times cannot be computed.",
                    ScheduleNames.schedule(run),
                    decision.trouble());
        }
        known.decided(decision.state());
        return new Turns.Decided(
                engine.values().at(stateOf(run)).inline().encode(decision.state()),
                decision.read(),
                effects(engine, situation, decision));
    }

    /** What the schedule knows: what it began with, has recorded or has just decided. A replay reads only the last. */
    private static final class Known {
        private final EngineContext engine;
        private ScheduleState state;
        private boolean isDecided;
        private @Nullable Payload unread;

        Known(EngineContext engine, ScheduleState begun) {
            this.engine = engine;
            this.state = begun;
        }

        void decided(ScheduleState now) {
            state = now;
            isDecided = true;
        }

        void recorded(Payload recorded) {
            unread = isDecided ? null : recorded;
            isDecided = false;
        }

        ScheduleState state() {
            if (unread != null) {
                state = (ScheduleState)
                        Objects.requireNonNull(engine.decode(unread, ScheduleState.class, stateOf(engine.runId())));
                unread = null;
            }
            return state;
        }
    }

    /** What the schedule records of a turn is what its next life begins with, so both have the same place. */
    private static PayloadPlace stateOf(RunId run) {
        return PayloadPlace.input(run);
    }

    private Turns.Wanted wanted(ScheduleState state) {
        Set<Channel> wakes = new LinkedHashSet<>(Set.of(COMMANDS));
        if (dependsOnEnds(state)) {
            wakes.add(REPORTS);
        }
        return new Turns.Wanted(due(state), wakes, ALL_MAIL, state.progress().mails());
    }

    /** Every other schedule reads the reports when it next fires, so that the end of a run wakes nothing. */
    private static boolean dependsOnEnds(ScheduleState state) {
        ScheduleSpec spec = state.spec();
        if (spec == null || !state.work().hasRuns()) {
            return false;
        }
        return !state.work().waiting().isEmpty()
                || spec.has(RuleKind.AFTER_END)
                || spec.policies().pauseAfter() > 0
                || state.work().backfills().stream().anyMatch(backfill -> backfill.overlap() != Overlap.ALLOW);
    }

    private static @Nullable Instant due(ScheduleState state) {
        ScheduleSpec spec = state.spec();
        if (spec == null) {
            return null;
        }
        if (state.progress().busy()) {
            return Instant.EPOCH;
        }
        if (state.paused() != null || state.progress().upcoming().isEmpty()) {
            return null;
        }
        return state.progress().due();
    }

    private ScheduleTurn.Decision decide(EngineContext engine, ScheduleState before, Turns.Situation situation) {
        String name = ScheduleNames.schedule(situation.run().id());
        List<ScheduleTurn.Letter> letters = situation.mails().stream()
                .map(arrived -> new ScheduleTurn.Letter(
                        arrived.number(),
                        Objects.requireNonNullElse(arrived.at(), situation.now()),
                        content(engine, arrived.mail())))
                .toList();
        return ScheduleTurn.decide(
                name, times, before, new ScheduleTurn.News(situation.now(), letters, situation.seen()));
    }

    private static ScheduleTurn.@Nullable Content content(EngineContext engine, Mail mail) {
        return mail.channel().equals(REPORTS)
                ? EndReport.read(mail.payload()).map(ScheduleTurn.Ended::new).orElse(null)
                : command(engine, mail).map(ScheduleTurn.Told::new).orElse(null);
    }

    private List<Effect> effects(EngineContext engine, Turns.Situation situation, ScheduleTurn.Decision decision) {
        List<Effect> effects = new ArrayList<>();
        decision.cancels().forEach(cancel -> effects.add(new Effect.Cancel(RunId.of(cancel.run()), cancel.reason())));
        ScheduleSpec spec = decision.state().spec();
        if (spec != null) {
            for (Start start : decision.starts()) {
                effects.add(started(engine, spec, situation, start, effects.size()));
            }
        }
        return effects;
    }

    /**
     * A command that cannot be read comes from newer code than this worker's, and must not stop the schedule. One for
     * which only the key or the large value is missing is not dropped: the schedule is paused until it is there.
     */
    private static Optional<ScheduleCommand> command(EngineContext engine, Mail mail) {
        RunId run = engine.runId();
        try {
            return Optional.of(engine.values()
                    .at(PayloadPlace.message(run, ScheduleNames.COMMANDS.name()))
                    .decode(mail.payload(), ScheduleCommand.class));
        } catch (DecryptionException | MissingPayloadException missing) {
            throw engine.stop(
                    "A command to the schedule '%s' cannot be read. %s Nothing was applied. Put that right, then resume the run '%s'."
                            .formatted(ScheduleNames.schedule(run), missing.getMessage(), run));
        } catch (PayloadException unreadable) {
            LOG.error(
                    "A command to the schedule '{}' cannot be read and is dropped.",
                    ScheduleNames.schedule(run),
                    unreadable);
            return Optional.empty();
        }
    }

    private Effect started(
            EngineContext engine, ScheduleSpec spec, Turns.Situation situation, Start start, int number) {
        String name = ScheduleNames.schedule(situation.run().id());
        ScheduleSpec.Options options = spec.options();
        RunId id = RunId.of(start.run());
        Payload input = new Payload(Base64.getDecoder().decode(start.what().input()));
        NewRun run = engine.intercepted(new NewRun(
                id,
                start.what().definition(),
                engine.values().at(PayloadPlace.input(id)).transformed(input),
                engine.turns().seed(situation.position(), number),
                options.queue(),
                options.priority(),
                options.version(),
                options.timeout(),
                null,
                Parent.reporting(situation.run()),
                null,
                engine.values().attributes().encrypted(id, options.description()),
                options.key(),
                new Admission(options.startWithin(), options.weight()).at(Placement.of(options.placement()))));
        if (start.what().dag()) {
            return new Effect.Start(run, tasks(engine, name, run));
        }
        Fire fire = new Fire(name, start.time(), Optional.ofNullable(start.previous()), situation.now());
        Mail mail = Mail.value(
                Channel.promise(Fire.topic().name()),
                engine.turns().token(situation.position(), number),
                engine.values()
                        .at(PayloadPlace.promise(id, Fire.topic().name()))
                        .encode(fire));
        return new Effect.Start(run, List.of(), List.of(mail));
    }

    private static List<Task> tasks(EngineContext engine, String name, NewRun run) {
        List<Task> tasks = engine.tasksOf(run);
        if (tasks.isEmpty()) {
            throw engine.stop(
                    "The schedule '%s' runs the DAG '%s', which this worker has not registered. Register it in all workers that fire the schedule, then resume the run '%s'."
                            .formatted(name, run.definition(), ScheduleNames.run(name)));
        }
        return tasks;
    }
}

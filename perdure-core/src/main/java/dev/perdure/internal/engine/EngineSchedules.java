package dev.perdure.internal.engine;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.audit.AuditEntry.Action;
import dev.perdure.audit.AuditEntry.Subject;
import dev.perdure.error.DefinitionException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.PayloadException;
import dev.perdure.error.PerdureException;
import dev.perdure.error.RunEndedException;
import dev.perdure.error.UnknownRunException;
import dev.perdure.error.UnknownScheduleException;
import dev.perdure.internal.command.Auditor;
import dev.perdure.internal.command.MailSender;
import dev.perdure.internal.schedule.FireTimes;
import dev.perdure.internal.schedule.ScheduleCommand;
import dev.perdure.internal.schedule.ScheduleNames;
import dev.perdure.internal.schedule.ScheduleSpec;
import dev.perdure.internal.schedule.ScheduleState;
import dev.perdure.internal.text.Names;
import dev.perdure.internal.text.Texts;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.ScheduleInfo;
import dev.perdure.schedule.Schedules;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.report.EngineLog;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;

/** Schedules for callers: commands are messages to their runs, and what is shown is what these have recorded last. */
final class EngineSchedules implements Schedules, CommandedSchedules {
    private static final Logger LOG = EngineLog.of("dev.perdure.schedule");
    private static final int CHUNK = 500;

    private final Runs runs;
    private final ScheduleWrites writes;
    private final MailSender mailSender;
    private final Auditor auditor;

    EngineSchedules(Runs runs, ScheduleWrites writes, MailSender mailSender, Auditor auditor) {
        this.runs = runs;
        this.writes = writes;
        this.mailSender = mailSender;
        this.auditor = auditor;
    }

    // ---- looking

    @Override
    public List<ScheduleInfo> list(String after, int most) {
        Texts.requireGiven("name after which to begin", after);
        if (!after.isEmpty()) {
            Names.require("name after which to begin", after, Schedule.MAX_NAME_LENGTH);
        }
        Texts.requirePage("number of schedules", most);
        List<ScheduleInfo> found = new ArrayList<>();
        String last = ScheduleNames.PREFIX + after;
        while (found.size() < most) {
            List<Runs.Latest> page = runs.latest(ScheduleNames.PREFIX, last, most);
            for (Runs.Latest latest : page) {
                last = latest.run().id().value();
                Optional<ScheduleState> state = readable(latest);
                if (state.isPresent() && found.size() < most) {
                    info(latest, state.get()).ifPresent(found::add);
                }
            }
            if (page.size() < most) {
                return found;
            }
        }
        return found;
    }

    @Override
    public ScheduleInfo get(String name) {
        return find(name)
                .flatMap(latest -> state(latest).flatMap(state -> info(latest, state)))
                .orElseThrow(() -> unknown(name));
    }

    private Optional<Runs.Latest> find(String name) {
        Names.require("schedule name", name, Schedule.MAX_NAME_LENGTH);
        return runs.latest(ScheduleNames.run(name));
    }

    /** One that cannot be read hides no others. */
    private Optional<ScheduleState> readable(Runs.Latest latest) {
        try {
            return state(latest);
        } catch (PayloadException unreadable) {
            LOG.debug(
                    "The schedule of run '{}' cannot be read, and is not listed.",
                    latest.run().id(),
                    unreadable);
            return Optional.empty();
        }
    }

    private Optional<ScheduleState> state(Runs.Latest latest) {
        return isSchedule(latest) && !latest.info().state().isTerminal()
                ? Optional.of(writes.state(latest))
                : Optional.empty();
    }

    private static boolean isSchedule(Runs.Latest latest) {
        return ScheduleNames.isSchedule(latest.run().id(), latest.info().definition());
    }

    private Optional<ScheduleInfo> info(Runs.Latest latest, ScheduleState state) {
        ScheduleSpec spec = state.spec();
        return spec == null ? Optional.empty() : Optional.of(info(latest, state, spec));
    }

    private ScheduleInfo info(Runs.Latest latest, ScheduleState state, ScheduleSpec spec) {
        ScheduleState.Skip skip = state.results().lastSkip();
        Optional<String> paused = Optional.ofNullable(state.paused());
        if (latest.info().state() == RunState.PAUSED) {
            paused = latest.info().reason();
        }
        return new ScheduleInfo(
                ScheduleNames.schedule(latest.run().id()),
                spec.what().definition(),
                FireTimes.words(spec),
                source(state),
                new ScheduleInfo.Status(
                        paused,
                        latest.info().state() == RunState.READY ? latest.info().reason() : Optional.empty(),
                        state.progress().fired(),
                        state.work().waiting().size()),
                paused.isPresent() ? List.of() : state.progress().upcoming(),
                state.results().recent().reversed().stream().map(this::recent).toList(),
                new ScheduleInfo.Health(
                        state.results().failures(),
                        Optional.ofNullable(state.results().lastSuccess()),
                        Optional.ofNullable(skip).map(ScheduleState.Skip::time),
                        Optional.ofNullable(skip).map(ScheduleState.Skip::reason)));
    }

    private static ScheduleInfo.Source source(ScheduleState state) {
        if (state.declared() == null) {
            return ScheduleInfo.Source.RUN_TIME;
        }
        return state.changed() == null ? ScheduleInfo.Source.CODE : ScheduleInfo.Source.CHANGED;
    }

    /** A schedule reads how its runs ended when it next fires, so the runs themselves are looked at. */
    private ScheduleInfo.Recent recent(ScheduleState.Past past) {
        RunId id = RunId.of(past.run());
        Optional<RunState> state = Optional.ofNullable(past.state())
                .or(() -> runs.find(id).map(found -> found.info().state()));
        return new ScheduleInfo.Recent(id, past.time(), state);
    }

    private static UnknownScheduleException unknown(String name) {
        return new UnknownScheduleException(
                "There is no schedule '%s'. Check the name with './perdure schedules list', or make it with schedules().put(…)."
                        .formatted(name));
    }

    // ---- declaring

    /** Stores what the code declares, where that is not what is stored. Reads and writes many at once. */
    void declare(List<Schedule> schedules) {
        StoredSchedules stored = new StoredSchedules(runs, schedules);
        List<ScheduleWrites.Put> changed = new ArrayList<>();
        for (Schedule schedule : stored.inOrder()) {
            Optional<Runs.Latest> there = stored.next();
            there.ifPresent(latest -> requireDeclarable(schedule, latest));
            ScheduleSpec spec = writes.spec(schedule);
            boolean same = there.map(writes::state)
                    .filter(state -> state.spec() != null && spec.equals(state.declared()))
                    .isPresent();
            if (!same) {
                changed.add(writes.declaration(schedule.name(), spec));
            }
        }
        sendAll(changed);
    }

    /** Also one that was made at run time, if it is deleted, or has a command that it has not read: it may be deleted. */
    private void requireDeclarable(Schedule schedule, Runs.Latest latest) {
        if (!isSchedule(latest) || latest.info().state().isTerminal()) {
            throw new DefinitionException(
                    "The schedule '%s' is declared. %s".formatted(schedule.name(), occupied(latest)));
        }
        ScheduleState state = writes.state(latest);
        if (state.spec() != null
                && state.declared() == null
                && !mailSender.hasUnread(latest.run(), ScheduleNames.COMMANDS)) {
            throw new DefinitionException(
                    "The schedule '%s' is declared, and one of this name was made at run time. Give the declared one another name, or delete the other with schedules().delete(…)."
                            .formatted(schedule.name()));
        }
    }

    private static String occupied(Runs.Latest latest) {
        String run = latest.run().id().value();
        return isSchedule(latest)
                ? "The run '%s' that it is was ended as a run, and is %s. Schedules are deleted with schedules().delete(…). Delete that run, or choose another name."
                        .formatted(run, latest.info().state())
                : "The run '%s' has its place, and is a run of '%s'. Choose another name."
                        .formatted(run, latest.info().definition());
    }

    // ---- changing

    @Override
    public void put(Schedule schedule) {
        Texts.requireGiven("schedule", schedule);
        putAll(List.of(schedule));
    }

    @Override
    public void putAll(List<Schedule> schedules) {
        Texts.requireGiven("list of schedules", schedules);
        sendAll(schedules.stream()
                .map(writes::put)
                .map(put -> put.audited(auditor.of(
                        Action.CHANGE,
                        Subject.SCHEDULE,
                        ScheduleNames.schedule(put.tell().to()),
                        "")))
                .toList());
    }

    private void sendAll(List<ScheduleWrites.Put> puts) {
        for (int from = 0; from < puts.size(); from += CHUNK) {
            send(puts.subList(from, Math.min(from + CHUNK, puts.size())));
        }
    }

    /** Starts those that are not there; what they are told arrives once, by its token. */
    private void send(List<ScheduleWrites.Put> puts) {
        Map<RunId, RunRef> there = writes.start(puts);
        try {
            mailSender.deliverAll(puts.stream()
                    .filter(put -> Optional.ofNullable(there.get(put.tell().to()))
                            .map(run -> changesSomething(requireSchedule(run), put.command()))
                            .orElse(true))
                    .map(ScheduleWrites.Put::tell)
                    .toList());
        } catch (RunEndedException ended) {
            throw new InvalidRequestException(
                    "A schedule cannot be put: its run was ended as a run. Schedules are deleted with schedules().delete(…): delete that run, or choose another name. "
                            + ended.getMessage());
        }
    }

    /** A run of another kind takes no commands. */
    private RunRef requireSchedule(RunRef run) {
        runs.latest(run.id()).filter(latest -> !isSchedule(latest)).ifPresent(other -> {
            throw new InvalidRequestException("A schedule cannot be put: %s".formatted(occupied(other)));
        });
        return run;
    }

    @Override
    public ScheduleWrites writes() {
        return writes;
    }

    @Override
    public void tell(String name, ScheduleCommand command) {
        Runs.Latest there = find(name).filter(EngineSchedules::isSchedule).orElseThrow(() -> unknown(name));
        boolean hadTurns = !writes.state(there).equals(ScheduleState.NOTHING);
        if (hadTurns && info(there, writes.state(there)).isEmpty()) {
            throw unknown(name);
        }
        if (!changesSomething(there.run(), command)) {
            return;
        }
        try {
            Audit audit = auditor.of(action(command.kind()), Subject.SCHEDULE, name, detail(command));
            Mail mail = mailSender.message(ScheduleNames.run(name), ScheduleNames.COMMANDS, command);
            mailSender.deliverAll(
                    List.of(new Change.Deliver(ScheduleNames.run(name), mail, Change.Deliver.ANY_LIFE, audit)));
        } catch (UnknownRunException | RunEndedException gone) {
            throw asUnknown(name, gone);
        }
    }

    /**
     * Whether a command is worth sending, and so is recorded. The mailbox is read before the state: a command that was
     * sent before this one is then either unread or part of the state.
     */
    private boolean changesSomething(RunRef schedule, ScheduleCommand command) {
        return mailSender.hasUnread(schedule, ScheduleNames.COMMANDS)
                || runs.latest(schedule.id())
                        .flatMap(this::state)
                        .map(command::changes)
                        .orElse(true);
    }

    private static Action action(ScheduleCommand.Kind kind) {
        return switch (kind) {
            case DECLARE, PUT -> Action.CHANGE;
            case PAUSE -> Action.PAUSE;
            case RESUME -> Action.RESUME;
            case TRIGGER -> Action.TRIGGER;
            case BACKFILL -> Action.BACKFILL;
            case SKIP_NEXT -> Action.SKIP_NEXT;
            case RESET -> Action.RESET;
            case DELETE -> Action.DELETE;
        };
    }

    private static String detail(ScheduleCommand command) {
        if (command.range() != null) {
            return "%s to %s".formatted(command.range().from(), command.range().to());
        }
        return Stream.of(command.note(), command.run()).filter(Objects::nonNull).collect(Collectors.joining(", "));
    }

    private static PerdureException asUnknown(String name, PerdureException cause) {
        UnknownScheduleException unknown = unknown(name);
        unknown.addSuppressed(cause);
        return unknown;
    }
}

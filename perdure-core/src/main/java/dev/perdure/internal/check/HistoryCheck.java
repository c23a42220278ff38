package dev.perdure.internal.check;

import dev.perdure.History;
import dev.perdure.RunState;
import dev.perdure.error.PayloadException;
import dev.perdure.internal.dag.CallTargets;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.history.ExportedRun;
import dev.perdure.internal.history.HistoryFormat;
import dev.perdure.internal.interception.Interceptors;
import dev.perdure.internal.payload.PayloadCodec;
import dev.perdure.internal.settings.ExecutionRules;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.measure.Measurements;
import dev.perdure.spi.payload.PayloadPlace;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Replays exported runs on the definitions of an engine and tells how they differ. */
public final class HistoryCheck {
    /** What every message about a paused run says before its remedy, which is not the remedy before a deploy. */
    private static final String NOTHING_APPLIED = " Nothing was applied.";

    private static final String REMEDY =
            " Guard the change with ctx.patched(…), or deploy it as another version, to which runs are pinned.";

    private final CallTargets targets;
    private final ExecutionRules rules;

    /** Checks against these definitions. A history has all values in place, and the code is to write none elsewhere. */
    public HistoryCheck(CallTargets targets, ExecutionRules rules) {
        this.targets = targets;
        this.rules = new ExecutionRules(
                rules.codec().inline(),
                rules.stepTypes(),
                rules.retry(),
                Duration.ZERO,
                rules.maxPayloadBytes(),
                Interceptors.NONE, // a history has no headers, and no body runs
                Measurements.NONE,
                false);
    }

    /** The first difference of each history that the code does not fit. */
    public List<String> differences(List<History> histories) {
        List<String> differences = new ArrayList<>();
        for (int i = 0; i < histories.size(); i++) {
            difference(HistoryFormat.read(histories.get(i), i + 1)).ifPresent(differences::add);
        }
        return differences;
    }

    private Optional<String> difference(ExportedRun run) {
        if (run.definition().startsWith(Runs.OF_THE_ENGINE)) {
            return Optional.empty(); // It runs code of the engine: a schedule or a bulk action.
        }
        Registered definition = targets.registry().find(run.definition()).orElse(null);
        if (definition == null) {
            return Optional.of(
                    "Run '%s' is of the definition '%s', which is not registered here. Register it, or keep the name that it had."
                            .formatted(run.id(), run.definition()));
        }
        ReplayedRun replayed = new ReplayedRun(run, definition, targets, rules);
        replayed.replay();
        return replayed.stopped()
                .map(HistoryCheck::beforeDeploy)
                .or(() -> replayed.end().flatMap(end -> otherEnd(run, definition, end, replayed.knowsTokens())));
    }

    private static String beforeDeploy(String reason) {
        int applied = reason.indexOf(NOTHING_APPLIED);
        return applied < 0 ? reason : reason.substring(0, applied) + REMEDY;
    }

    /** How the end of the code differs from the recorded one. A token that is not known may be part of an outcome. */
    private Optional<String> otherEnd(ExportedRun run, Registered definition, Move.End end, boolean knowsTokens) {
        RunState recorded = run.end().state();
        if (!recorded.isTerminal() || endedWithoutItsCode(run)) {
            return Optional.empty();
        }
        if (end.state() != recorded) {
            return Optional.of("Run '%s' was %s%s, and with this code it is %s%s.%s"
                    .formatted(
                            run.id(),
                            recorded,
                            because(run.end().reason()),
                            end.state(),
                            because(end.reason()),
                            REMEDY));
        }
        if (!knowsTokens) {
            return Optional.empty();
        }
        return switch (recorded) {
            case COMPLETED -> otherResult(run, definition, end.outcome());
            case FAILED ->
                end.reason().equals(run.end().reason())
                        ? Optional.empty()
                        : Optional.of("Run '%s' failed with %s, and with this code it fails with %s.%s"
                                .formatted(run.id(), run.end().reason(), end.reason(), REMEDY));
            default -> Optional.empty();
        };
    }

    /** Whether the store ended the run: by a kill, or because calls of virtual objects wait for each other. */
    private static boolean endedWithoutItsCode(ExportedRun run) {
        return switch (run.end().state()) {
            case CANCELLED ->
                run.basis().premises().isEmpty()
                        && run.journal().stream()
                                .noneMatch(recorded -> recorded.entry().status() == Entry.Status.CANCELLED);
            case FAILED -> run.basis().object() != null && run.journal().isEmpty();
            default -> false;
        };
    }

    private static String because(String reason) {
        return reason.isEmpty() ? "" : " (" + reason + ")";
    }

    private Optional<String> otherResult(ExportedRun run, Registered definition, Payload end) {
        PayloadCodec codec = rules.codec().at(PayloadPlace.result(run.id()));
        Payload recorded = encoded(codec, run.end().outcome());
        Payload now = encoded(codec, end);
        return now.equals(recorded) || now.equals(rewritten(codec, run.end().outcome(), definition))
                ? Optional.empty()
                : Optional.of("Run '%s' returned another result than with this code: %s.%s"
                        .formatted(run.id(), ResultDifference.between(recorded, now), REMEDY));
    }

    /** What the present type makes of the recorded result: a field that was added or removed is no difference. */
    private static Payload rewritten(PayloadCodec codec, Payload recorded, Registered definition) {
        try {
            Type type = definition.target().resultType();
            return codec.encoded(codec.encode(codec.decode(recorded, type), type));
        } catch (PayloadException unreadable) {
            return recorded;
        }
    }

    /** What was encoded, if it can be read: the same result may be encrypted to other bytes. */
    private static Payload encoded(PayloadCodec codec, Payload outcome) {
        try {
            return codec.encoded(outcome);
        } catch (PayloadException unreadable) {
            return outcome;
        }
    }
}

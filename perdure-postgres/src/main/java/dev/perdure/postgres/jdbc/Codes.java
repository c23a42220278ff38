package dev.perdure.postgres.jdbc;

import dev.perdure.RunState;
import dev.perdure.StartKey;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Removals;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Change.CommandKind;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.ObjectCall.Hold;
import dev.perdure.spi.change.Parent;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The numbers that represent enum constants in rows. They are listed explicitly, so that reordering an enum changes no
 * data.
 */
public final class Codes {
    /** The position of the input in a journal. */
    public static final int INPUT = 0;

    /** The position of the outcome in a journal. */
    public static final int OUTCOME = Integer.MAX_VALUE;

    /** A mail in the inbox, where the other numbers are those of commands. */
    public static final short START = 0;

    public static final short DELIVER = 9;

    public static final short WAIT = 1;
    public static final short YIELD = 2;
    public static final short RECOVER = 3;
    public static final short PAUSE = 4;
    public static final short END = 5;

    /** What happens to a mail. */
    public static final int NEW = 0;

    public static final int KNOWN = 1;
    public static final int TAKEN = 2;
    static final int OVER = 3;
    public static final int STALE = 4;

    /** What happens to a rerun. */
    public static final int FIT = 0;

    public static final int DONE_BEFORE = 1;
    public static final int ACTIVE = 3;
    static final int TASK_UNFIT = 4;
    public static final int REMOVED = 5;

    /** The names that statements use instead of numbers. */
    static final Map<String, Integer> NAMED = named();

    private Codes() {}

    private static Map<String, Integer> named() {
        Map<String, Integer> named = new HashMap<>(Map.of(
                "INPUT",
                INPUT,
                "OUTCOME",
                OUTCOME,
                "WAIT",
                (int) WAIT,
                "RECOVER",
                (int) RECOVER,
                "ALONE_AFTER",
                Claimed.ALONE_AFTER,
                "PAUSED_AFTER",
                Claimed.PAUSED_AFTER));
        named.putAll(Map.of("NEW", NEW, "KNOWN", KNOWN, "TAKEN", TAKEN, "OVER", OVER, "STALE", STALE));
        named.put("ANY_LIFE", Change.Deliver.ANY_LIFE);
        named.putAll(Map.of("FIT", FIT, "DONE_BEFORE", DONE_BEFORE, "ACTIVE", ACTIVE, "TASK_UNFIT", TASK_UNFIT));
        named.put("CHANGES_KEPT", Removals.CHANGES_KEPT);
        named.put("REMOVED", REMOVED);
        named.put("REPORTING", Parent.REPORTS);
        named.put("START", (int) START);
        named.put("VALUE", (int) of(Entry.Status.VALUE));
        named.put("FAILURE", (int) of(Entry.Status.FAILURE));
        named.put("ATTEMPT", (int) of(Entry.Status.ATTEMPT));
        named.put("BEGUN", (int) of(Entry.Status.BEGUN));
        named.put("CHILD", (int) of(Entry.Kind.CHILD));
        named.put("HEADERS", (int) of(Entry.Status.HEADERS));
        for (Hold hold : List.of(Hold.SHARED, Hold.EXCLUSIVE, Hold.ON_ARRIVAL)) {
            named.put(hold.name(), (int) of(hold));
        }
        for (Channel.Kind kind : Channel.Kind.values()) {
            named.put(kind.name(), (int) of(kind));
        }
        for (RunState state : RunState.values()) {
            named.put(state.name(), (int) of(state));
        }
        for (CommandKind kind : CommandKind.values()) {
            named.put(kind.name(), (int) of(kind));
        }
        return Map.copyOf(named);
    }

    public static int of(StartKey key) {
        return switch (key) {
            case StartKey.Deduplication deduplication -> 0;
            case StartKey.IdempotencyKey idempotency -> 1;
            case StartKey.Debounce debounce -> 2;
        };
    }

    public static short of(CommandKind kind) {
        return (short)
                switch (kind) {
                    case CANCEL -> 1;
                    case KILL -> 2;
                    case PAUSE -> 3;
                    case RESUME -> 4;
                    case REFUSE -> 5;
                    case EXPIRE -> 6;
                };
    }

    public static CommandKind commandKind(int code) {
        return switch (code) {
            case 1 -> CommandKind.CANCEL;
            case 2 -> CommandKind.KILL;
            case 3 -> CommandKind.PAUSE;
            case 4 -> CommandKind.RESUME;
            case 5 -> CommandKind.REFUSE;
            case 6 -> CommandKind.EXPIRE;
            default -> throw unknown("command", code);
        };
    }

    public static short of(RunState state) {
        return (short)
                switch (state) {
                    case PENDING -> 0;
                    case READY -> 1;
                    case RUNNING -> 2;
                    case SUSPENDED -> 3;
                    case BACKING_OFF -> 4;
                    case PAUSED -> 5;
                    case COMPLETED -> 6;
                    case FAILED -> 7;
                    case CANCELLED -> 8;
                    case SKIPPED -> 9;
                };
    }

    /** Whether this version knows the state. */
    public static boolean isState(int code) {
        return 0 <= code && code <= of(RunState.SKIPPED);
    }

    public static RunState state(int code) {
        return switch (code) {
            case 0 -> RunState.PENDING;
            case 1 -> RunState.READY;
            case 2 -> RunState.RUNNING;
            case 3 -> RunState.SUSPENDED;
            case 4 -> RunState.BACKING_OFF;
            case 5 -> RunState.PAUSED;
            case 6 -> RunState.COMPLETED;
            case 7 -> RunState.FAILED;
            case 8 -> RunState.CANCELLED;
            case 9 -> RunState.SKIPPED;
            default -> throw unknown("state", code);
        };
    }

    public static short of(Entry.Kind kind) {
        return (short)
                switch (kind) {
                    case STEP -> 1;
                    case SLEEP -> 2;
                    case NOW -> 3;
                    case PATCH -> 4;
                    case TIMER -> 5;
                    case RECEIVE -> 6;
                    case CHILD -> 7;
                    case PROMISE -> 8;
                    case AWAKEABLE -> 9;
                    case EVENT -> 10;
                    case CHOICE -> 11;
                    case AWAIT -> 12;
                    case EFFECT -> 13;
                    case TRANSACTION -> 14;
                    case STATE -> 15;
                    case STATE_NAMES -> 16;
                    case UNKNOWN -> throw new IllegalArgumentException("A kind that is not known is only read.");
                };
    }

    /** The kind of a recorded entry. One row that a newer version or a person wrote keeps no other from being read. */
    public static Entry.Kind kind(int code) {
        return switch (code) {
            case 1 -> Entry.Kind.STEP;
            case 2 -> Entry.Kind.SLEEP;
            case 3 -> Entry.Kind.NOW;
            case 4 -> Entry.Kind.PATCH;
            case 5 -> Entry.Kind.TIMER;
            case 6 -> Entry.Kind.RECEIVE;
            case 7 -> Entry.Kind.CHILD;
            case 8 -> Entry.Kind.PROMISE;
            case 9 -> Entry.Kind.AWAKEABLE;
            case 10 -> Entry.Kind.EVENT;
            case 11 -> Entry.Kind.CHOICE;
            case 12 -> Entry.Kind.AWAIT;
            case 13 -> Entry.Kind.EFFECT;
            case 14 -> Entry.Kind.TRANSACTION;
            case 15 -> Entry.Kind.STATE;
            case 16 -> Entry.Kind.STATE_NAMES;
            default -> Entry.Kind.UNKNOWN;
        };
    }

    public static short of(Entry.Status status) {
        return (short)
                switch (status) {
                    case VALUE -> 0;
                    case FAILURE -> 1;
                    case BEGUN -> 2;
                    case ATTEMPT -> 3;
                    case CANCELLED -> 4;
                    case DEADLINE -> 5;
                    case ABSENT -> 6;
                    case HEADERS -> 7;
                    case UNKNOWN -> throw new IllegalArgumentException("A status that is not known is only read.");
                };
    }

    public static Entry.Status status(int code) {
        return switch (code) {
            case 0 -> Entry.Status.VALUE;
            case 1 -> Entry.Status.FAILURE;
            case 2 -> Entry.Status.BEGUN;
            case 3 -> Entry.Status.ATTEMPT;
            case 4 -> Entry.Status.CANCELLED;
            case 5 -> Entry.Status.DEADLINE;
            case 6 -> Entry.Status.ABSENT;
            case 7 -> Entry.Status.HEADERS;
            default -> throw unknown("status", code);
        };
    }

    /** The status of a recorded entry. */
    public static Entry.Status recordedStatus(int code) {
        return 0 <= code && code <= of(Entry.Status.HEADERS) ? status(code) : Entry.Status.UNKNOWN;
    }

    public static short of(Hold hold) {
        return (short)
                switch (hold) {
                    case SHARED -> 0;
                    case EXCLUSIVE -> 1;
                    case ON_ARRIVAL -> 2;
                    case UNKNOWN -> throw new IllegalArgumentException("A hold that is not known is only read.");
                };
    }

    /** How a call holds its object. A claim has many runs, and must not fail for one of them. */
    public static Hold hold(int code) {
        return switch (code) {
            case 0 -> Hold.SHARED;
            case 1 -> Hold.EXCLUSIVE;
            case 2 -> Hold.ON_ARRIVAL;
            default -> Hold.UNKNOWN;
        };
    }

    public static short of(Channel.Kind kind) {
        return (short)
                switch (kind) {
                    case MESSAGE -> 0;
                    case PROMISE -> 1;
                    case ANSWER -> 2;
                };
    }

    public static Channel.Kind channel(int code) {
        return switch (code) {
            case 0 -> Channel.Kind.MESSAGE;
            case 1 -> Channel.Kind.PROMISE;
            case 2 -> Channel.Kind.ANSWER;
            default -> throw unknown("channel", code);
        };
    }

    private static IllegalStateException unknown(String what, int code) {
        return new IllegalStateException(
                "No %s has the code %s: was the row written by a newer version?".formatted(what, code));
    }
}

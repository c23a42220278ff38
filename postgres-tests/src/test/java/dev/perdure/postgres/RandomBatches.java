package dev.perdure.postgres;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.attribute.AttributeValue;
import dev.perdure.attribute.Description;
import dev.perdure.queue.Placement;
import dev.perdure.queue.Requirement;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Awaited;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Change.CommandKind;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectCall.Hold;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.Task;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Random batches of random changes over whatever runs there are. The same seed and the same runs give the same batches.
 */
final class RandomBatches {
    private static final Placement GPU =
            Placement.ANYWHERE.requiring(Requirement.of("gpu=true")).preferring(Requirement.of("region=eu"));

    private final Random random;
    private final Map<String, Integer> positions = new HashMap<>();
    private int born;

    RandomBatches(Random random) {
        this.random = random;
    }

    /** A change that waits for the keys of the runs that it names. */
    private record Unaddressed(String label, Function<Function<String, RunRef>, Change> change) {}

    /**
     * What both stores are told.
     *
     * @param times how often the batch is sent: more than once as if the answer had been lost
     * @param claims how many runs are claimed afterwards
     */
    record Round(List<Unaddressed> all, boolean ofClient, int times, int claims) {
        List<Change> changes(Function<String, RunRef> refs) {
            return all.stream().map(one -> one.change().apply(refs)).toList();
        }

        @Override
        public String toString() {
            return "%s%s x%d, then claim %d"
                    .formatted(
                            ofClient ? "client " : "",
                            all.stream().map(Unaddressed::label).toList(),
                            times,
                            claims);
        }
    }

    Round next(List<Twin.Row> runs) {
        boolean ofClient = random.nextInt(6) == 0;
        List<Unaddressed> all = new ArrayList<>();
        List<Twin.Row> held =
                new ArrayList<>(runs.stream().filter(Twin.Row::held).toList());
        Collections.shuffle(held, random);
        int size = random.nextInt(3) == 0 ? 1 : 1 + random.nextInt(6);
        // Batches of one sort take the short ways, mixed ones the long way.
        int sort = random.nextInt(8);
        for (int i = 0; i < size; i++) {
            all.add(ofClient ? outside(runs) : inside(sort, runs, held));
        }
        int times = random.nextInt(5) == 0 ? 2 : 1;
        return new Round(all, ofClient, times, random.nextInt(3) == 0 ? 1 + random.nextInt(4) : 0);
    }

    private Unaddressed outside(List<Twin.Row> runs) {
        return switch (runs.isEmpty() ? 0 : random.nextInt(5)) {
            case 0, 1 -> start(false);
            case 2 -> command(runs);
            case 3 -> rerun(runs);
            default -> deliver(runs);
        };
    }

    private Unaddressed inside(int sort, List<Twin.Row> runs, List<Twin.Row> held) {
        if (held.isEmpty()) {
            return sort == 7 && !runs.isEmpty() ? outside(runs) : start(true);
        }
        return switch (sort) {
            case 0 -> start(true);
            case 1 -> append(held.removeLast());
            case 2 -> end(held.removeLast());
            case 3 -> await(held.removeLast());
            case 4 -> random.nextBoolean() ? start(true) : end(held.removeLast());
            case 5 ->
                switch (random.nextInt(4)) {
                    case 0 -> start(true);
                    case 1 -> append(held.removeLast());
                    case 2 -> end(held.removeLast());
                    default -> await(held.removeLast());
                };
            default ->
                switch (random.nextInt(10)) {
                    case 0 -> start(true);
                    case 1 -> append(held.removeLast());
                    case 2 -> end(held.removeLast());
                    case 3 -> await(held.removeLast());
                    case 4, 5 -> withEffects(held.removeLast(), runs);
                    case 6 -> advance(held.removeLast(), "yield", List.of(), List.of(), new Move.Yield());
                    case 7 -> advance(held.removeLast(), "pause", List.of(), List.of(), new Move.Pause("tired"));
                    case 8 ->
                        advance(
                                held.removeLast(),
                                "restart",
                                List.of(),
                                List.of(),
                                new Move.Restart(payload("again"), random.nextLong(), random.nextBoolean()));
                    default -> outside(runs);
                };
        };
    }

    private static Payload payload(String text) {
        return new Payload(("\"" + text + "\"").getBytes(StandardCharsets.UTF_8));
    }

    private NewRun newRun(String id) {
        Duration timeout = random.nextInt(4) == 0 ? Duration.ofMinutes(1 + random.nextInt(9)) : null;
        return new NewRun(
                        RunId.of(id),
                        random.nextInt(8) == 0 ? "other" : "order",
                        payload("of " + id),
                        random.nextLong(),
                        random.nextInt(8) == 0 ? "slow" : "default",
                        random.nextInt(3) - 1,
                        random.nextInt(8) == 0 ? "2" : null,
                        timeout)
                .describedAs(random.nextInt(3) == 0 ? described(id) : Description.NONE)
                .at(random.nextInt(10) == 0 ? GPU : Placement.ANYWHERE);
    }

    private Description described(String id) {
        return Description.NONE
                .with("customer", new AttributeValue.Text(id))
                .with("quoted", new AttributeValue.Text("\"\\"))
                .with("total", new AttributeValue.Decimal(BigDecimal.valueOf(random.nextInt(100), 2)))
                .with("tags", new AttributeValue.Keywords(List.of("a", "b" + random.nextInt(3))));
    }

    private String newId() {
        return "r%03d".formatted(++born);
    }

    private Unaddressed start(boolean mayOwn) {
        boolean taken = born > 0 && random.nextInt(10) == 0;
        String id = taken ? "r%03d".formatted(1 + random.nextInt(born)) : newId();
        NewRun plain = newRun(id);
        boolean owned = mayOwn && random.nextInt(4) > 0;
        Duration delay = !owned && random.nextInt(3) == 0 ? Duration.ofSeconds(random.nextInt(3)) : null;
        NewRun run = new NewRun(
                plain.id(),
                plain.definition(),
                plain.input(),
                plain.seed(),
                plain.queue(),
                plain.priority(),
                plain.version(),
                plain.timeout(),
                delay,
                null,
                null,
                plain.description(),
                random.nextInt(3) == 0 ? "key" + random.nextInt(3) : null,
                new Admission(
                                random.nextInt(4) == 0 ? Duration.ofMinutes(1 + random.nextInt(5)) : null,
                                random.nextInt(3))
                        .at(plain.placement()));
        List<Task> tasks = new ArrayList<>();
        int shape = random.nextInt(5);
        if (shape == 0 && !taken) {
            int count = 1 + random.nextInt(4);
            for (int i = 0; i < count; i++) {
                List<Integer> after = new ArrayList<>();
                for (int premise = 0; premise < i; premise++) {
                    if (random.nextBoolean()) {
                        after.add(premise);
                    }
                }
                NewRun task = newRun(id + "/" + i);
                tasks.add(new Task(random.nextBoolean() ? task : withInput(task, run.input()), after));
            }
        }
        boolean call = shape == 1 && delay == null;
        Hold hold = random.nextInt(4) == 0 ? Hold.SHARED : Hold.EXCLUSIVE;
        NewRun called = call ? run.on(new ObjectCall(new ObjectKey("cart", "k" + random.nextInt(3)), hold)) : run;
        NewRun started = random.nextInt(6) == 0 ? called.withParent(elsewhere()) : called;
        List<Mail> mails = random.nextInt(10) == 0 ? List.of(mail()) : List.of();
        String label = "start %s%s%s%s"
                .formatted(
                        id, owned ? " owned" : "", tasks.isEmpty() ? "" : " with " + tasks.size(), call ? " call" : "");
        return new Unaddressed(
                label, refs -> new Change.Start(started, owned ? Twin.WORKER : null, mails, List.copyOf(tasks)));
    }

    private static NewRun withInput(NewRun run, Payload input) {
        return new NewRun(
                        run.id(),
                        run.definition(),
                        input,
                        run.seed(),
                        run.queue(),
                        run.priority(),
                        run.version(),
                        run.timeout())
                .describedAs(run.description());
    }

    private Unaddressed advance(Twin.Row row, String label, List<Entry> entries, List<Effect> effects, Move move) {
        return advance(row, label, entries, refs -> effects, move);
    }

    private Unaddressed advance(
            Twin.Row row,
            String label,
            List<Entry> entries,
            Function<Function<String, RunRef>, List<Effect>> effects,
            Move move) {
        long epoch = row.epoch() - (random.nextInt(25) == 0 ? 1 : 0);
        return new Unaddressed(
                label + " " + row.id(),
                refs -> new Change.Advance(refs.apply(row.id()), epoch, entries, effects.apply(refs), move));
    }

    private List<Entry> entries(Twin.Row row, int count) {
        List<Entry> entries = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int position = positions.merge(row.id(), 1, Integer::sum);
            entries.add(new Entry(position, 0, Entry.Kind.STEP, "step", Entry.Status.VALUE, payload("p" + position)));
        }
        return entries;
    }

    private Unaddressed append(Twin.Row row) {
        return advance(
                row,
                "append",
                entries(row, 1 + random.nextInt(2)),
                random.nextInt(3) == 0 ? turn(row) : refs -> List.of(),
                new Move.Stay());
    }

    private Unaddressed end(Twin.Row row) {
        RunState state = random.nextInt(4) == 0 ? RunState.FAILED : RunState.COMPLETED;
        Move end = new Move.End(state, payload("out"), state == RunState.FAILED ? "broke" : "", random.nextInt(3));
        List<Effect> effects = row.object() != null && random.nextBoolean()
                ? List.of(new Effect.SetState("n" + random.nextInt(2), payload("v" + random.nextInt(9))))
                : List.of();
        return advance(row, "end", random.nextInt(4) == 0 ? entries(row, 1) : List.of(), effects, end);
    }

    private Unaddressed await(Twin.Row row) {
        Due due = switch (random.nextInt(3)) {
            case 0 -> new Due.In(Duration.ofSeconds(1 + random.nextInt(3)));
            case 1 -> new Due.At(java.time.Instant.parse("2026-01-01T00:00:05Z"));
            default -> new Due.Never();
        };
        Awaited awaited = random.nextBoolean()
                ? new Awaited(Set.of(Channel.message("t" + random.nextInt(2)), Channel.answer(1)), 1)
                : Awaited.NOTHING;
        RunState state = random.nextInt(4) == 0 ? RunState.BACKING_OFF : RunState.SUSPENDED;
        return advance(
                row,
                "wait",
                random.nextBoolean() ? entries(row, 1) : List.of(),
                random.nextInt(3) == 0 ? turn(row) : refs -> List.of(),
                new Move.Wait(state, due, awaited, random.nextInt(2)));
    }

    /** What a schedule does before it waits: it takes mail, and starts runs that report to it. */
    private Function<Function<String, RunRef>, List<Effect>> turn(Twin.Row row) {
        List<Effect> takes = random.nextBoolean() ? List.of(new Effect.Take(1 + random.nextInt(2))) : List.of();
        List<NewRun> runs = new ArrayList<>();
        List<List<Mail>> mails = new ArrayList<>();
        for (int i = random.nextInt(3); i > 0; i--) {
            boolean taken = random.nextInt(10) == 0;
            NewRun run = newRun(taken ? "r%03d".formatted(1 + random.nextInt(born)) : newId());
            runs.add(random.nextInt(8) == 0 ? run.withAdmission(new Admission(Duration.ofMinutes(1), 1)) : run);
            mails.add(random.nextBoolean() ? List.of(mail()) : List.of());
        }
        return refs -> {
            List<Effect> effects = new ArrayList<>(takes);
            for (int i = 0; i < runs.size(); i++) {
                NewRun run = runs.get(i).withParent(Parent.reporting(refs.apply(row.id())));
                effects.add(new Effect.Start(run, List.of(), mails.get(i)));
            }
            return effects;
        };
    }

    private Unaddressed withEffects(Twin.Row row, List<Twin.Row> runs) {
        List<Function<Function<String, RunRef>, Effect>> effects = new ArrayList<>();
        StringBuilder label = new StringBuilder("effects");
        int count = 1 + random.nextInt(3);
        for (int i = 0; i < count; i++) {
            int kind = random.nextInt(row.object() != null ? 12 : 9);
            label.append(' ').append(kind);
            Effect fixed = effect(kind, row, runs);
            if (fixed != null) {
                effects.add(refs -> fixed);
            } else {
                NewRun child = newRun(newId());
                int position = 1 + random.nextInt(3);
                boolean answers = random.nextBoolean();
                effects.add(refs ->
                        new Effect.Start(child.withParent(new Parent(refs.apply(row.id()), position, answers))));
            }
        }
        Move move = random.nextInt(3) == 0
                ? new Move.End(RunState.COMPLETED, payload("out"), "", random.nextInt(2))
                : new Move.Stay();
        return advance(
                row,
                label.toString(),
                entries(row, random.nextInt(2)),
                refs -> effects.stream().map(effect -> effect.apply(refs)).toList(),
                move);
    }

    private @Nullable Effect effect(int kind, Twin.Row row, List<Twin.Row> runs) {
        return switch (kind) {
            case 0 -> null;
            case 1 -> new Effect.Deliver(RunId.of(any(runs).id()), mail());
            case 2 -> new Effect.Cancel(RunId.of(any(runs).id()), "not wanted");
            case 3 -> new Effect.Publish("p", positions.merge(row.id(), 1, Integer::sum), payload("news"));
            case 4 -> new Effect.Subscribe("e", "", positions.merge(row.id(), 1, Integer::sum));
            case 5 -> new Effect.Take(1 + random.nextInt(2));
            case 6 -> new Effect.SetAttribute("tags", random.nextBoolean() ? null : new AttributeValue.Flag(true));
            case 7 -> new Effect.SetStatus("status " + random.nextInt(3));
            case 8 -> {
                UUID token = new UUID(random.nextLong(), random.nextLong());
                yield new Effect.Send(token, random.nextInt(256), payload("change"), payload("value"));
            }
            case 9 -> new Effect.SetState("n" + random.nextInt(2), payload("v" + random.nextInt(9)));
            case 10 -> new Effect.ClearState("n" + random.nextInt(2));
            default -> new Effect.ClearAllState();
        };
    }

    /** A parent on another shard, which gets the outcome or a report. */
    private Parent elsewhere() {
        return new Parent(new RunRef(RunId.of("elsewhere"), 77 * 256 + 5), random.nextInt(3), true, random.nextInt(2));
    }

    private Twin.Row any(List<Twin.Row> runs) {
        return runs.get(random.nextInt(runs.size()));
    }

    private Mail mail() {
        UUID token = new UUID(random.nextLong(), random.nextLong());
        Mail mail = switch (random.nextInt(3)) {
            case 0 -> Mail.value(Channel.message("t" + random.nextInt(2)), token, payload("hi"));
            case 1 -> Mail.value(Channel.promise("q"), token, payload("kept"));
            default -> Mail.failure(Channel.message("t0"), token, "no", payload("no"));
        };
        return random.nextBoolean() ? mail : mail.withHeaders(Map.of("tenant", "t" + random.nextInt(9)));
    }

    private Unaddressed deliver(List<Twin.Row> runs) {
        String to = any(runs).id();
        Mail mail = mail();
        return new Unaddressed("deliver " + to, refs -> new Change.Deliver(RunId.of(to), mail));
    }

    private Unaddressed command(List<Twin.Row> runs) {
        String id = any(runs).id();
        CommandKind kind = List.of(
                        CommandKind.CANCEL, CommandKind.KILL, CommandKind.PAUSE, CommandKind.RESUME, CommandKind.RESUME)
                .get(random.nextInt(5));
        return new Unaddressed(kind + " " + id, refs -> new Change.Command(RunId.of(id), kind, "by hand"));
    }

    private Unaddressed rerun(List<Twin.Row> runs) {
        List<Twin.Row> dags = runs.stream().filter(Twin.Row::dag).toList();
        if (dags.isEmpty()) {
            return command(runs);
        }
        String dag = any(dags).id();
        List<RunId> tasks = runs.stream()
                .filter(run -> run.task() && run.id().startsWith(dag + "/"))
                .map(run -> RunId.of(run.id()))
                .toList();
        long seed = random.nextLong();
        return new Unaddressed("rerun " + dag, refs -> new Change.Rerun(RunId.of(dag), tasks, seed));
    }
}

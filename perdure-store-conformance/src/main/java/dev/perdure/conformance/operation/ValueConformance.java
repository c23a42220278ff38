package dev.perdure.conformance.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.conformance.StoreConformance;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.payload.EncryptedPayload;
import dev.perdure.spi.payload.StoredValues.Page;
import dev.perdure.spi.payload.StoredValues.Replacement;
import dev.perdure.spi.payload.StoredValues.Site;
import dev.perdure.spi.payload.StoredValues.Value;
import dev.perdure.spi.report.Reports;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.Test;

/** Encrypted values are found wherever they are, and replaced if they are still the same. */
public abstract class ValueConformance extends StoreConformance {
    private static final String OLD = "2025";
    private static final String NEW = "2026";

    /** For subclasses. */
    protected ValueConformance() {}

    private static Payload encrypted(String key, String value) {
        byte[] header = EncryptedPayload.header(key);
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        byte[] all = new byte[header.length + bytes.length];
        System.arraycopy(header, 0, all, 0, header.length);
        System.arraycopy(bytes, 0, all, header.length, bytes.length);
        return new Payload(all);
    }

    private static Entry entry(Entry.Kind kind, int position, Payload payload) {
        return new Entry(position, Entry.ANSWER, kind, "name", Entry.Status.VALUE, payload);
    }

    private List<Value> found(String key) {
        List<Value> found = new ArrayList<>();
        List<String> reached = List.of();
        do {
            Page page = store().values().read(reached, key);
            found.addAll(page.values());
            reached = page.reached();
        } while (!reached.isEmpty());
        return found;
    }

    private int replace(List<Value> values, Payload after) {
        return store().values()
                .replace(values.stream()
                        .map(value -> new Replacement(value.address(), value.payload(), after))
                        .toList());
    }

    @Test
    void values_of_another_key_are_found_in_every_place() {
        WorkerId worker = join();
        RunId id = RunId.of("a");
        ObjectKey cart = new ObjectKey("cart", "user-1");
        RunRef run = startOwned(
                worker,
                withInput(newRun("a"), encrypted(OLD, "input")).on(new ObjectCall(cart, ObjectCall.Hold.EXCLUSIVE)));
        apply(
                worker,
                advance(
                        run,
                        1,
                        STAY,
                        List.of(
                                new Effect.Publish("told", 1, encrypted(OLD, "published")),
                                new Effect.SetState("items", encrypted(OLD, "state"))),
                        entry(Entry.Kind.STEP, 1, encrypted(OLD, "step")),
                        entry(Entry.Kind.STATE, 2, encrypted(OLD, "read")),
                        entry(Entry.Kind.STEP, 3, encrypted(NEW, "new")),
                        entry(Entry.Kind.STEP, 4, payload("\"plain\""))));
        deliver(run, Mail.value(Channel.message("topic"), UUID.randomUUID(), encrypted(OLD, "message")));
        deliver(run, Mail.value(Channel.promise("promise"), UUID.randomUUID(), encrypted(OLD, "promise")));
        deliver(run, Mail.value(Channel.answer(5), UUID.randomUUID(), encrypted(OLD, "answer")));
        Reports.Source source = new Reports.Source(run, 1, 6, "step", 1);
        store().reports()
                .write(
                        worker,
                        List.of(new Reports.Report(
                                source,
                                Reports.version(1, 1),
                                null,
                                "",
                                new Reports.Heartbeat(Reports.version(1, 1), encrypted(OLD, "heartbeat")))));
        apply(worker, advance(run, 1, new Move.End(RunState.COMPLETED, encrypted(OLD, "result"), "")));

        assertThat(found(NEW))
                .extracting(Value::site, Value::payload)
                .containsExactlyInAnyOrder(
                        pair(new Site.Input(id), "input"),
                        pair(new Site.Result(id), "result"),
                        pair(new Site.Position(id, 1, null, "name"), "step"),
                        pair(new Site.Position(id, 2, cart, "name"), "read"),
                        pair(new Site.Position(id, 6, null, ""), "heartbeat"),
                        pair(new Site.Mailed(id, Channel.message("topic")), "message"),
                        pair(new Site.Mailed(id, Channel.promise("promise")), "promise"),
                        pair(new Site.Mailed(id, Channel.answer(5)), "answer"),
                        pair(new Site.Published(id, "told"), "published"),
                        pair(new Site.State(cart, "items"), "state"));
        assertThat(found(OLD)).extracting(Value::payload).containsExactly(encrypted(NEW, "new"));

        List<Value> old = found(NEW);
        assertThat(replace(old, encrypted(NEW, "anew"))).isEqualTo(old.size());
        assertThat(found(NEW)).isEmpty();
        assertThat(found(OLD)).hasSize(old.size() + 1);
        assertThat(replace(old, encrypted(NEW, "again"))).as("sent again").isZero();
        assertThat(store().journals().read(run, 0, 10_000).entries())
                .extracting(recorded -> recorded.entry().payload())
                .containsExactly(
                        encrypted(NEW, "anew"), encrypted(NEW, "anew"), encrypted(NEW, "new"), payload("\"plain\""));
        assertThat(store().runs().basis(run).orElseThrow().input()).isEqualTo(encrypted(NEW, "anew"));
        assertThat(store().states().read(cart, "items")).contains(encrypted(NEW, "anew"));
        assertThat(store().reports().find(run, 6).orElseThrow().report().heartbeat())
                .isEqualTo(new Reports.Heartbeat(Reports.version(1, 1), encrypted(NEW, "anew")));
    }

    private static Tuple pair(Site site, String value) {
        return tuple(site, encrypted(OLD, value));
    }

    @Test
    void large_values_are_found_whatever_their_key() {
        Payload reference = PayloadStoreCases.referenceTo(new byte[] {1}).payload();
        startReady(withInput(newRun("a"), reference));
        assertThat(found(NEW)).extracting(Value::payload).containsExactly(reference);
    }

    @Test
    void a_value_that_was_changed_or_removed_meanwhile_is_left_alone() {
        WorkerId worker = join();
        ObjectKey cart = new ObjectKey("cart", "user-1");
        RunRef run = startOwned(worker, newRun("a").on(new ObjectCall(cart, ObjectCall.Hold.EXCLUSIVE)));
        apply(
                worker,
                advance(
                        run,
                        1,
                        STAY,
                        List.of(new Effect.SetState("items", encrypted(OLD, "state"))),
                        entry(Entry.Kind.STEP, 1, encrypted(OLD, "step"))));
        deliver(run, Mail.value(Channel.message("topic"), UUID.randomUUID(), encrypted(OLD, "message")));
        List<Value> old = found(NEW);
        assertThat(old).hasSize(3);
        apply(
                worker,
                advance(
                        run,
                        1,
                        STAY,
                        List.of(new Effect.SetState("items", encrypted(NEW, "other")), new Effect.Take(1)),
                        entry(Entry.Kind.RECEIVE, 2, encrypted(NEW, "taken"))));

        assertThat(replace(old, encrypted(NEW, "anew"))).as("only the step").isOne();
        assertThat(store().states().read(cart, "items")).contains(encrypted(NEW, "other"));
        apply(worker, advance(run, 1, new Move.Restart(payload("1"), 7)));
        assertThat(found(NEW)).isEmpty();
    }

    @Test
    void a_walk_comes_to_every_value_page_by_page() {
        int runs = 1_100;
        for (int i = 0; i < runs; i++) {
            startReady(withInput(newRun("run-" + i), encrypted(i % 2 == 0 ? OLD : NEW, "input " + i)));
        }
        assertThat(found(NEW)).hasSize(runs / 2).doesNotHaveDuplicates();
    }
}

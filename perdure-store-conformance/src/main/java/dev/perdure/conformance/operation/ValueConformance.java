package dev.perdure.conformance.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.attribute.Attribute;
import dev.perdure.attribute.AttributeValue;
import dev.perdure.attribute.Condition;
import dev.perdure.attribute.Description;
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
import dev.perdure.spi.payload.StoredValues;
import dev.perdure.spi.payload.StoredValues.Page;
import dev.perdure.spi.payload.StoredValues.Replacement;
import dev.perdure.spi.payload.StoredValues.Site;
import dev.perdure.spi.payload.StoredValues.Value;
import dev.perdure.spi.report.Reports;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
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

    private static AttributeValue attribute(String key, String value) {
        return new AttributeValue.Encrypted(
                Base64.getEncoder().encodeToString(encrypted(key, value).bytes()));
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
                withInput(newRun("a"), encrypted(OLD, "input"))
                        .on(new ObjectCall(cart, ObjectCall.Hold.EXCLUSIVE))
                        .describedAs(Description.NONE
                                .with("email", attribute(OLD, "email"))
                                .with("phone", attribute(OLD, "phone"))
                                .with("recent", attribute(NEW, "new"))
                                .with("plain", new AttributeValue.Text("plain"))));
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
                        pair(new Site.State(cart, "items"), "state"),
                        pair(new Site.Attribute(id, "email"), "email"),
                        pair(new Site.Attribute(id, "phone"), "phone"));
        assertThat(found(OLD)).extracting(Value::payload).containsExactly(encrypted(NEW, "new"), encrypted(NEW, "new"));

        List<Value> old = found(NEW);
        assertThat(replace(old, encrypted(NEW, "anew"))).isEqualTo(old.size());
        assertThat(found(NEW)).isEmpty();
        assertThat(found(OLD)).hasSize(old.size() + 2);
        assertThat(replace(old, encrypted(NEW, "again"))).as("sent again").isZero();
        assertThat(store().journals().read(run, 0, 10_000).entries())
                .extracting(recorded -> recorded.entry().payload())
                .containsExactly(
                        encrypted(NEW, "anew"), encrypted(NEW, "anew"), encrypted(NEW, "new"), payload("\"plain\""));
        assertThat(store().runs().basis(run).orElseThrow().input()).isEqualTo(encrypted(NEW, "anew"));
        assertThat(store().states().read(cart, "items")).contains(encrypted(NEW, "anew"));
        assertThat(store().reports().find(run, 6).orElseThrow().report().heartbeat())
                .isEqualTo(new Reports.Heartbeat(Reports.version(1, 1), encrypted(NEW, "anew")));
        assertThat(store().runs().find(id).orElseThrow().info().description())
                .isEqualTo(Description.NONE
                        .with("email", attribute(NEW, "anew"))
                        .with("phone", attribute(NEW, "anew"))
                        .with("recent", attribute(NEW, "new"))
                        .with("plain", new AttributeValue.Text("plain")));
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
    void an_attribute_that_was_set_or_removed_meanwhile_is_left_alone() {
        WorkerId worker = join();
        RunRef run = startOwned(
                worker,
                newRun("a")
                        .describedAs(Description.NONE
                                .with("email", attribute(OLD, "email"))
                                .with("phone", attribute(OLD, "phone"))
                                .with("street", attribute(OLD, "street"))));
        List<Value> old = found(NEW);
        assertThat(old).hasSize(3);
        List<Effect> set = List.of(
                new Effect.SetAttribute("email", attribute(NEW, "other")), new Effect.SetAttribute("phone", null));
        apply(worker, advance(run, 1, STAY, set));

        assertThat(replace(old, encrypted(NEW, "anew"))).as("only the street").isOne();
        assertThat(store().runs().find(run.id()).orElseThrow().info().description())
                .isEqualTo(
                        Description.NONE.with("email", attribute(NEW, "other")).with("street", attribute(NEW, "anew")));
    }

    @Test
    void no_run_is_found_by_an_encrypted_attribute() {
        AttributeValue encrypted = attribute(OLD, "email");
        startReady(newRun("a").describedAs(Description.NONE.with("email", encrypted)));
        String base64 = encrypted.texts().getFirst();
        assertThat(store().runs()
                        .list(RunFilter.all().where(Attribute.text("email").is(base64))))
                .isEmpty();
        assertThat(store().runs()
                        .list(RunFilter.all()
                                .where(new Condition(
                                        "email", Condition.Comparison.IS, new AttributeValue.Text("email")))))
                .isEmpty();
    }

    @Test
    void the_values_of_a_page_have_a_bounded_number_of_bytes() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, newRun("a"));
        String third = "x".repeat((int) (StoredValues.PAGE_BYTES / 3) + 1);
        for (int i = 1; i <= 5; i++) {
            apply(worker, advance(run, 1, STAY, entry(Entry.Kind.STEP, i, encrypted(OLD, third))));
        }
        List<Integer> sizes = new ArrayList<>();
        List<String> reached = List.of();
        do {
            Page page = store().values().read(reached, NEW);
            if (!page.values().isEmpty()) {
                sizes.add(page.values().size());
            }
            reached = page.reached();
        } while (!reached.isEmpty());
        assertThat(sizes).containsExactly(3, 2);
    }

    @Test
    void a_walk_comes_to_every_value_page_by_page() {
        int runs = 1_100;
        for (int i = 0; i < runs; i++) {
            String key = i % 2 == 0 ? OLD : NEW;
            startReady(withInput(newRun("run-" + i), encrypted(key, "input " + i))
                    .describedAs(
                            i % 10 == 0 ? Description.NONE.with("email", attribute(key, "e " + i)) : Description.NONE));
        }
        assertThat(found(NEW)).hasSize(runs / 2 + runs / 10).doesNotHaveDuplicates();
    }
}

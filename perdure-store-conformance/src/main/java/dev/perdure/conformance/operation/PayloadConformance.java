package dev.perdure.conformance.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.conformance.StoreConformance;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.spi.payload.PayloadReference;
import dev.perdure.spi.payload.PayloadStore;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Large payloads beside the runs, and which of them the runs refer to. */
public abstract class PayloadConformance extends StoreConformance implements PayloadStoreCases {
    private static final PayloadReference REFERENCE = PayloadStoreCases.referenceTo(new byte[] {1});

    /** For subclasses. */
    protected PayloadConformance() {}

    @Override
    public PayloadStore payloads() {
        return store().payloads();
    }

    private static Payload reference() {
        return REFERENCE.payload();
    }

    private boolean isReferred() {
        PayloadReference other = PayloadStoreCases.referenceTo(new byte[] {2});
        boolean referred =
                store().payloads().referred(List.of(other, REFERENCE)).contains(REFERENCE);
        assertThat(store().payloads().referred(List.of(other))).isEmpty();
        return referred;
    }

    private static Entry entry(int position) {
        return new Entry(position, 0, Entry.Kind.STEP, "large", Entry.Status.VALUE, reference());
    }

    @Test
    void nothing_refers_to_a_payload_that_no_row_names() {
        RunRef run = startOwned(join(), "a");
        apply(join(), advance(run, 1, STAY, step(1, "\"" + REFERENCE.hash() + "\"")));
        assertThat(isReferred()).isFalse();
    }

    @Test
    void an_input_refers_to_its_payload() {
        startReady(withInput(newRun("a"), reference()));
        assertThat(isReferred()).isTrue();
    }

    @Test
    void an_entry_refers_to_its_payload_until_the_run_begins_another_life() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, STAY, entry(1)));
        assertThat(isReferred()).isTrue();
        apply(worker, advance(run, 1, new Move.Restart(payload("1"), 7)));
        assertThat(isReferred()).isFalse();
    }

    @Test
    void an_outcome_refers_to_its_payload_until_the_run_is_deleted() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, new Move.End(RunState.COMPLETED, reference(), "")));
        assertThat(isReferred()).isTrue();
        free("a");
        assertThat(isReferred()).isFalse();
    }

    @Test
    void a_message_refers_to_its_payload_until_the_run_takes_it() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        deliver(run, Mail.value(Channel.message("t"), UUID.randomUUID(), reference()));
        assertThat(isReferred()).isTrue();
        apply(worker, advance(run, 1, STAY, List.of(new Effect.Take(1)), step(1, "1")));
        assertThat(isReferred()).isFalse();
    }

    @Test
    void a_published_value_refers_to_its_payload() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, STAY, List.of(new Effect.Publish("p", 1, reference())), step(1, "1")));
        assertThat(isReferred()).isTrue();
    }

    @Test
    void the_state_of_an_object_refers_to_its_payload_until_it_is_replaced() {
        WorkerId worker = join();
        ObjectKey cart = new ObjectKey("cart", "user-1");
        RunRef run = startOwned(worker, calling(newRun("a"), new ObjectCall(cart, ObjectCall.Hold.EXCLUSIVE)));
        apply(worker, advance(run, 1, STAY, List.of(new Effect.SetState("items", reference())), step(1, "1")));
        assertThat(isReferred()).isTrue();
        apply(worker, advance(run, 1, STAY, List.of(new Effect.SetState("items", payload("1"))), step(2, "1")));
        assertThat(isReferred()).isFalse();
    }

    private static NewRun calling(NewRun run, ObjectCall call) {
        return new NewRun(
                run.id(),
                run.definition(),
                run.input(),
                run.seed(),
                run.queue(),
                run.priority(),
                null,
                null,
                null,
                null,
                call);
    }

    @Test
    void a_fork_refers_to_the_payloads_of_its_copy() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, STAY, entry(1)));
        apply(worker, advance(run, 1, complete("1"), step(2, "1")));
        apply(Lane.client(0), new Change.Fork(run.id(), 2, RunId.of("fork"), 5, null));
        free("a");
        assertThat(isReferred()).isTrue();
    }

    @Test
    void one_worker_has_the_turn_to_look_at_all_payloads_for_a_while() {
        assertThat(store().payloads().takeTurn(HOUR)).isTrue();
        assertThat(store().payloads().takeTurn(HOUR)).isFalse();
        advance(HOUR.minusMillis(1));
        assertThat(store().payloads().takeTurn(HOUR)).isFalse();
        advance(Duration.ofMillis(1));
        assertThat(store().payloads().takeTurn(HOUR)).isTrue();
        assertThat(store().payloads().takeTurn(HOUR)).isFalse();
    }

    @Test
    void a_payload_is_kept_while_somebody_may_still_commit_its_reference() {
        PayloadReference reference = PayloadStoreCases.put(payloads(), new byte[] {1});
        assertThat(payloads().remove(List.of(reference), List.of(), HOUR)).isZero();
        advance(Duration.ofMinutes(59));
        assertThat(payloads().remove(List.of(reference), List.of(), HOUR)).isZero();
        advance(Duration.ofMinutes(1));
        assertThat(payloads().remove(List.of(reference), List.of(), HOUR)).isOne();
    }

    @Test
    void what_is_kept_while_it_is_removed_stays_or_was_not_kept() throws Exception {
        List<PayloadReference> all = IntStream.range(0, 100)
                .mapToObj(seed -> PayloadStoreCases.put(payloads(), new byte[] {(byte) seed}))
                .toList();
        payloads().remove(all, List.of(), HOUR);
        advance(HOUR);
        PayloadStoreCases.keepWhileRemoving(payloads(), payloads(), all);
    }

    @Test
    void what_was_referred_to_in_between_is_kept_for_another_while() {
        PayloadReference reference = PayloadStoreCases.put(payloads(), new byte[] {1});
        payloads().remove(List.of(reference), List.of(), HOUR);
        advance(HOUR);
        payloads().remove(List.of(), List.of(reference), HOUR);
        assertThat(payloads().remove(List.of(reference), List.of(), HOUR)).isZero();
        advance(HOUR);
        assertThat(payloads().keep(reference)).isTrue();
        assertThat(payloads().remove(List.of(reference), List.of(), HOUR)).isZero();
        advance(HOUR);
        PayloadStoreCases.put(payloads(), new byte[] {1});
        assertThat(payloads().remove(List.of(reference), List.of(), HOUR)).isZero();
        advance(HOUR);
        assertThat(payloads().remove(List.of(reference), List.of(), HOUR)).isOne();
    }
}

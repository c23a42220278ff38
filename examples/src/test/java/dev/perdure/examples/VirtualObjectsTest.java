package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.error.RunFailedException;
import dev.perdure.examples.Cart.Item;
import dev.perdure.examples.Cart.Summary;
import dev.perdure.examples.UserSession.Session;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.ObjectHandle;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The code that the guide on virtual objects quotes. */
class VirtualObjectsTest {
    // region call
    @ParameterizedTest
    @EnumSource
    void a_cart_is_filled_and_paid(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(new Cart((user, cents) -> user + " paid " + cents));
            ObjectHandle<Cart> cart = perdure.object(Cart.class, "user-123");
            assertThat(cart.call(Cart::add, new Item("book", 1_900))).isEqualTo(new Summary(1, 1_900));
            Run<Summary> lamp = cart.send(Cart::add, new Item("lamp", 4_000), id("click-7"));
            cart.send(Cart::add, new Item("lamp", 4_000), id("click-7")); // the same click, sent twice
            perdure.crash();
            assertThat(lamp.result()).isEqualTo(new Summary(2, 5_900));
            assertThat(cart.call(Cart::checkout)).isEqualTo("user-123 paid 5900");
            assertThat(cart.call(Cart::contents)).isEmpty();
        }
    }
    // endregion

    @ParameterizedTest
    @EnumSource
    void a_state_of_the_wrong_type_pauses_the_next_call_until_it_is_killed_and_the_state_edited(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(new Cart((user, cents) -> user + " paid " + cents));
            ObjectHandle<Cart> cart = perdure.object(Cart.class, "user-123");
            cart.edit(state -> state.set(StateKey.of("items", String.class), "a book"));
            Run<Summary> stuck = cart.send(Cart::add, new Item("lamp", 4_000), id("stuck"));
            perdure.settle();
            assertThat(stuck.state()).isEqualTo(RunState.PAUSED);
            assertThat(stuck.info().reason().orElseThrow()).contains("items");
            Run<Summary> next = cart.send(Cart::add, new Item("lamp", 4_000), id("next"));
            perdure.settle();
            assertThat(next.state()).isEqualTo(RunState.PENDING);
            stuck.kill("its state cannot be read");
            perdure.settle();
            assertThat(next.state()).isEqualTo(RunState.PAUSED);
            next.kill("its state cannot be read");
            cart.edit(state -> state.set(Cart.ITEMS, List.of()));
            assertThat(cart.call(Cart::add, new Item("lamp", 4_000))).isEqualTo(new Summary(1, 4_000));
        }
    }

    // region state
    @ParameterizedTest
    @EnumSource
    void an_operator_reads_and_edits_a_cart(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(new Cart((user, cents) -> user + " paid " + cents));
            ObjectHandle<Cart> cart = perdure.object(Cart.class, "user-123");
            cart.call(Cart::add, new Item("book", 1_900));
            assertThat(cart.state().keys()).containsExactly("items");
            assertThat(cart.state().get(Cart.ITEMS)).hasValue(List.of(new Item("book", 1_900)));
            cart.edit(state -> state.set(Cart.ITEMS, List.of(new Item("gift", 0))));
            assertThat(cart.call(Cart::add, new Item("lamp", 4_000))).isEqualTo(new Summary(2, 4_000));
        }
    }
    // endregion

    @ParameterizedTest
    @EnumSource
    void a_session_ends_by_itself_unless_it_is_another_one(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(new UserSession((user, password) -> password.equals("right")));
            ObjectHandle<UserSession> ann = perdure.object(UserSession.class, "ann");
            assertThat(ann.call(UserSession::login, "wrong")).isEmpty();
            assertThat(ann.call(UserSession::login, "right")).isPresent();
            assertThat(ann.call(UserSession::login, "right")).isEmpty();
            perdure.advance(Duration.ofMinutes(20));
            ann.call(UserSession::logout);
            assertThat(ann.call(UserSession::login, "right")).isPresent();
            perdure.advance(Duration.ofMinutes(11));
            assertThat(ann.call(UserSession::current)).map(Session::expired).hasValue(false);
            perdure.advance(Duration.ofMinutes(20));
            assertThat(ann.call(UserSession::current)).map(Session::expired).hasValue(true);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_webhook_reaches_the_payment_that_holds_the_key(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            List<String> initiated = new CopyOnWriteArrayList<>();
            perdure.register(new PaymentProcessor((payment, cents) -> initiated.add(payment + " " + cents)));
            ObjectHandle<PaymentProcessor> payment = perdure.object(PaymentProcessor.class, "order-42");
            Run<String> run = payment.send(PaymentProcessor::pay, 4_200);
            perdure.advance(Duration.ofDays(1));
            assertThat(payment.call(PaymentProcessor::status)).isEqualTo("PENDING");
            perdure.crash();
            payment.call(PaymentProcessor::webhook, new PaymentProcessor.Callback(true, "tx-1"));
            assertThat(run.result()).isEqualTo("tx-1");
            assertThat(payment.call(PaymentProcessor::status)).isEqualTo("COMPLETED");
            assertThat(initiated).containsExactly("order-42 4200");
            assertThatThrownBy(
                            () -> payment.call(PaymentProcessor::webhook, new PaymentProcessor.Callback(true, "tx-2")))
                    .isInstanceOf(RunFailedException.class)
                    .hasMessageContaining("No payment is pending.");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_confirmation_runs_once(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            List<String> asked = new CopyOnWriteArrayList<>();
            perdure.register(new EmailConfirmation(asked::add));
            ObjectHandle<EmailConfirmation> confirmation = perdure.object(EmailConfirmation.class, "ann@example.org");
            Run<String> run = confirmation.send(EmailConfirmation::run, StartOptions.defaults());
            perdure.settle();
            assertThat(confirmation.call(EmailConfirmation::status)).isEqualTo("asked");
            confirmation.call(EmailConfirmation::confirm, "code-7");
            assertThat(run.result()).isEqualTo("code-7");
            assertThat(confirmation.call(EmailConfirmation::run)).isEqualTo("code-7");
            assertThat(asked).containsExactly("ann@example.org");
        }
    }

    /** Calls another account, which may call back. */
    @VirtualObject("account")
    public static final class Account {
        // region cycle
        @Handler
        public String transfer(ObjectContext ctx, String to) {
            try {
                return ctx.object(Account.class, to).call(Account::transfer, ctx.key());
            } catch (RunFailedException refused) {
                return String.valueOf(refused.getMessage());
            }
        }
        // endregion
    }

    @ParameterizedTest
    @EnumSource
    void a_call_that_comes_back_is_refused_with_the_chain(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(new Account());
            Run<String> run = perdure.object(Account.class, "ann").send(Account::transfer, "bob", id("t-1"));
            assertThat(run.result())
                    .contains("Calls wait for each other in a cycle")
                    .contains("'t-1' (account/transfer of 'ann')");
            assertThat(run.state()).isEqualTo(RunState.COMPLETED);
        }
    }
}

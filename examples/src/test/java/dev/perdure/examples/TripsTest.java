package dev.perdure.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.TerminalException;
import dev.perdure.examples.Trips.Agency;
import dev.perdure.examples.Trips.Booking;
import dev.perdure.examples.Trips.Trip;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TripsTest {
    private static final Trip TRIP = new Trip("Ada", "Turin", Duration.ofDays(7));

    private final List<String> calls = new CopyOnWriteArrayList<>();

    private final class Bookings implements Agency {
        private final String what;
        private final boolean hasRoom;
        private final AtomicInteger refusedCancels = new AtomicInteger();

        Bookings(String what, boolean hasRoom) {
            this.what = what;
            this.hasRoom = hasRoom;
        }

        @Override
        public String book(String key, String city) {
            if (!hasRoom) {
                throw new TerminalException("No " + what + " left in " + city + ".");
            }
            calls.add("book " + what);
            return what;
        }

        @Override
        public void cancel(String key) {
            if (refusedCancels.getAndDecrement() > 0) {
                throw new IllegalStateException("try later");
            }
            calls.add("cancel " + what);
        }
    }

    @ParameterizedTest
    @EnumSource
    void books_both(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(new Trips(new Bookings("flight", true), new Bookings("hotel", true)));
            assertThat(perdure.start(Trips::book, TRIP).result()).isEqualTo(new Booking("flight", "hotel"));
            assertThat(calls).containsExactly("book flight", "book hotel");
        }
    }

    @ParameterizedTest
    @EnumSource
    void takes_the_flight_back_when_there_is_no_room(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            Bookings flights = new Bookings("flight", true);
            flights.refusedCancels.set(2); // compensations are steps, so the engine retries them
            perdure.register(new Trips(flights, new Bookings("hotel", false)));
            Run<Booking> run = perdure.start(Trips::book, TRIP);
            assertThatThrownBy(run::result)
                    .isInstanceOf(RunFailedException.class)
                    .hasMessageContaining("No hotel left in Turin.");
            assertThat(calls).containsExactly("book flight", "cancel hotel", "cancel flight");
            assertThat(run.state()).isEqualTo(RunState.FAILED);
        }
    }

    // region cancel
    @ParameterizedTest
    @EnumSource
    void a_cancel_takes_everything_back_the_last_first(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(new Trips(new Bookings("flight", true), new Bookings("hotel", true)));
            Run<Booking> run = perdure.start(Trips::book, TRIP);
            perdure.advance(Duration.ofDays(3));
            run.cancel("Ada stays at home");
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.CANCELLED);
            assertThat(calls).containsExactly("book flight", "book hotel", "cancel hotel", "cancel flight");
        }
    }
    // endregion

    // region kill
    @ParameterizedTest
    @EnumSource
    void a_kill_takes_nothing_back(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(new Trips(new Bookings("flight", true), new Bookings("hotel", true)));
            Run<Booking> run = perdure.start(Trips::book, TRIP);
            perdure.advance(Duration.ofDays(3));
            run.kill("test data");
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.CANCELLED);
            assertThat(calls).containsExactly("book flight", "book hotel");
        }
    }
    // endregion

    // region deadline
    @ParameterizedTest
    @EnumSource
    void a_deadline_takes_everything_back_and_fails_the_run(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(new Trips(new Bookings("flight", true), new Bookings("hotel", true)));
            Run<Booking> run =
                    perdure.start(Trips::book, TRIP, StartOptions.defaults().timeout(Duration.ofDays(1)));
            perdure.advance(Duration.ofDays(1));
            assertThat(run.state()).isEqualTo(RunState.FAILED);
            assertThat(calls).containsExactly("book flight", "book hotel", "cancel hotel", "cancel flight");
        }
    }
    // endregion

    // region pause
    @ParameterizedTest
    @EnumSource
    void a_paused_run_lets_its_timer_pass_and_goes_on_when_resumed(TestMode mode) {
        try (PerdureTest perdure = PerdureTest.create(mode)) {
            perdure.register(new Trips(new Bookings("flight", true), new Bookings("hotel", true)));
            Run<Booking> run = perdure.start(Trips::book, TRIP);
            perdure.advance(Duration.ofDays(3));
            run.pause("the hotel calls back");
            perdure.advance(Duration.ofDays(30));
            assertThat(run.state()).isEqualTo(RunState.PAUSED);
            assertThat(run.info().reason()).hasValue("the hotel calls back");
            run.resume();
            assertThat(run.result()).isEqualTo(new Booking("flight", "hotel"));
        }
    }
    // endregion
}

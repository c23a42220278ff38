package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.retry;

import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.CancelledException;
import dev.perdure.error.DeadlineExceededException;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.StepFailedException;
import dev.perdure.error.TerminalException;
import dev.perdure.memory.MemoryStore;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/** Books a trip, and cancels the bookings if a later step fails or the traveller cancels. A saga written by hand. */
public final class Trips {
    /** A traveller's trip, and how long it can be cancelled for free. */
    public record Trip(String traveller, String city, Duration freeCancellation) {}

    /** The booking numbers. */
    public record Booking(String flight, String hotel) {}

    /** A booking service. */
    public interface Agency {
        /** Books once per key and returns the booking number. */
        String book(String key, String city);

        /** Cancels the booking with this key. Does nothing if there is none. */
        void cancel(String key);
    }

    private final Agency flights;
    private final Agency hotels;

    /** Trips booked through these agencies. */
    public Trips(Agency flights, Agency hotels) {
        this.flights = flights;
        this.hotels = hotels;
    }

    // region workflow
    @Workflow("trip")
    public Booking book(WorkflowContext ctx, Trip trip) {
        String key = ctx.runId().value();
        Deque<Runnable> undo = new ArrayDeque<>();
        try {
            undo.push(() -> ctx.step("cancel flight", () -> flights.cancel(key)));
            String flight = ctx.step("book flight", () -> flights.book(key, trip.city()), retry(3));
            undo.push(() -> ctx.step("cancel hotel", () -> hotels.cancel(key)));
            String hotel = ctx.step("book hotel", () -> hotels.book(key, trip.city()), retry(3));
            ctx.sleep(trip.freeCancellation());
            return new Booking(flight, hotel);
        } catch (StepFailedException | CancelledException | DeadlineExceededException failure) {
            undo.forEach(Runnable::run); // the last booking first
            throw failure;
        }
    }
    // endregion

    /** Books a trip to a city without a free hotel room. */
    public static void main(String[] args) {
        Agency flights = agency("flight", true);
        Agency hotels = agency("hotel", false);
        try (Perdure perdure = Perdure.on(new MemoryStore())
                .register(new Trips(flights, hotels))
                .start()) {
            Run<Booking> run =
                    perdure.start(Trips::book, new Trip("Ada", "Turin", Duration.ofHours(1)), id("trip-ada"));
            System.out.println(run.result());
        } catch (RunFailedException failed) {
            System.out.println(failed.getMessage());
        }
    }

    private static Agency agency(String what, boolean hasRoom) {
        return new Agency() {
            @Override
            public String book(String key, String city) {
                if (!hasRoom) {
                    throw new TerminalException("No " + what + " left in " + city + ".");
                }
                System.out.printf("Booked a %s to %s%n", what, city);
                return what.toUpperCase(java.util.Locale.ROOT) + "-1";
            }

            @Override
            public void cancel(String key) {
                System.out.printf("Cancelled the %s of %s%n", what, key);
            }
        };
    }
}

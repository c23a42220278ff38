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

/** Books a trip, and takes back what is booked when the rest fails or the traveller changes his mind: a saga by hand. */
public final class Trips {
    /** Who goes where, and how long he may take it back. */
    public record Trip(String traveller, String city, Duration freeCancellation) {}

    /** The booking numbers. */
    public record Booking(String flight, String hotel) {}

    /** A place to book at. */
    public interface Agency {
        /** Books; the same key books once. */
        String book(String key, String city);

        /** Takes a booking back; none under this key is fine too. */
        void cancel(String key);
    }

    private final Agency flights;
    private final Agency hotels;

    /** Trips booked at these. */
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
            undo.push(() -> ctx.run("cancel flight", () -> flights.cancel(key)));
            String flight = ctx.step("book flight", () -> flights.book(key, trip.city()), retry(3));
            undo.push(() -> ctx.run("cancel hotel", () -> hotels.cancel(key)));
            String hotel = ctx.step("book hotel", () -> hotels.book(key, trip.city()), retry(3));
            ctx.sleep(trip.freeCancellation());
            return new Booking(flight, hotel);
        } catch (StepFailedException | CancelledException | DeadlineExceededException given) {
            undo.forEach(Runnable::run); // the last first
            throw given;
        }
    }
    // endregion

    /** Books a trip to a city without a free room. */
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

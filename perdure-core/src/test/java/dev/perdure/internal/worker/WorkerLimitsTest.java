package dev.perdure.internal.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.internal.worker.WorkerLimits.Claim;
import dev.perdure.internal.worker.WorkerLimits.Claimer;
import dev.perdure.queue.Queue;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Dispatch.Polled;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.Origin;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The workers of an engine, one for each part of its store, keep the limits per worker together. */
final class WorkerLimitsTest {
    private static final String MAIL = "mail";

    private volatile int limit = 1;
    private volatile long now;
    private final WorkerLimits limits =
            new WorkerLimits(queue -> Queue.named(queue).perWorker(limit), () -> now);
    private final Part a = new Part();
    private final Part b = new Part();

    /** A worker for one part of the store. */
    private final class Part {
        private final AtomicInteger held = new AtomicInteger();
        private final AtomicInteger looks = new AtomicInteger();
        private final Claimer claimer = limits.claimer(queue -> held.get(), looks::incrementAndGet);

        /** A claim that finds this many runs. Returns how many it may have. */
        private int claim(int waiting) {
            try (Claim claim = begin()) {
                return answered(claim, Math.min(waiting, places(claim)), waiting);
            }
        }

        private Claim begin() {
            return claimer.begin(Set.of(MAIL), 100);
        }

        private int answered(Claim claim, int claimed, int waiting) {
            int admitted = claim.admitted(polled(claimed, waiting > claimed)).size();
            held.addAndGet(admitted);
            return admitted;
        }

        private void ends() {
            held.decrementAndGet();
            limits.left();
        }
    }

    private static int places(Claim claim) {
        return claim.places().getOrDefault(MAIL, 100);
    }

    private static Polled polled(int claimed, boolean limited) {
        List<Claimed> runs = LongStream.range(0, claimed)
                .mapToObj(key -> new Claimed(
                        new RunRef(RunId.of("run-" + key), key),
                        1,
                        "order",
                        Payload.EMPTY,
                        1,
                        Control.NONE,
                        null,
                        0,
                        List.of(),
                        null,
                        new Origin(MAIL, Map.of(), null)))
                .toList();
        return new Polled(runs, List.of(), null, false, List.of(), limited);
    }

    @Test
    void all_of_them_hold_no_more_than_the_limit() {
        limit = 3;
        assertThat(a.claim(2)).isEqualTo(2);
        assertThat(b.claim(5)).isEqualTo(1);
        assertThat(a.claim(5)).isZero();
    }

    @Test
    void places_are_kept_from_before_the_claim_until_the_runs_are_in_memory() {
        Claim claim = a.begin();
        assertThat(places(claim)).isEqualTo(1);
        assertThat(b.claim(5)).isZero();
        assertThat(claim.admitted(polled(1, true))).hasSize(1);
        assertThat(b.claim(5)).isZero();
        a.held.set(1);
        claim.close();
        assertThat(b.claim(5)).isZero();
        a.ends();
        assertThat(b.claim(5)).isEqualTo(1);
    }

    @Test
    void what_a_claim_has_not_taken_goes_to_the_one_that_waits_for_it() {
        Claim claim = a.begin();
        assertThat(b.claim(5)).isZero();
        assertThat(b.looks).hasValue(0);
        a.answered(claim, 0, 0);
        claim.close();
        assertThat(b.looks).hasValue(1);
        assertThat(b.claim(5)).isEqualTo(1);
    }

    @Test
    void a_free_place_goes_round() {
        assertThat(a.claim(1)).isEqualTo(1);
        assertThat(b.claim(5)).isZero();
        Part next = b;
        for (int i = 0; i < 4; i++) {
            Part last = next == a ? b : a;
            int looks = next.looks.get();
            last.ends();
            assertThat(next.looks).hasValue(looks + 1);
            assertThat(last.claim(5)).as("another one waits").isZero();
            assertThat(next.claim(5)).isEqualTo(1);
            next = last;
        }
    }

    @Test
    void free_places_go_to_those_who_wait_and_have_the_fewest() {
        limit = 5;
        assertThat(a.claim(9)).isEqualTo(5);
        assertThat(b.claim(9)).isZero();
        a.held.set(1);
        limits.left();
        assertThat(b.looks).hasValue(1);
        assertThat(a.claim(9)).as("of four, b gets the first and the third").isEqualTo(2);
        assertThat(b.claim(9)).isEqualTo(2);
        assertThat(a.claim(9)).isZero();
    }

    @Test
    void a_claim_that_fails_loses_no_place_and_the_next_one_keeps_none() {
        a.begin().close();
        assertThat(b.claim(1)).isEqualTo(1);
        b.ends();
        assertThat(a.claim(5)).as("the part may still not answer").isZero();
        assertThat(a.looks).as("it has answered").hasValue(1);
        assertThat(a.claim(5)).isEqualTo(1);
    }

    @Test
    void a_claim_that_hangs_keeps_its_places_for_a_second_and_is_admitted_what_is_free_then() {
        limit = 2;
        Claim hanging = a.begin();
        assertThat(places(hanging)).isEqualTo(2);
        assertThat(b.claim(1)).isZero();
        now += TimeUnit.SECONDS.toNanos(1);
        assertThat(b.claim(1)).isEqualTo(1);
        assertThat(a.answered(hanging, 2, 5)).isEqualTo(1);
        hanging.close();
        assertThat(b.claim(1)).isZero();
    }

    @Test
    void one_that_does_not_come_when_it_is_called_is_passed_over() {
        assertThat(a.claim(1)).isEqualTo(1);
        assertThat(b.claim(5)).isZero();
        a.ends();
        assertThat(a.claim(5)).isZero();
        now += TimeUnit.SECONDS.toNanos(1);
        assertThat(a.claim(5)).isEqualTo(1);
    }

    @Test
    void one_worker_alone_is_left_to_its_store() {
        WorkerLimits alone = new WorkerLimits(queue -> Queue.named(queue).perWorker(1), () -> now);
        try (Claim claim = alone.claimer(queue -> 0, () -> {}).begin(Set.of(MAIL), 100)) {
            assertThat(claim.places()).isEmpty();
            assertThat(claim.admitted(polled(2, true))).hasSize(2);
        }
    }

    @Test
    void the_limit_holds_whatever_they_do_at_once() throws Exception {
        limit = 3;
        AtomicInteger most = new AtomicInteger();
        List<Part> parts = List.of(a, b, new Part());
        try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> all = new ArrayList<>();
            for (Part part : parts) {
                Random random = new Random(parts.indexOf(part));
                all.add(executor.submit(() -> {
                    for (int i = 0; i < 20_000; i++) {
                        if (part.held.get() > 0 && random.nextBoolean()) {
                            part.ends();
                        } else if (random.nextInt(10) == 0) {
                            part.begin().close(); // it fails
                        } else {
                            part.claim(random.nextInt(4));
                            most.accumulateAndGet(
                                    parts.stream()
                                            .mapToInt(each -> each.held.get())
                                            .sum(),
                                    Math::max);
                        }
                    }
                }));
            }
            for (Future<?> each : all) {
                each.get();
            }
        }
        assertThat(most).hasValueLessThanOrEqualTo(limit);
    }
}

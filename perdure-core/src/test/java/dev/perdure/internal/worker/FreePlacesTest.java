package dev.perdure.internal.worker;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class FreePlacesTest {
    private final FreePlaces places = new FreePlaces();

    /** How many of these runs, which leave one after another, let the worker look. */
    private int looks(int runs) {
        int looks = 0;
        for (int i = 0; i < runs; i++) {
            looks += places.left() ? 1 : 0;
        }
        return looks;
    }

    private void poll(int claimed, int held) {
        places.pollBegins();
        places.polled(claimed, held, true);
    }

    @Test
    void without_limits_every_place_is_worthwhile() {
        places.pollBegins();
        places.polled(500, 500, false);
        assertThat(looks(3)).isEqualTo(3);
        assertThat(places.areFew()).isFalse();
    }

    @Test
    void a_full_queue_is_claimed_from_by_halves() {
        poll(64, 64);
        for (int i = 0; i < 10; i++) {
            assertThat(places.left()).as("the first").isTrue();
            assertThat(looks(30)).isZero();
            assertThat(places.areFew()).isTrue();
            assertThat(places.left()).as("the half").isTrue();
            assertThat(places.areFew()).isFalse();
            poll(32, 64);
        }
    }

    @Test
    void fewer_places_than_the_last_poll_took_are_few() {
        poll(5, 1_000);
        looks(4);
        assertThat(places.areFew()).isTrue();
        looks(1);
        assertThat(places.areFew()).isFalse();
    }

    @Test
    void a_poll_that_took_one_run_is_followed_by_a_poll_for_one() {
        poll(1, 1_000);
        assertThat(places.left()).isTrue();
        assertThat(places.areFew()).isFalse();
    }

    @Test
    void a_poll_that_took_nothing_is_followed_by_a_poll_for_one() {
        poll(0, 64);
        assertThat(places.left()).isTrue();
        assertThat(places.areFew()).isFalse();
    }

    @Test
    void a_place_that_the_poll_has_taken_is_not_free() {
        poll(10, 20);
        places.pollBegins();
        looks(4);
        places.polled(4, 20, true);
        assertThat(places.someLeft()).isTrue();
        looks(3);
        assertThat(places.areFew()).as("three of four").isTrue();
        looks(1);
        assertThat(places.areFew()).isFalse();
    }

    @Test
    void places_that_were_left_before_a_poll_are_not_free_after_it() {
        poll(10, 20);
        looks(8);
        poll(2, 20);
        assertThat(places.someLeft()).isFalse();
        assertThat(places.areFew()).isFalse();
        looks(1);
        assertThat(places.areFew()).as("one of two").isTrue();
    }
}

package dev.perdure.shards.limit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.error.StoreException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.shards.limit.DividedLimits.Asking;
import dev.perdure.spi.shard.Places;
import dev.perdure.spi.shard.Places.Division;
import dev.perdure.spi.shard.Places.Kind;
import dev.perdure.spi.shard.Places.Limit;
import dev.perdure.spi.shard.Places.Request;
import dev.perdure.spi.shard.Places.Share;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A process may stop before and after each request to a shard: no place is lost or given out twice. */
final class DivisionsTest {
    private static final Limit MAIL = new Limit(Kind.QUEUE, "mail");
    private static final List<String> NAMES = List.of("a", "b", "c");
    private static final Asking ASKING = new Asking() {
        @Override
        public <T> T ask(int shard, Function<Integer, T> question) {
            return question.apply(shard);
        }
    };

    private final List<Places> places = NAMES.stream()
            .map(name -> new MemoryStore().exchange().orElseThrow().places())
            .toList();
    private final Divisions divisions = new Divisions(places::get, NAMES, ASKING);

    /** How many writes a process still makes before it dies, and whether it hears of the last one's success. */
    private static final class Dying {
        private int left;
        private final boolean applied;

        private Dying(int left, boolean applied) {
            this.left = left;
            this.applied = applied;
        }

        private Places of(Places real) {
            return (Places) Proxy.newProxyInstance(
                    Places.class.getClassLoader(), new Class<?>[] {Places.class}, (self, method, arguments) -> {
                        boolean last =
                                List.of("join", "settle", "give", "receive").contains(method.getName()) && --left < 0;
                        try {
                            Object answer = last && !applied
                                    ? null
                                    : method.isDefault()
                                            ? real.share((Limit) arguments[0])
                                            : method.invoke(real, arguments);
                            if (last) {
                                throw new StoreException(StoreException.Kind.UNAVAILABLE, "It has died.", null);
                            }
                            return answer;
                        } catch (InvocationTargetException thrown) {
                            throw thrown.getCause();
                        }
                    });
        }
    }

    private void open(int whole) {
        IntStream.range(0, NAMES.size()).forEach(shard -> divisions.open(shard, MAIL, Map.of(), whole));
    }

    private List<Share> shares() {
        return places.stream().map(each -> each.share(MAIL).orElseThrow()).toList();
    }

    private int sum() {
        return shares().stream().mapToInt(Share::places).sum();
    }

    private OptionalLong give(int from, int to, int wanted) {
        Share share = shares().get(to);
        return places.get(from)
                .give(new Request(MAIL, share.division().number(), NAMES.get(to), share.places(), wanted, 0));
    }

    private void settledAt(int whole) {
        assertThat(shares()).allMatch(Share::settled);
        assertThat(shares().stream().map(Share::division).distinct())
                .singleElement()
                .satisfies(division -> assertThat(division.whole()).isEqualTo(whole));
        assertThat(sum()).isEqualTo(whole);
    }

    @Test
    void a_limit_smaller_than_the_number_of_shards_is_divided() {
        open(1);
        assertThat(shares().stream().map(Share::places)).containsExactly(1, 0, 0);
        divisions.divide(MAIL, 1);
        settledAt(1);
        assertThat(shares().getFirst().division().number()).isEqualTo(1);
    }

    @Test
    void a_process_that_dies_anywhere_in_a_division_leaves_what_the_next_one_completes() {
        for (boolean applied : List.of(false, true)) {
            for (int writes = 0; writes < 8; writes++) {
                for (int to : List.of(2, 5, 11, Places.UNLIMITED)) {
                    DivisionsTest fresh = new DivisionsTest();
                    fresh.open(5);
                    OptionalLong onItsWay = fresh.give(0, 2, 2); // the other shard has not got it
                    assertThat(onItsWay).hasValue(2);
                    fresh.diesIn(new Dying(writes, applied), to);
                    assertThat(fresh.places.get(2).receive(MAIL, 1, "a", 2)).isBetween(0, 2);
                    if (to != Places.UNLIMITED) {
                        assertThat(fresh.sum()).isLessThanOrEqualTo(Math.max(5, to));
                        fresh.divisions.complete(MAIL);
                        fresh.divisions.divide(MAIL, to);
                        fresh.settledAt(to);
                    } else {
                        fresh.divisions.divide(MAIL, to);
                        assertThat(fresh.shares()).allMatch(share -> share.places() == to);
                    }
                }
            }
        }
    }

    private void diesIn(Dying dying, int whole) {
        try {
            new Divisions(shard -> dying.of(places.get(shard)), NAMES, ASKING).divide(MAIL, whole);
        } catch (StoreException died) {
            assertThat(died).hasMessage("It has died.");
        }
    }

    @Test
    void a_process_that_dies_while_places_move_loses_none() {
        for (boolean applied : List.of(false, true)) {
            for (int writes = 0; writes < 2; writes++) {
                DivisionsTest fresh = new DivisionsTest();
                fresh.open(6);
                Dying dying = new Dying(writes, applied);
                List<Places> mortal = fresh.places.stream().map(dying::of).toList();
                try {
                    OptionalLong total = mortal.get(0).give(new Request(MAIL, 1, "b", 2, 2, 0));
                    mortal.get(1).receive(MAIL, 1, "a", total.orElseThrow());
                } catch (StoreException died) {
                    assertThat(fresh.sum()).isLessThanOrEqualTo(6);
                }
                OptionalLong again = fresh.places.get(0).give(new Request(MAIL, 1, "b", 2, 0, 0));
                fresh.places.get(1).receive(MAIL, 1, "a", again.orElseThrow());
                assertThat(fresh.sum()).isEqualTo(6);
            }
        }
    }

    @Test
    void a_division_with_an_older_number_gives_way() {
        open(4);
        places.getFirst().join(MAIL, new Division(2, 7, NAMES), 3);
        places.get(1).join(MAIL, new Division(3, 9, NAMES), 3);
        divisions.divide(MAIL, 7);
        settledAt(7);
        assertThat(shares().getFirst().division().number()).isEqualTo(4);
    }

    @Test
    void shards_that_opened_with_different_limits_agree_on_one() {
        divisions.open(0, MAIL, Map.of(), 6);
        divisions.open(1, MAIL, Map.of(), 9);
        divisions.divide(MAIL, 9);
        settledAt(9);
    }

    @Test
    void parts_add_up_to_the_limit_and_take_from_the_largest_first() {
        assertThat(Divisions.settled(new int[] {5, 0}, 6)).containsExactly(5, 1);
        assertThat(Divisions.settled(new int[] {5, 2}, 5)).containsExactly(3, 2);
        assertThat(Divisions.settled(new int[] {2, 2, 2}, 2)).containsExactly(1, 1, 0);
        assertThat(Divisions.settled(new int[] {0, 0, 0}, 4)).containsExactly(2, 1, 1);
    }
}

package dev.perdure.http.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.http.internal.route.Problem;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Bodies of requests take a bounded amount of memory together. */
class BodiesTest {
    private static final int LARGEST = 64 * 1024;

    private final Bodies bodies = new Bodies(LARGEST, Duration.ofMillis(20));

    private static byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    private static ApiRequest request(InputStream body, Map<String, List<String>> headers) {
        return new ApiRequest("POST", "/api/v1/events/x", headers, "127.0.0.1", body);
    }

    private static ApiRequest chunked(byte[] body) {
        return request(new ByteArrayInputStream(body), Map.of());
    }

    private static ApiRequest announced(byte[] body) {
        return request(
                new ByteArrayInputStream(body), Map.of("Content-Length", List.of(Integer.toString(body.length))));
    }

    @Test
    void a_body_is_read_whole_whatever_its_length() throws InterruptedException {
        for (int length : new int[] {0, 1, Bodies.SMALL, Bodies.SMALL + 1, Bodies.SMALL + 2, LARGEST}) {
            for (ApiRequest request : List.of(chunked(bytes(length)), announced(bytes(length)))) {
                try (Bodies.Held held = bodies.all(request)) {
                    assertThat(held.bytes()).isEqualTo(bytes(length));
                }
            }
        }
        assertThat(bodies.none(chunked(bytes(5))).bytes()).hasSize(1);
    }

    @Test
    void large_bodies_wait_for_room_and_small_ones_do_not() throws InterruptedException {
        List<Bodies.Held> held = new ArrayList<>();
        for (int i = 0; i < Bodies.LARGE_BODIES; i++) {
            held.add(bodies.all(chunked(bytes(LARGEST))));
        }
        assertThatThrownBy(() -> bodies.all(chunked(bytes(Bodies.SMALL + 1))))
                .isInstanceOfSatisfying(
                        Problem.class, problem -> assertThat(problem.status()).isEqualTo(503))
                .hasMessage("Too many large bodies arrive at once. Try again in a moment.");
        bodies.all(chunked(bytes(Bodies.SMALL))).close();

        held.removeLast().close();
        bodies.all(chunked(bytes(LARGEST))).close();
        bodies.all(announced(bytes(LARGEST))).close();
    }

    @Test
    void a_body_takes_only_the_room_that_it_needs() throws InterruptedException {
        List<Bodies.Held> held = new ArrayList<>();
        for (int i = 0; i < 2 * Bodies.LARGE_BODIES; i++) {
            held.add(bodies.all(i % 2 == 0 ? chunked(bytes(LARGEST / 2)) : announced(bytes(LARGEST / 2))));
        }
        assertThat(held).hasSize(2 * Bodies.LARGE_BODIES);
    }

    @Test
    void a_body_that_is_refused_or_cut_off_leaves_its_room() throws InterruptedException {
        for (int i = 0; i < 2 * Bodies.LARGE_BODIES; i++) {
            assertThatThrownBy(() -> bodies.all(chunked(bytes(LARGEST + 1))))
                    .isInstanceOfSatisfying(
                            Problem.class,
                            problem -> assertThat(problem.status()).isEqualTo(413));
            assertThatThrownBy(() -> bodies.all(announced(bytes(LARGEST + 1))))
                    .isInstanceOfSatisfying(
                            Problem.class,
                            problem -> assertThat(problem.status()).isEqualTo(413));
            assertThatThrownBy(() -> bodies.all(request(new CutOff(bytes(LARGEST / 2)), Map.of())))
                    .isInstanceOfSatisfying(
                            Problem.class,
                            problem -> assertThat(problem.status()).isEqualTo(408));
        }
        bodies.all(chunked(bytes(LARGEST))).close();
    }

    /** A client that goes in the middle of its request. */
    private static final class CutOff extends InputStream {
        private final InputStream sent;

        CutOff(byte[] sent) {
            this.sent = new ByteArrayInputStream(sent);
        }

        @Override
        public int read() throws IOException {
            int next = sent.read();
            if (next < 0) {
                throw new IOException("The connection was reset.");
            }
            return next;
        }
    }
}

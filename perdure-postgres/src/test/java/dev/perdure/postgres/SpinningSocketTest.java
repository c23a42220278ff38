package dev.perdure.postgres;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class SpinningSocketTest {
    private static final int ANSWERS = 200;

    private ServerSocket server;
    private Socket here;
    private Socket there;

    @BeforeEach
    void connect() throws IOException {
        server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        here = new SpinningSocketFactory().createSocket(server.getInetAddress(), server.getLocalPort());
        there = server.accept();
    }

    @AfterEach
    void close() throws IOException {
        here.close();
        there.close();
        server.close();
    }

    @Test
    void answers_come_as_they_were_sent_also_when_they_are_waited_for_awake() throws Exception {
        Thread echo = Thread.ofVirtual().start(() -> {
            for (int i = 0; i < ANSWERS; i++) {
                answer(readFrom(there) + "!");
            }
        });
        InputStream answers = here.getInputStream();
        for (int i = 0; i < ANSWERS; i++) {
            ask("question " + i);
            assertThat(read(answers)).isEqualTo("question " + i + "!");
        }
        echo.join();
    }

    @Test
    void a_connection_that_the_other_side_closes_is_at_its_end() throws Exception {
        ask("anybody?");
        there.close();
        assertThat(here.getInputStream().read(new byte[1], 0, 1)).isEqualTo(-1);
    }

    @Test
    void an_answer_that_does_not_come_in_time_is_given_up() throws Exception {
        here.setSoTimeout(5);
        ask("anybody?");
        assertThatThrownBy(() -> read(here.getInputStream())).isInstanceOf(SocketTimeoutException.class);
    }

    @Test
    void nor_is_one_waited_for_longer_than_a_long_timeout() throws Exception {
        here.setSoTimeout(1_000);
        assertThat(here.getSoTimeout()).isEqualTo(1_000);
        ask("anybody?");
        assertThatThrownBy(() -> read(here.getInputStream()))
                .isInstanceOf(SocketTimeoutException.class)
                .hasMessage("Nothing has come for PT1S.");
        assertThat(here.isClosed()).isTrue();
    }

    @Test
    void answers_that_come_are_not_given_up_under_a_long_timeout() throws Exception {
        here.setSoTimeout(1_000);
        answers_come_as_they_were_sent_also_when_they_are_waited_for_awake();
        assertThat(here.isClosed()).isFalse();
        here.setSoTimeout(0);
        assertThat(here.getSoTimeout()).isZero();
    }

    @Test
    void many_waits_one_after_the_other_are_not_taken_for_a_long_one_nor_is_a_time_without_any() throws Exception {
        Duration turn = Duration.ofMillis(20);
        Vigil vigil = new Vigil(here, turn);
        vigil.allow(turn);
        long until = System.nanoTime() + turn.multipliedBy(10).toNanos();
        while (System.nanoTime() < until) {
            vigil.begin();
            vigil.end();
        }
        await().during(turn.multipliedBy(10)).until(() -> !here.isClosed());

        vigil.begin();
        await().until(here::isClosed);
        assertThatThrownBy(vigil::end).isInstanceOf(SocketTimeoutException.class);
    }

    @Test
    void whoever_looks_whether_there_is_more_is_told_at_once() throws Exception {
        answer("news");
        assertThat(read(here.getInputStream())).isEqualTo("news");
        here.setSoTimeout(1);
        assertThatThrownBy(() -> read(here.getInputStream()))
                .isInstanceOf(SocketTimeoutException.class)
                .hasMessage("Nothing more has come.");
        here.setSoTimeout(0);
        answer("more");
        assertThat(read(here.getInputStream())).isEqualTo("more");
    }

    @Test
    void whoever_looks_again_and_again_finds_out_that_the_connection_is_lost() throws Exception {
        answer("news");
        assertThat(read(here.getInputStream())).isEqualTo("news");
        here.setSoTimeout(1);
        there.setSoLinger(true, 0); // resets the connection
        there.close();
        assertThatThrownBy(() -> {
                    for (int looks = 0; looks < 1_000; looks++) {
                        look();
                    }
                })
                .isInstanceOf(SocketException.class);
    }

    private void look() throws IOException {
        try {
            read(here.getInputStream());
        } catch (SocketTimeoutException nothing) {
            assertThat(nothing).hasMessageMatching("Nothing more has come\\.|Read timed out");
        }
    }

    @Test
    void nobody_stays_awake_where_answers_take_long() {
        Patience patience = new Patience();
        assertThat(patience.nanos()).as("at first").isEqualTo(Patience.LONGEST);
        wait(patience, 1, Patience.LONGEST);
        assertThat(patience.nanos()).as("one late answer").isEqualTo(Patience.LONGEST);
        wait(patience, 1, Long.MAX_VALUE);
        assertThat(patience.nanos()).as("one that never came").isZero();
        wait(patience, 20, Patience.SOON / 2);
        assertThat(patience.nanos()).as("soon again").isEqualTo(Patience.LONGEST);
    }

    @Test
    void after_many_late_answers_it_is_tried_again_for_a_few() {
        Patience patience = new Patience();
        int patient = 0;
        for (int i = 0; i < 10 * Patience.GIVEN_UP_FOR; i++) {
            patient += patience.nanos() > 0 ? 1 : 0;
            patience.waited(2 * Patience.SOON);
        }
        assertThat(patient).isBetween(10, 50);
    }

    private static void wait(Patience patience, int answers, long nanos) {
        IntStream.range(0, answers).forEach(i -> patience.waited(nanos));
    }

    private void ask(String question) throws IOException {
        here.getOutputStream().write(question.getBytes(UTF_8));
    }

    private void answer(String answer) {
        try {
            there.getOutputStream().write(answer.getBytes(UTF_8));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static String readFrom(Socket socket) {
        try {
            return read(socket.getInputStream());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static String read(InputStream in) throws IOException {
        byte[] bytes = new byte[100];
        return new String(bytes, 0, in.read(bytes, 0, bytes.length), UTF_8);
    }
}

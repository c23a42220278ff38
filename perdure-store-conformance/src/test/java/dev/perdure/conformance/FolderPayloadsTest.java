package dev.perdure.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.conformance.operation.PayloadStoreCases;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.StoreException;
import dev.perdure.folder.FolderPayloads;
import dev.perdure.spi.payload.PayloadReference;
import dev.perdure.spi.payload.PayloadStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The folder of payloads is a payload store. */
final class FolderPayloadsTest implements PayloadStoreCases {
    private static final byte[] CONTENT = PayloadStoreCases.content(100, 1);

    @TempDir
    Path parent;

    private Path folder;
    private FolderPayloads payloads;

    @BeforeEach
    void open() {
        folder = parent.resolve("new").resolve("payloads");
        payloads = FolderPayloads.in(folder);
    }

    @Override
    public PayloadStore payloads() {
        return payloads;
    }

    private List<String> files() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    /** Lets a payload be released for so much longer. */
    private void age(PayloadReference reference, Duration age) throws IOException {
        String name = "released-%s-%d-".formatted(reference.hash(), reference.size());
        for (String file : files()) {
            if (file.startsWith(name)) {
                long since = Long.parseLong(file.substring(name.length()));
                Files.move(folder.resolve(file), folder.resolve(name + (since - age.toMillis())));
            }
        }
    }

    @Test
    void another_engine_on_the_folder_reads_what_the_first_has_written() {
        PayloadReference reference = PayloadStoreCases.put(payloads, CONTENT);
        assertThat(FolderPayloads.in(folder).read(reference, 0)).hasValue(CONTENT);
    }

    @Test
    void an_engine_with_another_default_locale_reads_and_removes_them_too() throws IOException {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.forLanguageTag("ar-EG"));
        PayloadReference reference;
        try {
            reference = PayloadStoreCases.put(payloads, CONTENT);
            payloads.remove(List.of(reference), List.of(), HOUR);
        } finally {
            Locale.setDefault(before);
        }
        payloads = FolderPayloads.in(folder);
        assertThat(payloads.read(reference, 0)).hasValue(CONTENT);
        age(reference, HOUR);
        assertThat(payloads.remove(List.of(reference), List.of(), HOUR)).isOne();
    }

    @Test
    void a_payload_is_removed_an_hour_after_it_was_released_and_leaves_no_file() throws IOException {
        PayloadReference reference = PayloadStoreCases.put(payloads, CONTENT);
        payloads.remove(List.of(reference), List.of(), HOUR);
        age(reference, HOUR.minusMinutes(1));
        assertThat(payloads.remove(List.of(reference), List.of(), HOUR)).isZero();
        age(reference, Duration.ofMinutes(1));
        assertThat(payloads.remove(List.of(reference), List.of(), HOUR)).isOne();
        assertThat(files()).isEmpty();
    }

    @Test
    void what_was_kept_in_between_is_not_removed() throws IOException {
        PayloadReference reference = PayloadStoreCases.put(payloads, CONTENT);
        payloads.remove(List.of(reference), List.of(), HOUR);
        age(reference, HOUR);
        assertThat(payloads.keep(reference)).isTrue();
        assertThat(payloads.remove(List.of(reference), List.of(), HOUR)).isZero();
        assertThat(payloads.read(reference, 0)).isPresent();
    }

    @Test
    void a_payload_that_is_released_is_still_read_and_listed() {
        PayloadReference reference = PayloadStoreCases.put(payloads, CONTENT);
        payloads.remove(List.of(reference), List.of(), HOUR);
        assertThat(payloads.read(reference, 0)).hasValue(CONTENT);
        assertThat(payloads.list(null, 10)).containsExactly(reference);
        payloads.remove(List.of(), List.of(reference), HOUR);
        assertThat(payloads.read(reference, 0)).hasValue(CONTENT);
    }

    /** Two processes: one keeps a payload at the moment at which the other one removes it. */
    @Test
    void what_is_kept_while_it_is_removed_stays_or_was_not_kept() throws Exception {
        List<PayloadReference> all = IntStream.range(0, 300)
                .mapToObj(seed -> PayloadStoreCases.put(payloads, PayloadStoreCases.content(100, seed)))
                .distinct()
                .toList();
        payloads.remove(all, List.of(), HOUR);
        for (PayloadReference each : all) {
            age(each, HOUR.multipliedBy(2));
        }
        PayloadStoreCases.keepWhileRemoving(payloads, FolderPayloads.in(folder), all);
    }

    @Test
    void other_files_in_the_folder_are_left_alone() throws IOException {
        Files.writeString(folder.resolve("readme.txt"), "mine");
        Files.writeString(folder.resolve("payload-not-a-hash"), "mine");
        assertThat(payloads.list(null, 10)).isEmpty();
        assertThat(payloads.removeUploads(Duration.ZERO)).isZero();
        assertThat(files()).containsExactly("payload-not-a-hash", "readme.txt");
    }

    @Test
    void a_folder_that_is_gone_is_out_of_reach_and_says_what_to_check() throws IOException {
        Files.delete(folder);
        assertThatThrownBy(() -> payloads.write(UUID.randomUUID(), 0, CONTENT))
                .isInstanceOfSatisfying(
                        StoreException.class,
                        trouble -> assertThat(trouble.kind()).isEqualTo(StoreException.Kind.UNAVAILABLE))
                .hasMessageStartingWith("The folder of payloads '" + folder + "' cannot be used: ")
                .hasMessageEndingWith(
                        "Check that it exists, that this process may read and write it, and that the disk is not full.");
    }

    @Test
    void a_file_cannot_be_the_folder() throws IOException {
        Path file = Files.writeString(parent.resolve("file"), "x");
        assertThatThrownBy(() -> FolderPayloads.in(file))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage(
                        "'%s' cannot be the folder of payloads: a file has this name. Choose a folder that exists or can be created."
                                .formatted(file));
    }
}

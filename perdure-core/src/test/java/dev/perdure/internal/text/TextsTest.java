package dev.perdure.internal.text;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TextsTest {
    @Test
    void a_text_is_shortened_to_whole_characters() {
        assertThat(Texts.shortened("abc", 3)).isEqualTo("abc");
        assertThat(Texts.shortened("abcd", 3)).isEqualTo("abc");
        assertThat(Texts.shortened("ab\ud83d\ude00", 3)).isEqualTo("ab");
        assertThat(Texts.shortened("a\ud83d\ude00b", 3)).isEqualTo("a\ud83d\ude00");
    }
}

package dev.perdure.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What the pages are made of: little, complete, and nothing of another site. */
class WebFilesTest {
    private static final int MOST_BYTES = 100_000;
    private static final Pattern ADDRESS = Pattern.compile("(?:https?:)?//[a-z0-9.-]+\\.[a-z]{2,}[^\\s\"'`]*");
    private static final Pattern IMPORT = Pattern.compile("(?:from|import) '([^']+)'");
    private static final Pattern REFERENCE = Pattern.compile("\\{files}([a-z/]+\\.[a-z]+)");

    /** Names of XML languages, which nothing loads. */
    private static final Pattern NAMESPACE = Pattern.compile("http://www\\.w3\\.org/.*");

    @Test
    void everything_that_a_browser_loads_is_under_100_kB_compressed() {
        int sum = WebFiles.served().stream()
                .mapToInt(name -> Asset.of("", WebFiles.bytes(name)).zipped().length)
                .sum();

        assertThat(sum).isBetween(20_000, MOST_BYTES);
    }

    @Test
    void no_file_names_an_address_of_another_site() {
        assertThat(WebFiles.served())
                .allSatisfy(name -> assertThat(
                                ADDRESS.matcher(WebFiles.text(name)).results().map(MatchResult::group))
                        .allMatch(address -> NAMESPACE.matcher(address).matches(), "a namespace"));
    }

    @Test
    void files_of_others_have_their_recorded_checksums_and_licences() {
        String recorded = WebFiles.text("vendor/README.md");
        List<String> vendored = WebFiles.served().stream()
                .filter(name -> name.startsWith("vendor/"))
                .toList();

        assertThat(vendored)
                .hasSize(3)
                .allSatisfy(name -> assertThat(recorded)
                        .containsPattern("`%s`.*`%s`"
                                .formatted(
                                        name.substring("vendor/".length()),
                                        HexFormat.of().formatHex(Asset.sha256(WebFiles.bytes(name))))));
        assertThat(WebFiles.all()).contains("vendor/LICENSE-preact.txt", "vendor/LICENSE-htm.txt");
    }

    @Test
    void every_import_leads_to_a_file_and_every_file_is_used() {
        Set<String> used = new TreeSet<>(Set.of(Assets.INDEX));
        REFERENCE.matcher(WebFiles.text(Assets.INDEX)).results().forEach(found -> used.add(found.group(1)));
        List<String> scripts =
                WebFiles.own().stream().filter(name -> name.endsWith(".js")).toList();
        Set<String> bare = new HashSet<>();
        for (String script : scripts) {
            IMPORT.matcher(WebFiles.text(script))
                    .results()
                    .map(found -> found.group(1))
                    .forEach(target -> {
                        if (target.startsWith("./")) {
                            used.add(target.substring(2));
                        } else {
                            bare.add(target);
                        }
                    });
        }

        assertThat(used).containsExactlyInAnyOrderElementsOf(WebFiles.served());
        assertThat(bare)
                .allSatisfy(name -> assertThat(WebFiles.text(Assets.INDEX)).contains("\"%s\":".formatted(name)));
    }

    @Test
    void nothing_makes_markup_or_code_of_a_text() {
        assertThat(WebFiles.own())
                .allSatisfy(name -> assertThat(WebFiles.text(name))
                        .doesNotContainIgnoringCase("innerHTML")
                        .doesNotContain("outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"));
    }

    @Test
    void the_document_has_no_inline_style_and_no_inline_script_but_the_import_map() {
        String document = WebFiles.text(Assets.INDEX);

        assertThat(document).doesNotContain("style=", "<style", "javascript:").doesNotContainPattern(" on[a-z]+=");
        assertThat(Pattern.compile("<script(?! type=\"module\" src=)")
                        .matcher(document)
                        .results())
                .hasSize(1);
    }

    @Test
    void files_are_short() {
        assertThat(WebFiles.own())
                .allSatisfy(name -> assertThat(WebFiles.text(name).lines()).hasSizeLessThan(500));
        assertThat(WebFiles.FOLDER).isEqualTo(Path.of("src/main/resources/dev/perdure/dashboard/web"));
    }
}

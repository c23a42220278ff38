package dev.perdure.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.spring.boot.http.HttpProperties;
import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.springframework.util.ClassUtils;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The metadata from which an IDE completes properties is written by hand. */
final class MetadataTest {
    private static JsonNode metadata() throws Exception {
        try (InputStream file =
                MetadataTest.class.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
            return JsonMapper.shared().readTree(file);
        }
    }

    private static void collect(String prefix, Class<?> type, Map<String, String> properties) {
        for (RecordComponent component : type.getRecordComponents()) {
            String name = prefix + "."
                    + component.getName().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
            if (component.getType().isRecord()) {
                collect(name, component.getType(), properties);
            } else {
                Class<?> boxed = ClassUtils.resolvePrimitiveIfNecessary(component.getType());
                String generic = component.getGenericType().getTypeName().replace(" ", "");
                properties.put(
                        name, type.getName() + ": " + (component.getType().isPrimitive() ? boxed.getName() : generic));
            }
        }
    }

    @Test
    void it_has_every_property_with_its_type() throws Exception {
        Map<String, String> expected = new TreeMap<>();
        collect("perdure", PerdureProperties.class, expected);
        collect("perdure.http", HttpProperties.class, expected);
        // Conditions, and no part of the records.
        expected.put("perdure.enabled", ": java.lang.Boolean");
        expected.put("perdure.http.enabled", ": java.lang.Boolean");
        expected.put("perdure.dashboard.enabled", ": java.lang.Boolean");
        expected.put("perdure.tracing.enabled", ": java.lang.Boolean");
        expected.put("management.health.perdure.enabled", ": java.lang.Boolean");
        Map<String, String> found = new TreeMap<>();
        for (JsonNode property : metadata().get("properties")) {
            found.put(
                    property.get("name").stringValue(),
                    property.path("sourceType").stringValue("") + ": "
                            + property.get("type").stringValue());
            assertThat(property.get("description").stringValue()).endsWith(".");
        }
        assertThat(found).isEqualTo(expected);
    }

    @Test
    void the_guide_has_every_property_with_the_same_words() throws Exception {
        String guide = Files.readString(Path.of("../docs/guides/spring-boot.md"))
                .replaceAll("\\[([^]]*)]\\([^)]*\\)", "$1"); // a link is its text
        for (JsonNode property : metadata().get("properties")) {
            String name = property.get("name").stringValue();
            if (!name.startsWith("perdure.")) {
                continue; // a property of Boot, described where it belongs
            }
            assertThat(guide)
                    .contains("| `" + name + "` |")
                    .contains("| " + property.get("description").stringValue() + " |");
        }
    }

    @Test
    void it_names_the_types_of_the_groups() throws Exception {
        for (JsonNode group : metadata().get("groups")) {
            assertThat(Class.forName(group.get("type").stringValue())).isNotNull();
        }
    }
}

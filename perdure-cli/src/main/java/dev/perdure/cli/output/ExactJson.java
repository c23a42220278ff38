package dev.perdure.cli.output;

import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamWriteConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.cfg.JsonNodeFeature;
import tools.jackson.databind.json.JsonMapper;

/** How the tool reads and writes JSON: numbers keep their digits, and every payload that a run can have fits. */
public final class ExactJson {
    private static final int PAYLOAD_DEPTH = 1_000; // as the codec permits
    private static final int PAGE_DEPTH = PAYLOAD_DEPTH + 10; // a page has payloads inside its own objects
    private static final int NUMBER_LENGTH = 10_000; // as the codec permits

    /** Reads numbers with a fraction as {@link java.math.BigDecimal}. */
    public static final JsonMapper MAPPER = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(PAYLOAD_DEPTH)
                            .maxNumberLength(NUMBER_LENGTH)
                            .maxStringLength(Integer.MAX_VALUE)
                            .build())
                    .streamWriteConstraints(StreamWriteConstraints.builder()
                            .maxNestingDepth(PAGE_DEPTH)
                            .build())
                    .build())
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
            .build();

    private ExactJson() {}
}

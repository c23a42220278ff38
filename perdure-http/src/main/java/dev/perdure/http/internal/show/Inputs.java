package dev.perdure.http.internal.show;

import dev.perdure.error.PayloadException;
import dev.perdure.http.internal.json.Json;
import dev.perdure.http.internal.route.Problem;
import dev.perdure.http.security.Redaction.Kind;
import dev.perdure.http.security.Redaction.Subject;
import dev.perdure.spi.EngineView;
import dev.perdure.spi.EngineView.Signature;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The inputs of workflows and handlers, checked against their signatures before anything is written. */
public final class Inputs {
    private Inputs() {}

    /** The input of a definition. */
    public static @Nullable Object of(Services services, String definition, Optional<JsonNode> given) {
        EngineView view = services.view();
        Signature signature = view.signature(definition)
                .orElseThrow(() -> Problem.unknown(
                        "UnknownDefinition",
                        "The definition '%s' is not registered in this process, so its input cannot be checked. Send the request to a process that registers it."
                                .formatted(definition)));
        Optional<JsonNode> value = given.filter(json -> !json.isNull());
        if (!signature.takesInput()) {
            if (value.isPresent()) {
                throw Problem.invalid("'%s' takes no input. Leave it out.".formatted(definition));
            }
            return null;
        }
        JsonNode json = value.orElseThrow(() -> Problem.invalid("'%s' takes an input of type %s. Give it as JSON."
                .formatted(definition, signature.inputType().getTypeName())));
        try {
            return view.readJson(Json.write(json), signature.inputType());
        } catch (PayloadException wrong) {
            throw Problem.invalid("The input does not fit '%s'. %s Give it as JSON of the type %s."
                    .formatted(
                            definition,
                            services.shown()
                                    .text(
                                            new Subject(Kind.FAILURE, definition, ""),
                                            String.valueOf(wrong.getMessage())),
                            signature.inputType().getTypeName()));
        }
    }
}

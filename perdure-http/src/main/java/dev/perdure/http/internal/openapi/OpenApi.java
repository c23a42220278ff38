package dev.perdure.http.internal.openapi;

import dev.perdure.http.internal.json.Json;
import dev.perdure.http.internal.json.Shape;
import dev.perdure.http.internal.route.Body;
import dev.perdure.http.internal.route.Parameter;
import dev.perdure.http.internal.route.Problem;
import dev.perdure.http.internal.route.Route;
import dev.perdure.http.security.Authentication;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.node.ObjectNode;

/** Makes the OpenAPI document from the table of routes. */
public final class OpenApi {
    private static final Pattern NAME = Pattern.compile("\\{(\\w+)}");
    private static final String DESCRIPTION = "description";
    private static final String SCHEMA = "schema";
    private static final String CONTENT = "content";
    private static final String JSON = "application/json";

    private OpenApi() {}

    /**
     * The document.
     *
     * @param prefix the path under which the API is
     */
    public static ObjectNode document(List<Route> routes, String prefix) {
        ObjectNode document = Json.object().put("openapi", "3.1.0");
        document.putObject("info")
                .put("title", "Perdure")
                .put("version", "1")
                .put(DESCRIPTION, "Durable execution: runs, queues, schedules and what they need.");
        document.putArray("servers").addObject().put("url", prefix.isEmpty() ? "/" : prefix);
        ObjectNode paths = document.putObject("paths");
        for (Route route : routes) {
            paths.withObjectProperty(route.path()).set(route.method().toLowerCase(Locale.ROOT), operation(route));
        }
        ObjectNode components = document.putObject("components");
        ObjectNode schemas = components.putObject("schemas");
        shapes(routes).forEach((name, shape) -> schemas.set(name, shape.schema()));
        components
                .putObject("securitySchemes")
                .putObject("token")
                .put("type", "http")
                .put("scheme", "bearer");
        return document;
    }

    private static Map<String, Shape<?>> shapes(List<Route> routes) {
        Map<String, Shape<?>> shapes = new TreeMap<>();
        shapes.put(Problem.SHAPE.name(), Problem.SHAPE);
        routes.stream()
                .flatMap(route -> route.answers().stream())
                .flatMap(answer -> answer.shape().stream())
                .flatMap(shape -> shape.all().stream())
                .forEach(shape -> shapes.put(shape.name(), shape));
        return shapes;
    }

    private static ObjectNode operation(Route route) {
        ObjectNode operation = Json.object().put("summary", route.about());
        String role = route.role().map(Enum::name).orElse("none: the request carries its own secret");
        operation.put(DESCRIPTION, "Role: %s.".formatted(role));
        route.role()
                .ifPresent(needed -> operation.putArray("security").addObject().putArray("token"));
        parameters(route, operation);
        body(route.body(), operation);
        ObjectNode responses = operation.putObject("responses");
        for (Route.Answer answer : route.answers()) {
            ObjectNode response =
                    responses.putObject(String.valueOf(answer.status())).put(DESCRIPTION, answer.about());
            answer.shape()
                    .ifPresent(
                            shape -> response.putObject(CONTENT).putObject(JSON).set(SCHEMA, shape.reference()));
        }
        responses
                .putObject("default")
                .put(DESCRIPTION, "The request is refused, or has failed.")
                .putObject(CONTENT)
                .putObject("application/problem+json")
                .set(SCHEMA, Problem.SHAPE.reference());
        return operation;
    }

    private static void parameters(Route route, ObjectNode operation) {
        Matcher names = NAME.matcher(route.path());
        while (names.find()) {
            parameter(operation, names.group(1), "path").put("required", true).set(SCHEMA, text());
        }
        if (route.isAction() && route.role().isPresent()) {
            parameter(operation, Authentication.ACTION_HEADER, "header")
                    .put("required", true)
                    .put(DESCRIPTION, "Any value. A page of another site cannot send it.")
                    .set(SCHEMA, text());
        }
        for (Parameter parameter : route.parameters()) {
            ObjectNode each = parameter(
                            operation,
                            parameter.name(),
                            parameter.place().name().toLowerCase(Locale.ROOT))
                    .put(DESCRIPTION, parameter.about());
            if (parameter.repeated()) {
                each.putObject(SCHEMA).put("type", "array").set("items", text());
            } else {
                each.set(SCHEMA, text());
            }
        }
    }

    private static ObjectNode parameter(ObjectNode operation, String name, String place) {
        return operation
                .withArrayProperty("parameters")
                .addObject()
                .put("name", name)
                .put("in", place);
    }

    private static ObjectNode text() {
        return Json.object().put("type", "string");
    }

    private static void body(Body body, ObjectNode operation) {
        switch (body) {
            case Body.None none -> {
                // A request without a body has none in the document.
            }
            case Body.Any any ->
                operation
                        .putObject("requestBody")
                        .put(DESCRIPTION, any.about())
                        .putObject(CONTENT)
                        .putObject(JSON)
                        .putObject(SCHEMA);
            case Body.Raw raw ->
                operation
                        .putObject("requestBody")
                        .put(DESCRIPTION, raw.about())
                        .putObject(CONTENT)
                        .putObject("*/*")
                        .putObject(SCHEMA);
            case Body.Properties object -> {
                ObjectNode request = operation.putObject("requestBody");
                ObjectNode schema = request.putObject(CONTENT).putObject(JSON).putObject(SCHEMA);
                schema.put("type", "object").put("additionalProperties", false);
                ObjectNode properties = schema.putObject("properties");
                for (Body.Property property : object.properties()) {
                    properties.set(property.name(), type(property.type()).put(DESCRIPTION, property.about()));
                    if (property.required()) {
                        schema.withArrayProperty("required").add(property.name());
                        request.put("required", true);
                    }
                }
            }
        }
    }

    private static ObjectNode list(ObjectNode items) {
        ObjectNode list = Json.object().put("type", "array");
        list.set("items", items);
        return list;
    }

    private static ObjectNode type(Body.ValueType type) {
        return switch (type) {
            case TEXT -> text();
            case TIME -> text().put("format", "date-time");
            case INTEGER -> Json.object().put("type", "integer");
            case MAP -> {
                ObjectNode map = Json.object().put("type", "object");
                map.set("additionalProperties", text());
                yield map;
            }
            case TEXTS -> list(type(Body.ValueType.TEXT));
            case MAPS -> list(type(Body.ValueType.MAP));
            case ANY -> Json.object();
        };
    }
}

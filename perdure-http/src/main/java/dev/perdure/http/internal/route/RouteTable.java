package dev.perdure.http.internal.route;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** All routes. Finds the one that a request is for. Immutable. */
public final class RouteTable {
    private static final int HEX = 16;
    private static final String BASE64 = "~";

    private final List<Route> routes;

    /** A table with these routes. */
    public RouteTable(List<Route> routes) {
        this.routes = List.copyOf(routes);
        long different = routes.stream()
                .map(route -> route.toString().replaceAll("\\{\\w+}", "{}"))
                .distinct()
                .count();
        if (different < routes.size()) {
            throw new IllegalArgumentException("Two routes have the same method and path: " + routes);
        }
    }

    /**
     * A route with the values of the names in its path.
     *
     * @param route the route
     * @param values the values by name
     */
    public record Match(Route route, Map<String, String> values) {}

    /** All routes. */
    public List<Route> routes() {
        return routes;
    }

    /**
     * Finds the route of a request. A route with a fixed word at a place goes before one with a name there. Only names are
     * decoded: a fixed word has one spelling, so that a rule of a proxy about a path holds for the route.
     *
     * @param path the path as it was sent, without the prefix of the API
     */
    public Match find(String method, String path) {
        List<String> parts = parts(path);
        TreeSet<String> methods = new TreeSet<>();
        @Nullable Match best = null;
        for (Route route : routes) {
            Map<String, String> values = match(route, parts);
            if (values == null) {
                continue;
            }
            methods.add(route.method());
            if (route.method().equals(method)
                    && (best == null || values.size() < best.values().size())) {
                best = new Match(route, values);
            }
        }
        if (best != null) {
            return best;
        }
        if (methods.isEmpty()) {
            throw Problem.unknown(
                    "UnknownRoute",
                    "The API has nothing at this path. GET /openapi.json under its prefix lists what it has.");
        }
        throw new Problem(405, "UnknownMethod", "This path takes %s.".formatted(String.join(", ", methods)));
    }

    private static @Nullable Map<String, String> match(Route route, List<String> parts) {
        String[] pattern = route.path().substring(1).split("/", -1);
        if (pattern.length != parts.size()) {
            return null;
        }
        Map<String, String> values = new TreeMap<>();
        for (int i = 0; i < pattern.length; i++) {
            String expected = pattern[i];
            if (expected.startsWith("{")) {
                String name = name(parts.get(i));
                if (name.isEmpty()) {
                    return null;
                }
                values.put(expected.substring(1, expected.length() - 1), name);
            } else if (!expected.equals(parts.get(i))) {
                return null;
            }
        }
        return values;
    }

    /** The parts of a path as they were sent. */
    private static List<String> parts(String path) {
        if (!path.startsWith("/")) {
            throw Problem.invalid("The path does not begin with a slash.");
        }
        List<String> parts = List.of(path.substring(1).split("/", -1));
        for (String part : parts) {
            if (part.equals(".") || part.equals("..")) {
                throw Problem.invalid("The path has a part '%s'. Send the path that you mean.".formatted(part));
            }
        }
        return parts;
    }

    /**
     * A name in a path. Each is decoded for itself, so that an encoded slash is part of it. Some servers and proxies refuse
     * that, or decode it before; therefore a name may also be a tilde and its Base64.
     */
    private static String name(String part) {
        return part.startsWith(BASE64) ? fromBase64(part.substring(1)) : decoded(part, "path");
    }

    private static String fromBase64(String part) {
        try {
            return text(ByteBuffer.wrap(Base64.getUrlDecoder().decode(part)), "path");
        } catch (IllegalArgumentException wrong) {
            throw Problem.invalid(
                    "The path has a part that begins with '~' and is not Base64 with the alphabet for URLs. Write a '~' at the beginning of a name as %7E.");
        }
    }

    /** Decodes percent escapes, strictly, as UTF-8. */
    static String decoded(String text, String where) {
        byte[] bytes = new byte[text.length()];
        int length = 0;
        for (int i = 0; i < text.length(); i++) {
            char character = text.charAt(i);
            if (character == '%') {
                int value = i + 2 < text.length() ? hex(text.charAt(i + 1), text.charAt(i + 2)) : -1;
                if (value < 0) {
                    throw Problem.invalid(
                            "The %s has a '%%' without two hexadecimal digits. Write it as %%25.".formatted(where));
                }
                bytes[length++] = (byte) value;
                i += 2;
            } else if (character <= ' ' || character >= 0x7f) {
                throw Problem.invalid("The %s has a character that must be encoded with '%%' and its bytes in UTF-8."
                        .formatted(where));
            } else {
                bytes[length++] = (byte) character;
            }
        }
        return text(ByteBuffer.wrap(bytes, 0, length), where);
    }

    private static String text(ByteBuffer bytes, String where) {
        try {
            String decoded = StandardCharsets.UTF_8.newDecoder().decode(bytes).toString();
            if (decoded.chars().anyMatch(Character::isISOControl)) {
                throw Problem.invalid("The %s has a control character. Remove it.".formatted(where));
            }
            return decoded;
        } catch (CharacterCodingException notText) {
            throw Problem.invalid("The %s has bytes that are not UTF-8. Encode texts as UTF-8.".formatted(where));
        }
    }

    private static int hex(char high, char low) {
        int first = Character.digit(high, HEX);
        int second = Character.digit(low, HEX);
        return first < 0 || second < 0 ? -1 : first * HEX + second;
    }
}

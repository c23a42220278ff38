package dev.perdure.http.internal.route;

import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.internal.json.Shape;
import dev.perdure.http.security.Role;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A row of the table of routes. The OpenAPI document is made from it, and nothing is served that is not in it.
 * Immutable.
 */
public final class Route {
    private final Line line;
    private final Access access;
    private final List<Parameter> parameters;
    private final Body body;
    private final List<Answer> answers;
    private final Handler handler;

    /**
     * The first line of a route.
     *
     * @param method the method
     * @param path the path, with names in braces
     * @param about what it does
     */
    private record Line(String method, String path, String about) {}

    /**
     * What a route answers when it does not refuse.
     *
     * @param status the status code
     * @param about what that says
     * @param shape what the body looks like, if it is an object
     */
    public record Answer(int status, String about, Optional<Shape<?>> shape) {}

    /**
     * Checks the secret that a request to an open route carries in its path. It does so before the body is read, so that
     * a stranger makes the process hold nothing.
     */
    @FunctionalInterface
    public interface Secret {
        /** Returns if the secret is right, and throws if it is wrong. */
        void check(Map<String, String> path);
    }

    /**
     * Who may use a route.
     *
     * @param role callers with this role; null if it needs no caller
     * @param secret what others have to send
     */
    private record Access(@Nullable Role role, Secret secret) {
        static Access of(Role least) {
            return new Access(least, path -> {});
        }
    }

    /** Answers a request. */
    @FunctionalInterface
    public interface Handler {
        /** Answers it. What it throws becomes a problem. */
        ApiResponse answer(Call call) throws InterruptedException;
    }

    private Route(
            Line line, Access access, List<Parameter> parameters, Body body, List<Answer> answers, Handler handler) {
        this.line = line;
        this.access = access;
        this.parameters = parameters;
        this.body = body;
        this.answers = answers;
        this.handler = handler;
    }

    private static Route of(String method, String path, Role role, String about) {
        Handler missing = call -> {
            throw new IllegalStateException("The route " + path + " has no handler.");
        };
        return new Route(
                new Line(method, path, about), Access.of(role), List.of(), new Body.None(), List.of(), missing);
    }

    /** A route that reads. */
    public static Route get(String path, String about) {
        return of("GET", path, Role.VIEWER, about);
    }

    /** A route that acts, for operators. */
    public static Route post(String path, String about) {
        return of("POST", path, Role.OPERATOR, about);
    }

    /** A route that puts something in the place of what was there, for operators. */
    public static Route put(String path, String about) {
        return of("PUT", path, Role.OPERATOR, about);
    }

    /** A route that removes something, for administrators. */
    public static Route delete(String path, String about) {
        return of("DELETE", path, Role.ADMIN, about);
    }

    /** Needs this role. */
    public Route role(Role least) {
        return new Route(line, Access.of(least), parameters, body, answers, handler);
    }

    /** Needs no role: the request itself carries the secret that permits it. */
    public Route open(Secret secret) {
        return new Route(line, new Access(null, secret), parameters, body, answers, handler);
    }

    /** Takes these parameters too. */
    public Route with(Parameter... more) {
        return with(Arrays.asList(more));
    }

    /** Takes these parameters too. */
    public Route with(List<Parameter> more) {
        return new Route(
                line, access, Stream.concat(parameters.stream(), more.stream()).toList(), body, answers, handler);
    }

    /** Takes a body with these properties. */
    public Route body(Body.Property... properties) {
        return body(new Body.Properties(List.of(properties)));
    }

    /** Takes this body. */
    public Route body(Body content) {
        return new Route(line, access, parameters, content, answers, handler);
    }

    /** Answers with an object. */
    public Route answers(int status, String about, Shape<?> shape) {
        return answers(new Answer(status, about, Optional.of(shape)));
    }

    /** Answers with something else, or with nothing. */
    public Route answers(int status, String about) {
        return answers(new Answer(status, about, Optional.empty()));
    }

    private Route answers(Answer answer) {
        return new Route(
                line,
                access,
                parameters,
                body,
                Stream.concat(answers.stream(), Stream.of(answer)).toList(),
                handler);
    }

    /** Does this. */
    public Route does(Handler code) {
        return new Route(line, access, parameters, body, answers, code);
    }

    /** The method. */
    public String method() {
        return line.method();
    }

    /** The path, with names in braces. */
    public String path() {
        return line.path();
    }

    /** What it does. */
    public String about() {
        return line.about();
    }

    /** The role that it needs at least; empty if it is open. */
    public Optional<Role> role() {
        return Optional.ofNullable(access.role());
    }

    /** Checks the secret of a request, if the route is open. */
    public void checkSecret(Map<String, String> path) {
        access.secret().check(path);
    }

    /** Whether it changes something. */
    public boolean isAction() {
        return !method().equals("GET");
    }

    /** The parameters in query and headers. */
    public List<Parameter> parameters() {
        return parameters;
    }

    /** The body. */
    public Body body() {
        return body;
    }

    /** What it answers when it does not refuse. */
    public List<Answer> answers() {
        return answers;
    }

    /** Answers a request. */
    public ApiResponse answer(Call call) throws InterruptedException {
        return handler.answer(call);
    }

    @Override
    public String toString() {
        return method() + " " + path();
    }
}

package dev.perdure.architecture;

import java.util.List;
import java.util.stream.Stream;

/** The packages below {@code dev.perdure.internal} and which of them each may use, from the top to the bottom. */
final class Rooms {
    static final List<Room> TOP_TO_BOTTOM = List.of(
            room(
                    "engine",
                    "bulk",
                    "reencryption",
                    "handle",
                    "command",
                    "commit",
                    "worker",
                    "object",
                    "waiter",
                    "check",
                    "schedule",
                    "dag",
                    "execution.host",
                    "execution.value",
                    "payload",
                    "settings",
                    "interception",
                    "definition",
                    "json",
                    "text",
                    "time"),
            room("bulk", "command", "worker", "execution", "definition", "text"),
            room("reencryption", "dag", "execution", "execution.child", "payload", "definition"),
            room(
                    "handle",
                    "command",
                    "commit",
                    "waiter",
                    "dag",
                    "history",
                    "execution.value",
                    "payload",
                    "settings",
                    "definition",
                    "failure",
                    "text"),
            room(
                    "command",
                    "worker",
                    "commit",
                    "execution.host",
                    "execution.value",
                    "settings",
                    "interception",
                    "text"),
            room(
                    "worker",
                    "object",
                    "waiter",
                    "dag",
                    "execution",
                    "execution.host",
                    "execution.value",
                    "commit",
                    "payload",
                    "settings",
                    "definition",
                    "text",
                    "time"),
            room(
                    "check",
                    "schedule",
                    "dag",
                    "execution",
                    "execution.host",
                    "execution.value",
                    "history",
                    "payload",
                    "settings",
                    "interception",
                    "definition",
                    "time"),
            room("schedule", "dag", "execution", "execution.mail", "execution.value", "payload", "definition", "cron"),
            room("dag", "dag.model", "execution", "execution.child", "execution.value", "payload", "definition"),
            room(
                    "execution",
                    "execution.child",
                    "execution.mail",
                    "execution.future",
                    "execution.step",
                    "execution.state",
                    "execution.transition",
                    "execution.host",
                    "execution.replay",
                    "execution.value",
                    "payload",
                    "settings",
                    "interception",
                    "definition",
                    "undo",
                    "failure",
                    "text",
                    "time"),
            room(
                    "execution.child",
                    "execution.mail",
                    "execution.future",
                    "execution.transition",
                    "execution.host",
                    "execution.replay",
                    "execution.value",
                    "payload",
                    "settings",
                    "interception",
                    "definition",
                    "failure",
                    "time"),
            room(
                    "execution.mail",
                    "execution.future",
                    "execution.step",
                    "execution.transition",
                    "execution.host",
                    "execution.replay",
                    "execution.value",
                    "payload",
                    "settings",
                    "interception",
                    "failure",
                    "text",
                    "time"),
            room(
                    "execution.future",
                    "join",
                    "execution.step",
                    "execution.transition",
                    "execution.host",
                    "execution.replay",
                    "execution.value",
                    "failure",
                    "text",
                    "time"),
            room(
                    "execution.step",
                    "execution.transition",
                    "execution.host",
                    "execution.replay",
                    "execution.value",
                    "commit",
                    "settings",
                    "interception",
                    "failure",
                    "text",
                    "time"),
            room(
                    "execution.state",
                    "execution.transition",
                    "execution.host",
                    "execution.replay",
                    "execution.value",
                    "text"),
            room(
                    "execution.transition",
                    "execution.host",
                    "execution.replay",
                    "commit",
                    "settings",
                    "definition",
                    "text",
                    "time"),
            room("object", "execution.host", "definition", "time"),
            room("execution.host", "execution.value", "settings", "definition", "time"),
            room("waiter", "commit", "time"),
            room("settings", "interception", "definition", "payload", "commit"),
            room("interception"),
            room("execution.value", "definition", "payload", "text", "time"),
            room("execution.replay", "time"),
            room("dag.model", "text"),
            room("definition", "text"),
            room("history", "payload"),
            room("payload", "time"),
            room("commit", "time"),
            room("cron"),
            room("join", "text"),
            room("undo"),
            room("failure"),
            room("json"),
            room("text"),
            room("time"));

    private Rooms() {}

    /**
     * A package.
     *
     * @param name its full name
     * @param uses the full names of the internal packages that it may use
     */
    record Room(String name, List<String> uses) {}

    static List<String> names() {
        return TOP_TO_BOTTOM.stream().map(Room::name).toList();
    }

    private static Room room(String name, String... uses) {
        return new Room(full(name), Stream.of(uses).map(Rooms::full).toList());
    }

    private static String full(String name) {
        return "dev.perdure.internal." + name;
    }
}

package dev.perdure.audit;

import dev.perdure.internal.text.Names;
import dev.perdure.internal.text.Texts;
import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * Who gives a command, and from where. The audit records both.
 *
 * @param name the name of the person, or of the program that acts
 * @param origin from where the command comes, such as a host or an address; empty if that is not known
 */
public record Operator(String name, String origin) {
    private static final int MAX_LENGTH = 200;

    /** Checks the texts. */
    public Operator {
        Names.require("operator", name, MAX_LENGTH);
        Texts.requireGiven("origin of the operator", origin);
        if (!origin.isEmpty()) {
            Names.require("origin of the operator", origin, MAX_LENGTH);
        }
    }

    /** An operator whose origin is not known. */
    public static Operator named(String name) {
        return new Operator(name, "");
    }

    /** The same operator, from there. */
    public Operator from(String place) {
        return new Operator(name, place);
    }

    /** The user of the operating system under which this process runs, on this host. */
    public static Operator ofProcess() {
        String user = System.getProperty("user.name", "");
        return named(user.isBlank() ? "unknown" : user).from(host());
    }

    private static String host() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException nameless) {
            return "";
        }
    }

    /** Name and origin, such as {@code anna@shop-1}. */
    @Override
    public String toString() {
        return origin.isEmpty() ? name : name + "@" + origin;
    }
}

package dev.perdure.http.internal.route;

import java.util.List;

/** The body of a request. */
public sealed interface Body {
    /** No body. */
    record None() implements Body {}

    /**
     * An object with these properties and no others.
     *
     * @param properties its properties
     */
    record Properties(List<Property> properties) implements Body {}

    /**
     * Any JSON.
     *
     * @param about what it is
     */
    record Any(String about) implements Body {}

    /**
     * Bytes as they were sent, because a signature is over them.
     *
     * @param about what they are
     */
    record Raw(String about) implements Body {}

    /** The type of a property. */
    enum ValueType {
        /** A text. */
        TEXT,
        /** A whole number. */
        INTEGER,
        /** An instant. */
        TIME,
        /** Names with texts. */
        MAP,
        /** A list of texts. */
        TEXTS,
        /** A list of objects whose values are texts. */
        MAPS,
        /** Any JSON. */
        ANY
    }

    /**
     * A property of a body.
     *
     * @param name its name
     * @param type its type
     * @param required whether it has to be there
     * @param about what it means
     */
    record Property(String name, ValueType type, boolean required, String about) {
        /** One that has to be there. */
        public static Property required(String name, ValueType type, String about) {
            return new Property(name, type, true, about);
        }

        /** One that may be left out. */
        public static Property optional(String name, ValueType type, String about) {
            return new Property(name, type, false, about);
        }
    }
}

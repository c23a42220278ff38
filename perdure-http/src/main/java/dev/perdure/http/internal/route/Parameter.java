package dev.perdure.http.internal.route;

/**
 * A parameter of a route.
 *
 * @param name its name
 * @param place where it is in the request
 * @param about what it means
 * @param repeated whether it may be given more than once
 */
public record Parameter(String name, Place place, String about, boolean repeated) {
    /** Where a parameter is. */
    public enum Place {
        /** In the path. */
        PATH,
        /** In the query. */
        QUERY,
        /** In a header. */
        HEADER
    }

    /** In the query, once. */
    public static Parameter query(String name, String about) {
        return new Parameter(name, Place.QUERY, about, false);
    }

    /** In the query, any number of times. */
    public static Parameter queries(String name, String about) {
        return new Parameter(name, Place.QUERY, about, true);
    }
}

package dev.perdure.spring.boot.http;

import dev.perdure.Perdure;
import dev.perdure.http.HttpApi;

/** Puts pages beside the API. */
@FunctionalInterface
interface PagesFactory {
    /**
     * Adds them to what is being set up.
     *
     * @param base their path, with a slash at both ends
     * @param prefix the path of the API
     */
    void addTo(HttpApi.Builder api, Perdure perdure, String base, String prefix);
}

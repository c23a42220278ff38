package dev.perdure.http.security;

/**
 * Removes from payloads and texts what callers must not see. It is asked for everything that runs have worked on before
 * the API shows it. Implementations are thread-safe. What it throws is answered as an error, and nothing is shown.
 *
 * <pre>{@code
 * HttpApi.on(perdure).redaction((what, json) -> what.definition().equals("payment") ? "\"(hidden)\"" : json);
 * }</pre>
 */
@FunctionalInterface
public interface Redaction {
    /** What is shown. */
    enum Kind {
        /** The input of a run. */
        INPUT,
        /** The result of a run. */
        RESULT,
        /** What a run has recorded in an entry of its journal. */
        ENTRY,
        /** A message or an answer that a run has not taken yet. */
        MAIL,
        /** What a run has published. */
        PUBLISHED,
        /** A value of a virtual object. */
        STATE,
        /** Why a run or a call failed: a text, or an object with the message and the stack trace. */
        FAILURE,
        /** What a run says about itself: its memo, status, attributes, headers and the progress of its steps. */
        DESCRIPTION,
        /** What a step has logged. */
        LOG
    }

    /**
     * What is shown, and of which run.
     *
     * @param kind what it is
     * @param definition the definition of the run; the type of a virtual object; empty if it is not known
     * @param name the name of the step, topic or value, if it has one; otherwise empty
     */
    record Subject(Kind kind, String definition, String name) {}

    /**
     * What to show.
     *
     * @param what what it is
     * @param json the value as JSON
     * @return JSON to show in its place
     */
    String shown(Subject what, String json);
}

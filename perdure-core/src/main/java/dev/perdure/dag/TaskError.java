package dev.perdure.dag;

/**
 * A task that failed.
 *
 * @param task its name
 * @param error why, in short: the class and message of what it threw
 */
public record TaskError(String task, String error) {
    @Override
    public String toString() {
        return "'" + task + "': " + error;
    }
}

package dev.perdure.internal.reencryption;

import dev.perdure.audit.Operator;
import dev.perdure.bulk.ReencryptionReport;
import java.util.List;

/**
 * What a re-encryption knows: the input of its run, and of each life of it.
 *
 * @param key the id of the key that all values get
 * @param operator who asked for it
 * @param pass the number of the pass over all values, from 1
 * @param reached where the pass goes on; empty at its beginning
 * @param before how many values the passes before have replaced
 * @param report what this pass has done so far
 */
public record ReencryptionState(
        String key, Operator operator, int pass, List<String> reached, long before, ReencryptionReport report) {
    /** A new one. */
    public static ReencryptionState of(String key, Operator operator) {
        return new ReencryptionState(key, operator, 1, List.of(), 0, ReencryptionReport.none(key));
    }

    /** What it is asked to do, for people. */
    public String memo() {
        return "encrypt all values with key '%s', by %s".formatted(key, operator);
    }

    /**
     * What a step has done.
     *
     * @param reached where to go on; empty at the end of the pass
     * @param report its part of the pass
     */
    public record Rewritten(List<String> reached, ReencryptionReport report) {}

    ReencryptionState plus(Rewritten done) {
        return new ReencryptionState(key, operator, pass, done.reached(), before, report.plus(done.report()));
    }

    ReencryptionState nextPass() {
        return new ReencryptionState(
                key, operator, pass + 1, List.of(), before + report.replaced(), ReencryptionReport.none(key));
    }

    /** The report of this pass, with the values that all passes have replaced. */
    ReencryptionReport total() {
        return new ReencryptionReport(key, before + report.replaced(), report.left(), report.reasons());
    }
}

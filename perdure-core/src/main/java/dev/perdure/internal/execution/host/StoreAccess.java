package dev.perdure.internal.execution.host;

import dev.perdure.RunId;
import dev.perdure.error.StoreException;
import dev.perdure.queue.Limiter;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.Mailboxes.Address;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Permits;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.report.Reports;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.function.Function;
import org.slf4j.event.Level;

/**
 * What runs ask of the store. The reads throw {@link StoreException}, and the run asks again. All other requests are
 * repeated until the store has answered.
 */
public interface StoreAccess {
    /** Reports that a run waits because the store does not answer it. */
    void waits(RunRef run, StoreException trouble);

    /** What the id of a call of this virtual object begins with, so that the call is where the object is. */
    String prefix(ObjectKey object);

    /** What the id of a run with this key in a queue begins with, so that the run is where all runs of the key are. */
    String prefix(String queueKey);

    // Reads, which throw StoreException.

    /** The next page of a long journal. */
    Journals.Page read(RunRef run, int afterPosition);

    /** Mail that the run has not taken yet, from after a number: at least one, if there is one. */
    List<Mailboxes.Arrived> unread(RunRef run, long afterNumber);

    /** A committed value of a virtual object. */
    Optional<Payload> state(ObjectKey object, String name);

    /** All committed values of a virtual object. */
    SortedMap<String, Payload> state(ObjectKey object);

    // Requests that are repeated until the store has answered.

    /** Applies a transition and returns when it is durable. */
    Outcome commit(Change.Advance transition);

    /** Asks for a permit of this limiter; says whether the attempt holds one now. */
    boolean permit(Limiter limiter, Permits.Request request);

    /** An attempt that held a permit of this limiter has been recorded. Does not wait for the store. */
    void permitFreed(String limiter);

    /** Writes what an attempt reports, soon. Does not wait for the store. */
    void report(Reports.Report report);

    /** Adds a log line to those of an execution, and writes them soon. Does not wait for the store. */
    void log(PendingLines lines, Reports.Source source, Level level, String logger, String text);

    /** Writes what attempts have reported at once. Does not wait for the store. */
    void hurryReports();

    /** Writes a report now. If the store is out of reach, writes it later. */
    void writeReport(Reports.Report report);

    /** What attempts at the step at this position have reported last. */
    Optional<Reports.Reported> lastReport(RunRef run, int position);

    /**
     * Delivers an event to every run that waits for it.
     *
     * @return how many runs it reached
     */
    int emit(Emission emission);

    /** Delivers mail to the awakeable with this token. Returns whether it arrived. */
    boolean answer(String token, Function<Address, Mail> mail);

    /** The tasks that were started with this run. */
    List<Runs.TaskRow> tasks(RunRef run);

    /** The settings of a run that is there, with no input. */
    NewRun settings(RunId run);

    /** Cancels runs. */
    void cancel(Collection<RunId> runs, String reason);
}

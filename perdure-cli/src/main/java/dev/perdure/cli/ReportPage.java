package dev.perdure.cli;

import dev.perdure.Run;
import dev.perdure.cli.output.Fields;
import dev.perdure.cli.output.Page;
import dev.perdure.report.StepProgress;
import java.util.List;

/** Prints what the steps of a run report. */
final class ReportPage {
    private static final Fields<StepProgress> PROGRESS = Fields.<StepProgress>of()
            .and("step", StepProgress::step)
            .text("position", progress -> "#" + progress.position())
            .json("position", StepProgress::position)
            .and("attempt", StepProgress::attempt)
            .text("reported", StepProgress::at)
            .json("at", StepProgress::at)
            .text("progress", StepProgress::text)
            .json("fraction", StepProgress::fraction)
            .json("message", StepProgress::message);

    private ReportPage() {}

    /** Adds the progress of steps that have not ended, if there is any. */
    static void add(Page page, Run<?> run) {
        List<StepProgress> progress = run.progress();
        if (!progress.isEmpty()) {
            page.many("progress", PROGRESS, progress, "");
        }
    }
}

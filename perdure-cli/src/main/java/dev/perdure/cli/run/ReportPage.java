package dev.perdure.cli.run;

import dev.perdure.Run;
import dev.perdure.cli.output.Fields;
import dev.perdure.cli.output.Page;
import dev.perdure.report.LogFilter;
import dev.perdure.report.LogLine;
import dev.perdure.report.LogPage;
import dev.perdure.report.StepProgress;
import java.time.temporal.ChronoUnit;
import java.util.List;

/** Prints what the steps of a run report. */
public final class ReportPage {
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

    private static final Fields<LogLine> LINE = Fields.<LogLine>of()
            .text("time", line -> line.at().truncatedTo(ChronoUnit.MILLIS).toString())
            .json("at", LogLine::at)
            .json("number", LogLine::number)
            .text("position", line -> "#" + line.position())
            .json("position", LogLine::position)
            .json("step", LogLine::step)
            .and("attempt", LogLine::attempt)
            .and("level", LogLine::level)
            .json("logger", LogLine::logger)
            .and("text", LogLine::text);

    /** How many log lines it prints with a run. */
    private static final int SHOWN = 20;

    private ReportPage() {}

    /** Adds the progress of steps that have not ended, if there is any. */
    static void add(Page page, Run<?> run) {
        List<StepProgress> progress = run.progress();
        if (!progress.isEmpty()) {
            page.many("progress", PROGRESS, progress, "");
        }
        addLog(page, run.log(LogFilter.newest(SHOWN)), "");
    }

    /** Adds log lines, oldest first, or a sentence for people if there are none. */
    public static void addLog(Page page, LogPage log, String none) {
        if (!log.lines().isEmpty() || !none.isEmpty()) {
            page.many("log", LINE, log.lines(), none);
        }
        if (log.dropped() > 0) {
            page.note("%s older log lines were dropped.".formatted(log.dropped()));
        }
    }
}

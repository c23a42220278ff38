package dev.perdure.torture.work;

import dev.perdure.Awakeable;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.PerdureBuilder;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.StepOptions;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.attribute.Attribute;
import dev.perdure.queue.Limiter;
import dev.perdure.torture.setup.OutsideLedger;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Runs that wait for an awakeable, which their child resolves in a limited step, and that publish what they got: the
 * answer is the child's, and nothing is published twice.
 */
public final class Answers implements Workload {
    private static final Limiter LIMITER = Limiter.named("answers").concurrency(5);
    private static final Attribute<Number> NUMBER = Attribute.number("number");
    private static final Topic<String> PROGRESS = Topic.of("progress", String.class);

    /** To whom the child answers, and what. */
    public record Question(String token, int number) {}

    private static Definition<Question, Integer> child(OutsideLedger ledger) {
        return Definition.of("answer", Question.class, Integer.class, (ctx, question) -> {
            String run = ctx.runId().value();
            ctx.step(
                    "think",
                    () -> {
                        ctx.attempt().progress(0.5, "thinks");
                        return ledger.write(run, "think");
                    },
                    StepOptions.limit(LIMITER));
            ctx.resolve(question.token(), question.number());
            return question.number();
        });
    }

    private static Definition<Integer, Integer> parent(OutsideLedger ledger) {
        return Definition.of("question", Integer.class, Integer.class, (ctx, number) -> {
            ctx.attribute(NUMBER, number);
            ctx.publish(PROGRESS, "asks");
            Awakeable<Integer> answer = ctx.awakeable(Integer.class);
            ctx.startChild(Invocation.of(child(ledger), new Question(answer.token(), number)));
            int given = answer.await();
            ctx.publish(PROGRESS, "has the answer " + given);
            return given;
        });
    }

    @Override
    public String name() {
        return "answers";
    }

    @Override
    public void register(PerdureBuilder worker, Parts parts) {
        worker.register(parent(parts.ledger()), child(parts.ledger())).limiters(LIMITER);
    }

    @Override
    public void start(Perdure client, Parts parts, int number) {
        client.start(Invocation.of(parent(parts.ledger()), number), StartOptions.id("answers-" + number));
    }

    @Override
    public List<String> violations(Seen seen) {
        List<String> violations = new ArrayList<>();
        seen.numbers().forEach(number -> {
            Run<Integer> run = seen.client().run(RunId.of("answers-" + number), TypeRef.of(Integer.class));
            if (!run.resultNow().equals(Optional.of(number))) {
                violations.add("Run '%s' got the answer %s.".formatted(run.id(), run.resultNow()));
                return; // to follow a run that has not ended would never end
            }
            List<String> published = new ArrayList<>();
            run.follow(PROGRESS, 0).forEachRemaining(each -> published.add(each.value()));
            if (!published.equals(List.of("asks", "has the answer " + number))) {
                violations.add("Run '%s' has published %s.".formatted(run.id(), published));
            }
        });
        return violations;
    }
}

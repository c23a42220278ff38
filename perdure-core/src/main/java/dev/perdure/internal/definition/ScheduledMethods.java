package dev.perdure.internal.definition;

import dev.perdure.Definition;
import dev.perdure.Workflow;
import dev.perdure.dag.Dag;
import dev.perdure.error.DefinitionException;
import dev.perdure.schedule.Scheduled;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;

/** Finds workflow methods that say when they run. */
public final class ScheduledMethods {
    private ScheduledMethods() {}

    /**
     * A method that says when it runs.
     *
     * @param workflow the name of the workflow
     * @param scheduled when
     * @param origin the method, for messages
     */
    public record Found(String workflow, Scheduled scheduled, String origin) {}

    /** Those of these objects. */
    public static List<Found> of(List<Object> registrations) {
        List<Found> found = new ArrayList<>();
        for (Object registration : registrations) {
            if (!(registration instanceof Definition
                    || registration instanceof Dag
                    || registration instanceof Registered)) {
                AnnotatedMethods.found(registration.getClass(), Scheduled.class)
                        .values()
                        .forEach(method -> found.add(found(method)));
            }
        }
        return found;
    }

    private static Found found(Method method) {
        String origin = AnnotatedMethods.origin(method);
        Workflow workflow = method.getAnnotation(Workflow.class);
        if (workflow == null) {
            throw new DefinitionException(
                    "@Scheduled is on %s, which has no @Workflow. Add @Workflow with the name of the workflow."
                            .formatted(origin));
        }
        if (AnnotatedMethods.target(method).takesInput()) {
            throw new DefinitionException(
                    "@Scheduled is on %s, which takes an input. Let it take only the context, or declare a Schedule with the input."
                            .formatted(origin));
        }
        return new Found(workflow.value(), method.getAnnotation(Scheduled.class), origin);
    }
}

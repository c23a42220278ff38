package dev.perdure.internal.engine;

import dev.perdure.audit.AuditEntry.Action;
import dev.perdure.audit.AuditEntry.Subject;
import dev.perdure.error.DefinitionException;
import dev.perdure.error.UnknownReactionException;
import dev.perdure.internal.command.Auditor;
import dev.perdure.internal.dag.CallTargets;
import dev.perdure.internal.definition.Registered.Target;
import dev.perdure.internal.text.Texts;
import dev.perdure.reaction.Reaction;
import dev.perdure.reaction.ReactionInfo;
import dev.perdure.reaction.Reactions;
import dev.perdure.reaction.RunEvent;
import dev.perdure.spi.ReactionRules;
import dev.perdure.spi.ReactionRules.Order;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The reactions as operators see and change them, on top of the store. */
final class EngineReactions implements Reactions {
    private final ReactionRules rules;
    private final Auditor auditor;

    EngineReactions(ReactionRules rules, Auditor auditor) {
        this.rules = rules;
        this.auditor = auditor;
    }

    /** The reactions that the code declares, checked, as the store keeps them. */
    static List<ReactionInfo> declared(List<Object> registrations, CallTargets targets) {
        Set<String> names = new HashSet<>();
        return registrations.stream()
                .filter(Reaction.class::isInstance)
                .map(Reaction.class::cast)
                .map(reaction -> {
                    if (!names.add(reaction.name())) {
                        throw new DefinitionException(
                                "The reaction '%s' is declared twice. Give one of them another name."
                                        .formatted(reaction.name()));
                    }
                    return checked(reaction, targets);
                })
                .toList();
    }

    private static ReactionInfo checked(Reaction reaction, CallTargets targets) {
        if (reaction.occasions().isEmpty()) {
            throw new DefinitionException(
                    "The reaction '%s' names no occasion. Say when it starts a run, such as when(Occasion.FAILED)."
                            .formatted(reaction.name()));
        }
        Target target = reaction.starts()
                .map(targets::of)
                .orElseThrow(() -> new DefinitionException(
                        "The reaction '%s' starts nothing. Name a workflow, such as start(Alerts::raise)."
                                .formatted(reaction.name())))
                .target();
        if (target.inputType() != RunEvent.class) {
            throw new DefinitionException(
                    "The reaction '%s' starts '%s', which takes a %s. Let the workflow take a RunEvent."
                            .formatted(
                                    reaction.name(),
                                    target.name(),
                                    target.inputType().getTypeName()));
        }
        return new ReactionInfo(
                reaction.name(),
                reaction.occasions(),
                reaction.lateAfter(),
                reaction.definitions(),
                target.name(),
                reaction.queue(),
                Optional.empty());
    }

    @Override
    public List<ReactionInfo> list() {
        return rules.list();
    }

    @Override
    public void pause(String reaction, String reason) {
        Texts.requireReason(reason);
        apply(new Order.Pause(reaction, reason), Action.PAUSE, reason);
    }

    @Override
    public void resume(String reaction) {
        apply(new Order.Resume(reaction), Action.RESUME, "");
    }

    @Override
    public void delete(String reaction) {
        apply(new Order.Delete(reaction), Action.DELETE, "");
    }

    private void apply(Order order, Action action, String detail) {
        Texts.requireName("name of the reaction", order.reaction());
        if (!rules.apply(order, auditor.of(action, Subject.REACTION, order.reaction(), detail))) {
            throw new UnknownReactionException(
                    "There is no reaction '%s'. Check the name, or list the reactions.".formatted(order.reaction()));
        }
    }
}

package dev.perdure.internal.engine;

import dev.perdure.audit.AuditEntry.Action;
import dev.perdure.audit.AuditEntry.Subject;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.UnknownVersionException;
import dev.perdure.internal.command.Auditor;
import dev.perdure.internal.text.Texts;
import dev.perdure.spi.VersionRules;
import dev.perdure.version.VersionInfo;
import dev.perdure.version.Versions;
import dev.perdure.version.WorkerInfo;
import java.util.List;

/** The versions of workers as operators see and drain them, on top of the store. */
final class EngineVersions implements Versions {
    private final VersionRules rules;
    private final Auditor auditor;

    EngineVersions(VersionRules rules, Auditor auditor) {
        this.rules = rules;
        this.auditor = auditor;
    }

    @Override
    public List<VersionInfo> list() {
        return rules.list();
    }

    @Override
    public VersionInfo get(String version) {
        Texts.requireName("version", version);
        return rules.list().stream()
                .filter(info -> info.name().equals(version))
                .findFirst()
                .orElseThrow(() -> new UnknownVersionException(
                        "There is no version '%s': no live worker has it, and no live run is pinned to it. Check the name, or list the versions."
                                .formatted(version)));
    }

    @Override
    public List<WorkerInfo> workers() {
        return rules.workers();
    }

    @Override
    public void drain(String version) {
        VersionInfo known = get(version);
        apply(known.name(), VersionRules.ALL, true);
    }

    @Override
    public void drain(String version, String definition) {
        Texts.requireName("definition", definition);
        VersionInfo known = get(version);
        if (known.definitions().stream().noneMatch(each -> each.name().equals(definition))) {
            throw new InvalidRequestException(
                    "The version '%s' has no definition '%s': no live worker of it has registered it, and no live run of it is pinned to it. Check the name."
                            .formatted(version, definition));
        }
        apply(version, definition, true);
    }

    @Override
    public void resume(String version) {
        Texts.requireName("version", version);
        apply(version, VersionRules.ALL, false);
    }

    @Override
    public void resume(String version, String definition) {
        Texts.requireName("version", version);
        Texts.requireName("definition", definition);
        apply(version, definition, false);
    }

    private void apply(String version, String definition, boolean drains) {
        Action action = drains ? Action.DRAIN : Action.RESUME;
        String detail = definition.equals(VersionRules.ALL) ? "" : definition;
        rules.apply(
                new VersionRules.Order(version, definition, drains),
                auditor.of(action, Subject.VERSION, version, detail));
    }
}

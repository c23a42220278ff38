package dev.perdure.internal.execution.mail;

import dev.perdure.StepOptions;
import dev.perdure.Topic;
import dev.perdure.interceptor.SendCall;
import dev.perdure.internal.execution.host.Emission;
import dev.perdure.internal.execution.host.Host;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.execution.step.Steps;
import dev.perdure.internal.execution.transition.ContextCalls;
import dev.perdure.internal.execution.value.Derived;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadPlace;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** Events that a run emits. Each emission is a step, because the code may depend on how many runs it reached. */
public record Emissions(Host host, ContextCalls calls, Steps steps, Values values, Derived derived, Sending sending) {
    public <T extends @Nullable Object> int emit(Topic<T> name, String key, T value) {
        Payload payload = values.at(PayloadPlace.event(name.name()))
                .store(value, name.type(), "the event '" + name + "'")
                .payload();
        String event = RunMail.eventName(name, key);
        ContextCall call = calls.take("emit", Entry.Kind.STEP, "emit '" + event + "'");
        UUID token = derived.uuid("emit", call.position());
        Callable<Integer> body = () -> host.store()
                .emit(new Emission(name.name(), key, payload, token, sending.inStep(SendCall.Kind.EVENT, name.name())));
        Object reached = steps.perform(call, calls.past(call), Integer.class, body, StepOptions.defaults());
        return reached instanceof Integer count ? count : 0;
    }
}

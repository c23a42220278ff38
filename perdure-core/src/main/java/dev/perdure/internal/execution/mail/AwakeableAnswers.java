package dev.perdure.internal.execution.mail;

import dev.perdure.StepOptions;
import dev.perdure.interceptor.SendCall;
import dev.perdure.internal.execution.host.Host;
import dev.perdure.internal.execution.replay.ContextCall;
import dev.perdure.internal.execution.step.Steps;
import dev.perdure.internal.execution.transition.ContextCalls;
import dev.perdure.internal.execution.value.Derived;
import dev.perdure.internal.execution.value.Tokens;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.internal.text.Texts;
import dev.perdure.spi.Mailboxes.Address;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadPlace;
import java.lang.reflect.Type;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** Answers of a run to awakeables of other runs. */
public final class AwakeableAnswers {
    private final Host host;
    private final ContextCalls calls;
    private final Steps steps;
    private final Values values;
    private final Derived derived;
    private final Sending sending;

    public AwakeableAnswers(
            Host host, ContextCalls calls, Steps steps, Values values, Derived derived, Sending sending) {
        this.host = host;
        this.calls = calls;
        this.steps = steps;
        this.values = values;
        this.derived = derived;
        this.sending = sending;
    }

    /** Resolves an awakeable. Returns false if another answer came first. */
    public boolean resolve(String token, @Nullable Object value) {
        Texts.requireGiven("token", token);
        Type type = value == null ? Object.class : value.getClass();
        Values mine = values.at(PayloadPlace.input(values.run())); // The awaiting run is not known yet.
        Payload payload = mine.store(value, type, "the value of an awakeable").payload();
        return answer("resolve", token, (address, mail) -> {
            PayloadPlace place = PayloadPlace.answer(address.run(), address.position());
            return Mail.value(Channel.answer(address.position()), mail, mine.moved(payload, place));
        });
    }

    /** Rejects an awakeable. Returns false if another answer came first. */
    public boolean reject(String token, String reason) {
        Texts.requireGiven("token", token);
        Texts.requireReason(reason);
        return answer(
                "reject",
                token,
                (address, mail) -> Mail.failure(Channel.answer(address.position()), mail, reason, Payload.EMPTY));
    }

    /** The token is a secret, so the journal has only its hash. */
    private boolean answer(String what, String token, BiFunction<Address, UUID, Mail> answer) {
        String name = "%s awakeable '%s'".formatted(what, Tokens.hash(token));
        ContextCall call = calls.take(what, Entry.Kind.STEP, name);
        UUID mail = derived.uuid(what, call.position());
        Callable<Boolean> body = () -> {
            Map<String, String> headers = sending.inStep(SendCall.Kind.AWAKEABLE, "");
            return host.store()
                    .answer(token, address -> answer.apply(address, mail).withHeaders(headers));
        };
        Object arrived = steps.perform(call, calls.past(call), Boolean.class, body, StepOptions.defaults());
        return Boolean.TRUE.equals(arrived);
    }
}

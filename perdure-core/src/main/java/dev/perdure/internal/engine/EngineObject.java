package dev.perdure.internal.engine;

import dev.perdure.Run;
import dev.perdure.StartOptions;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.definition.ObjectHandler;
import dev.perdure.internal.definition.StateEdits;
import dev.perdure.internal.execution.value.CallTarget;
import dev.perdure.internal.execution.value.Values;
import dev.perdure.internal.payload.PayloadCodec;
import dev.perdure.internal.settings.Settings;
import dev.perdure.internal.text.Texts;
import dev.perdure.object.ObjectHandle;
import dev.perdure.object.ObjectMethod;
import dev.perdure.object.ObjectState;
import dev.perdure.object.StateEdit;
import dev.perdure.object.StateKey;
import dev.perdure.spi.States;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadPlace;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A handle to one virtual object. */
final class EngineObject<O> implements ObjectHandle<O> {
    private final ObjectKey object;
    private final Caller caller;
    private final Function<ObjectMethod, ObjectHandler> handlers;
    private final Settings settings;

    /** Makes calls. */
    interface Caller {
        <R extends @Nullable Object> Run<R> start(CallTarget callee, @Nullable Object input, StartOptions options);

        /** For a caller that waits for the result and needs nothing else. */
        <R extends @Nullable Object> Run<R> call(CallTarget callee, @Nullable Object input);
    }

    EngineObject(ObjectKey object, Caller caller, Function<ObjectMethod, ObjectHandler> handlers, Settings settings) {
        this.object = object;
        this.caller = caller;
        this.handlers = handlers;
        this.settings = settings;
    }

    private <R extends @Nullable Object> Run<R> start(
            ObjectMethod handler, @Nullable Object input, StartOptions options) {
        return caller.start(CallTarget.of(handlers.apply(handler), object.key()), input, options);
    }

    private <R extends @Nullable Object> Run<R> call(ObjectMethod handler, @Nullable Object input) {
        return caller.call(CallTarget.of(handlers.apply(handler), object.key()), input);
    }

    @Override
    public <I extends @Nullable Object, R extends @Nullable Object> R call(
            ObjectMethod.Function<O, I, R> handler, I input) {
        return this.<R>call((ObjectMethod) handler, input).result();
    }

    @Override
    public <R extends @Nullable Object> R call(ObjectMethod.Supplier<O, R> handler) {
        return this.<R>call((ObjectMethod) handler, null).result();
    }

    @Override
    public <I extends @Nullable Object> void call(ObjectMethod.Consumer<O, I> handler, I input) {
        call((ObjectMethod) handler, input).result();
    }

    @Override
    public void call(ObjectMethod.Action<O> handler) {
        call((ObjectMethod) handler, null).result();
    }

    @Override
    public <I extends @Nullable Object, R extends @Nullable Object> Run<R> send(
            ObjectMethod.Function<O, I, R> handler, I input, StartOptions options) {
        return start(handler, input, options);
    }

    @Override
    public <R extends @Nullable Object> Run<R> send(ObjectMethod.Supplier<O, R> handler, StartOptions options) {
        return start(handler, null, options);
    }

    @Override
    public <I extends @Nullable Object> Run<@Nullable Void> send(
            ObjectMethod.Consumer<O, I> handler, I input, StartOptions options) {
        return start(handler, input, options);
    }

    @Override
    public Run<@Nullable Void> send(ObjectMethod.Action<O> handler, StartOptions options) {
        return start(handler, null, options);
    }

    // ---- the state

    @Override
    public ObjectState state() {
        States states = settings.store().states();
        PayloadCodec codec = settings.rules().codec();
        return new ObjectState() {
            @Override
            @SuppressWarnings("unchecked") // decoded as the key's own type
            public <T> Optional<T> get(StateKey<T> key) {
                Texts.requireGiven("state key", key);
                Payload payload = states.read(object, key.name()).orElse(null);
                if (payload == null) {
                    return Optional.empty();
                }
                Object value = Values.read(
                        codec.at(place(key)),
                        payload,
                        key.type(),
                        () -> "State '%s' of object '%s/%s'".formatted(key, object.type(), object.key()));
                return Optional.ofNullable((T) value);
            }

            @Override
            public SortedSet<String> keys() {
                return new TreeSet<>(states.readAll(object).keySet());
            }
        };
    }

    @Override
    public void edit(Consumer<StateEdit> changes) {
        Texts.requireGiven("function that changes the state", changes);
        Edit edit = new Edit();
        changes.accept(edit);
        CallTarget editor = CallTarget.of(StateEdits.handler(object.type()), object.key());
        caller.<@Nullable Void>call(editor, edit.wanted.input()).result();
    }

    private PayloadPlace place(StateKey<?> key) {
        return PayloadPlace.state(object.type(), object.key(), key.name());
    }

    private final class Edit implements StateEdit {
        private final StateEdits wanted = new StateEdits();
        /** The input of the edit is transformed as a whole, and the edit transforms each value for its place. */
        private final Values values = new Values(
                        settings.rules().codec(), settings.rules().maxPayloadBytes())
                .inline()
                .plain();

        @Override
        public <T> StateEdit set(StateKey<T> key, T value) {
            Texts.requireGiven("state key", key);
            if (value == null) {
                throw new InvalidRequestException(
                        "The state '%s' was set to null. Give it a value, or clear it.".formatted(key));
            }
            String what = "the state '" + key + "'";
            wanted.set(key.name(), values.store(value, key.type(), what).payload());
            return this;
        }

        @Override
        public StateEdit clear(StateKey<?> key) {
            Texts.requireGiven("state key", key);
            wanted.clear(key.name());
            return this;
        }

        @Override
        public StateEdit clearAll() {
            wanted.clearAll();
            return this;
        }
    }
}

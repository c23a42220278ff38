package dev.perdure.internal.definition;

import dev.perdure.StepBody;
import dev.perdure.TypeRef;
import dev.perdure.dag.TaskBody;
import dev.perdure.dag.TaskWorkflow;
import dev.perdure.error.PayloadException;
import dev.perdure.internal.text.Sentences;
import dev.perdure.spi.Codec;
import dev.perdure.transaction.TransactionBody;
import java.io.Serializable;
import java.lang.invoke.MethodHandleInfo;
import java.lang.invoke.MethodType;
import java.lang.invoke.SerializedLambda;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Finds the result types of step bodies. A lambda shows its erased type, a method reference its generic type. The type
 * is found once per place in the code, because every lambda has its own class.
 */
public final class StepTypes {
    /** Either a type, or the reason why there is none. */
    private record Answer(Type type, String problem) {
        boolean isUsable() {
            return problem.isEmpty();
        }

        PayloadException refused(String what, String remedy) {
            return new PayloadException("The result type of %s cannot be used. %s State it: %s."
                    .formatted(what, Sentences.sentence(problem), remedy));
        }
    }

    private static final String STEP_REMEDY =
            "StepBody.returning(new TypeRef<…>() {}, () -> …), or () -> { …; } if the step has no result";
    private static final String TRANSACTION_REMEDY = "TransactionBody.returning(new TypeRef<…>() {}, handle -> …)";

    private static final Set<Class<?>> BODIES =
            Set.of(StepBody.class, TransactionBody.class, TaskBody.class, TaskWorkflow.class);

    private final Codec codec;
    private final ConcurrentMap<Class<?>, Answer> known = new ConcurrentHashMap<>();

    /** Accepts the types that this codec can read back. */
    public StepTypes(Codec codec) {
        this.codec = codec;
    }

    /**
     * The result type of a step's body.
     *
     * @throws PayloadException if the type cannot be found or read back; the message says how to write the call
     */
    public Type of(StepBody<?> body, String step) {
        if (body instanceof StepBody.Typed<?> typed) {
            return spelledOut(typed.type());
        }
        Answer answer = answer(body);
        if (answer.isUsable()) {
            return answer.type();
        }
        throw answer.refused("step '" + step + "'", STEP_REMEDY);
    }

    /**
     * The result type of a transaction step's body.
     *
     * @throws PayloadException if the type cannot be found or read back; the message says how to write the call
     */
    public Type of(TransactionBody<?, ?> body, String step) {
        if (body instanceof TransactionBody.Typed<?, ?> typed) {
            return spelledOut(typed.type());
        }
        return of(body, "transaction '" + step + "'", TRANSACTION_REMEDY);
    }

    private Type spelledOut(TypeRef<?> spelled) {
        Type type = spelled.type();
        codec.check(type);
        return type;
    }

    /**
     * The result type of code that the user wrote.
     *
     * @param what names it in messages
     * @param remedy how to state the type
     * @throws PayloadException if the type cannot be found or read back; the message says how to state it
     */
    public Type of(Serializable body, String what, String remedy) {
        Answer answer = answer(body);
        if (answer.isUsable()) {
            return answer.type();
        }
        throw answer.refused(what, remedy);
    }

    private Answer answer(Serializable body) {
        Answer answer = known.get(body.getClass()); // nearly always there, and every step asks
        return answer == null ? known.computeIfAbsent(body.getClass(), unseen -> find(body)) : answer;
    }

    private Answer find(Serializable body) {
        Type type = Lambdas.describe(body)
                .map(lambda -> typeOf(body, lambda))
                .or(() -> typeOfClass(body.getClass()))
                .orElse(Object.class);
        try {
            codec.check(type);
            return new Answer(type, "");
        } catch (PayloadException unusable) {
            return new Answer(type, String.valueOf(unusable.getMessage()));
        }
    }

    private static Type typeOf(Serializable body, SerializedLambda lambda) {
        ClassLoader loader = body.getClass().getClassLoader();
        Class<?> erased = MethodType.fromMethodDescriptorString(lambda.getInstantiatedMethodType(), loader)
                .returnType();
        if (lambda.getImplMethodKind() == MethodHandleInfo.REF_newInvokeSpecial) {
            return erased;
        }
        Optional<Method> method = MethodReferences.method(body, lambda);
        return method.map(Method::getGenericReturnType)
                .filter(generic -> generic instanceof ParameterizedType)
                .orElse(erased);
    }

    /**
     * For a body that is an object of a class with {@code implements StepBody<Payment>}. The result is the last of its
     * type arguments.
     */
    private static Optional<Type> typeOfClass(Class<?> type) {
        return Arrays.stream(type.getGenericInterfaces())
                .filter(parent ->
                        parent instanceof ParameterizedType generic && isBody((Class<?>) generic.getRawType()))
                .map(parent -> ((ParameterizedType) parent).getActualTypeArguments())
                .map(arguments -> arguments[arguments.length - 1])
                .findFirst();
    }

    private static boolean isBody(Class<?> type) {
        return BODIES.stream().anyMatch(body -> body.isAssignableFrom(type));
    }
}

package dev.perdure.architecture;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitAccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import java.time.Clock;
import java.time.InstantSource;
import java.util.Collection;
import java.util.Collections;
import java.util.Date;
import java.util.List;
import java.util.Set;
import java.util.Timer;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Exchanger;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Phaser;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import java.util.stream.BaseStream;

/**
 * The calls by which a program learns the time, rolls dice, makes a thread or lets one wait. Code that makes one of
 * them itself cannot be tested in virtual time. {@link Lock#lock()} is not among them, as nothing slow happens under
 * our locks; neither are {@link Thread#currentThread()} and interrupts, which only look at the thread one is on.
 */
final class OutsideWorld {
    private static final String CONSTRUCTOR = "<init>";

    private static final List<Predicate<CodeUnitAccessTarget>> CLOCK = List.of(
            call -> call.getOwner().getPackageName().startsWith("java.time")
                    && call.getName().equals("now"),
            any(Clock.class),
            named(InstantSource.class, "system", "instant", "millis"),
            named(System.class, "currentTimeMillis", "nanoTime"),
            named(Date.class, CONSTRUCTOR).and(parameters(0)));

    private static final List<Predicate<CodeUnitAccessTarget>> CHANCE = List.of(
            named(RandomGenerator.class, CONSTRUCTOR, "of", "getDefault", "getInstance", "getInstanceStrong"),
            any(RandomGeneratorFactory.class),
            named(ThreadLocalRandom.class, "current"),
            named(Math.class, "random"),
            named(StrictMath.class, "random"),
            named(UUID.class, "randomUUID"),
            named(Collections.class, "shuffle").and(parameters(1)));

    private static final List<Predicate<CodeUnitAccessTarget>> THREADS = List.of(
            named(Thread.class, CONSTRUCTOR, "start", "startVirtualThread", "ofVirtual", "ofPlatform"),
            any(Thread.Builder.class),
            named(ThreadFactory.class, "newThread"),
            any(Timer.class),
            any(Executors.class),
            named(Executor.class, CONSTRUCTOR, "commonPool"),
            named(CompletableFuture.class, "orTimeout", "completeOnTimeout", "delayedExecutor"),
            any(CompletableFuture.class).and(call -> call.getName().endsWith("Async")),
            named(Collection.class, "parallelStream"),
            named(BaseStream.class, "parallel"));

    private static final List<Predicate<CodeUnitAccessTarget>> WAITING = List.of(
            named(Thread.class, "sleep", "join", "yield", "onSpinWait"),
            named(TimeUnit.class, "sleep", "timedJoin", "timedWait"),
            any(LockSupport.class).and(call -> call.getName().startsWith("park")),
            OutsideWorld::isObjectWait,
            named(CountDownLatch.class, "await"),
            named(CyclicBarrier.class, "await"),
            any(Condition.class).and(call -> call.getName().startsWith("await")),
            named(Phaser.class, "arriveAndAwaitAdvance", "awaitAdvance", "awaitAdvanceInterruptibly"),
            named(Exchanger.class, "exchange"),
            named(Semaphore.class, "acquire", "acquireUninterruptibly"),
            named(Semaphore.class, "tryAcquire").and(OutsideWorld::isTimed),
            named(Lock.class, "tryLock").and(OutsideWorld::isTimed),
            named(BlockingQueue.class, "put", "take"),
            named(BlockingQueue.class, "offer", "poll").and(OutsideWorld::isTimed),
            named(Future.class, "get", "join"),
            named(ExecutorService.class, "invokeAll", "invokeAny", "awaitTermination", "close"),
            named(Process.class, "waitFor"));

    static final DescribedPredicate<JavaAccess<?>> IS_TOUCHED = DescribedPredicate.describe(
            "touches clock, sleep, random or threads",
            access -> access.getTarget() instanceof CodeUnitAccessTarget call && isTouchedBy(call));

    private OutsideWorld() {}

    private static boolean isTouchedBy(CodeUnitAccessTarget call) {
        return List.of(CLOCK, CHANCE, THREADS, WAITING).stream()
                .flatMap(List::stream)
                .anyMatch(touch -> touch.test(call));
    }

    private static Predicate<CodeUnitAccessTarget> any(Class<?> owner) {
        return call -> call.getOwner().isAssignableTo(owner);
    }

    private static Predicate<CodeUnitAccessTarget> named(Class<?> owner, String... names) {
        return any(owner).and(call -> List.of(names).contains(call.getName()));
    }

    private static Predicate<CodeUnitAccessTarget> parameters(int count) {
        return call -> call.getRawParameterTypes().size() == count;
    }

    private static boolean isTimed(CodeUnitAccessTarget call) {
        return parameterTypes(call).contains(TimeUnit.class.getName());
    }

    /** Final in {@link Object}: whatever class the call names, a method with these parameters is this one. */
    private static boolean isObjectWait(CodeUnitAccessTarget call) {
        return call.getName().equals("wait")
                && Set.of(List.of(), List.of("long"), List.of("long", "int")).contains(parameterTypes(call));
    }

    private static List<String> parameterTypes(CodeUnitAccessTarget call) {
        return call.getRawParameterTypes().stream().map(JavaClass::getName).toList();
    }
}

package dev.perdure.examples.kotlin

import dev.perdure.Invocation
import dev.perdure.Perdure
import dev.perdure.Run
import dev.perdure.RunState
import dev.perdure.StepBody
import dev.perdure.Workflow
import dev.perdure.WorkflowContext
import dev.perdure.error.DefinitionException
import dev.perdure.memory.MemoryStore
import dev.perdure.`object`.Handler
import dev.perdure.`object`.ObjectContext
import dev.perdure.`object`.VirtualObject
import dev.perdure.testing.PerdureExtension
import dev.perdure.testing.PerdureTest
import java.io.IOException
import java.time.Duration
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatThrownBy
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.extension.ExtendWith

@ExtendWith(PerdureExtension::class)
class OrdersTest {
    private val calls = mutableListOf<String>()

    private val orders = Orders(object : Partners {
        override fun charge(order: Order): String {
            calls += "charge ${order.note}"
            return "PAY-1"
        }

        override fun reserve(order: Order) = order.items.map { it.uppercase() }

        override fun ship(items: List<String>): String {
            calls += "ship"
            if (calls.count { it == "ship" } == 1) throw IOException("no route")
            return "TRACK-" + items.joinToString("-")
        }

        override fun remind(customer: String) {
            calls += "remind $customer"
        }
    })

    // region test
    @Test
    fun `ships a day after payment`(perdure: PerdureTest) {
        perdure.register(orders)
        val run: Run<Receipt> = perdure.start(Orders::process, Order("Ada", listOf("pen", "book")))
        perdure.advance(Duration.ofHours(23))
        assertThat(run.state()).isEqualTo(RunState.SUSPENDED)
        assertThat(run.result()).isEqualTo(Receipt("PAY-1", "TRACK-PEN-BOOK"))
    }
    // endregion

    @Test
    fun `a replay answers from the journal`(perdure: PerdureTest) {
        perdure.register(orders)
        val run = perdure.start(Orders::process, Order("Ada", listOf("pen"), "gift"))
        perdure.settle()
        perdure.crash()
        assertThat(run.result().payment).isEqualTo("PAY-1")
        assertThat(calls).containsExactly("charge gift", "ship", "ship")
    }

    @Test
    fun `a function that returns Unit has no result`(perdure: PerdureTest) {
        perdure.register(orders)
        val run: Run<Void?> = perdure.start(Orders::remind, "Ada")
        assertThat(run.result()).isNull()
        assertThat(calls).containsExactly("remind Ada")
    }

    @Test
    fun `a definition is a value`(perdure: PerdureTest) {
        perdure.register(GREETING)
        assertThat(perdure.start(Invocation.of(GREETING, "Ada")).result()).isEqualTo("Hello, Ada")
    }

    @VirtualObject("counter")
    class Counter {
        @Handler
        fun add(ctx: ObjectContext, amount: Int): Int = amount + ctx.key().length
    }

    @Test
    fun `a handler is named by a reference`(perdure: PerdureTest) {
        perdure.register(Counter())
        assertThat(perdure.`object`(Counter::class.java, "abc").call(Counter::add, 4)).isEqualTo(7)
    }

    data class Parcel(val weight: Int = 3, val fragile: Boolean = false)

    class Parcels {
        @Workflow("parcel")
        fun pack(ctx: WorkflowContext, parcel: Parcel): Parcel = ctx.step("pack", StepBody { parcel.copy(fragile = true) })
    }

    @Test
    fun `a data class whose properties all have defaults keeps its values`(perdure: PerdureTest) {
        perdure.register(Parcels())
        assertThat(perdure.start(Parcels::pack, Parcel(4)).result()).isEqualTo(Parcel(4, true))
    }

    class Suspending {
        @Workflow("suspending")
        suspend fun process(ctx: WorkflowContext, order: Order): Receipt = Receipt(ctx.toString(), order.customer)
    }

    class SuspendingWithoutInput {
        @Workflow("suspending")
        suspend fun process(ctx: WorkflowContext): String = ctx.toString()
    }

    @VirtualObject("suspending")
    class SuspendingHandler {
        @Handler
        suspend fun add(ctx: ObjectContext): String = ctx.toString()
    }

    @Test
    fun `a suspend function is refused`() {
        for (refused in listOf(Suspending(), SuspendingWithoutInput(), SuspendingHandler())) {
            assertThatThrownBy { Perdure.on(MemoryStore()).register(refused).start() }
                .isInstanceOf(DefinitionException::class.java)
                .hasMessageContaining(refused.javaClass.name)
                .hasMessageContaining("it is a suspend function")
                .hasMessageEndingWith("Remove 'suspend': the engine suspends a run by itself where it waits.")
        }
    }
}

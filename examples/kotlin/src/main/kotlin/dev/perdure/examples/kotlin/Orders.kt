package dev.perdure.examples.kotlin

import dev.perdure.Definition
import dev.perdure.StepBody
import dev.perdure.StepOptions
import dev.perdure.TypeRef
import dev.perdure.Workflow
import dev.perdure.WorkflowContext
import java.time.Duration

// region data
data class Order(val customer: String, val items: List<String>, val note: String? = null)

data class Receipt(val payment: String, val tracking: String)
// endregion

/** What the orders need of the outside world. */
interface Partners {
    fun charge(order: Order): String

    fun reserve(order: Order): List<String>

    fun ship(items: List<String>): String

    fun remind(customer: String)
}

/** Orders whose steps call these partners. */
class Orders(private val partners: Partners) {
    // region workflow
    @Workflow("kotlin-order")
    fun process(ctx: WorkflowContext, order: Order): Receipt {
        val payment = ctx.step("charge", StepBody { partners.charge(order) })
        val items = ctx.step(
            "reserve",
            StepBody.returning(object : TypeRef<List<String>>() {}) { partners.reserve(order) }, // a generic type is stated
        )
        ctx.sleep(Duration.ofDays(1))
        val tracking = ctx.step("ship", StepBody { partners.ship(items) }, StepOptions.retry(5))
        return Receipt(payment, tracking)
    }
    // endregion

    // region unit
    @Workflow("kotlin-reminder")
    fun remind(ctx: WorkflowContext, customer: String) {
        ctx.sleep(Duration.ofDays(7))
        ctx.step("remind") { partners.remind(customer) }
    }
    // endregion
}

// region value
val GREETING: Definition<String, String> =
    Definition.of("kotlin-greeting", String::class.java, String::class.java) { ctx, name ->
        ctx.step("greet", StepBody { "Hello, $name" })
    }
// endregion

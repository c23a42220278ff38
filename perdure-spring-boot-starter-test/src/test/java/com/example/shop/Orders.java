package com.example.shop;

import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import java.time.Duration;
import org.springframework.stereotype.Component;

@Component
public class Orders {
    @Workflow("order")
    public String process(WorkflowContext ctx, String item) {
        String payment = ctx.step("charge", () -> "PAY-" + item);
        ctx.sleep(Duration.ofSeconds(2));
        String tracking = ctx.step("ship", () -> "TRACK-" + item);
        ctx.logger().info("{} is on its way", item);
        return payment + ", " + tracking;
    }
}

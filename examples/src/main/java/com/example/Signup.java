package com.example;

import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import java.time.Duration;

public class Signup {
    public interface Mail {
        void send(String to, String text);
    }

    private final Mail mail;

    public Signup(Mail mail) {
        this.mail = mail;
    }

    @Workflow("signup")
    public String welcome(WorkflowContext ctx, String email) {
        ctx.step("welcome", () -> mail.send(email, "Welcome!"));
        ctx.sleep(Duration.ofDays(3));
        ctx.step("tips", () -> mail.send(email, "Three things to try"));
        return "Greeted " + email;
    }
}

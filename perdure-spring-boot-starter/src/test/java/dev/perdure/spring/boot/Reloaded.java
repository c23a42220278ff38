package dev.perdure.spring.boot;

import static dev.perdure.StartOptions.id;

import dev.perdure.Perdure;
import dev.perdure.RunId;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import java.time.Duration;
import java.util.function.Supplier;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** An application whose classes {@link DevToolsTest} loads again at each restart. */
@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration(PerdureAutoConfiguration.class)
public class Reloaded {
    private static final Topic<Name> NAMES = Topic.of("names", Name.class);

    /** A value in the journal. */
    public record Name(String text) {}

    /** A workflow that is under way when the application restarts. */
    public static class Greeter {
        @Workflow("greet")
        public Name greet(WorkflowContext ctx, Name first) {
            Name polite = ctx.step("polite", () -> new Name("Dr. " + first.text()));
            Name second = ctx.receive(NAMES).await();
            return new Name(polite.text() + " and " + second.text());
        }
    }

    @Bean
    Greeter greeter() {
        return new Greeter();
    }

    @Bean
    Runnable begin(Perdure perdure) {
        return () -> perdure.start(Greeter::greet, new Name("Ada"), id("greeting"));
    }

    @Bean
    Supplier<Object> end(Perdure perdure) {
        return () -> {
            perdure.send(RunId.of("greeting"), NAMES, new Name("Bob"));
            return perdure.run(RunId.of("greeting"), TypeRef.of(Name.class)).result(Duration.ofSeconds(30));
        };
    }
}

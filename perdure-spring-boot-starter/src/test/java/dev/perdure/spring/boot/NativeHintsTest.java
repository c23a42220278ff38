package dev.perdure.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.postgres.PostgresStore;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.framework.Advised;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.GeneratedFiles.Kind;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.beans.factory.aot.AotServices;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.DecoratingProxy;
import org.springframework.javapoet.ClassName;

/** The hints are there. Whether a native image works with them, no test shows. */
final class NativeHintsTest {
    /** An input. */
    public record Parcel(String address) {}

    /** A workflow. */
    public static class Deliveries {
        @Workflow("delivery")
        public String deliver(WorkflowContext ctx, Parcel parcel) {
            return parcel.address();
        }
    }

    @Test
    void migrations_and_proxies_are_in_the_image() {
        RuntimeHints hints = new RuntimeHints();
        AotServices.factories()
                .load(RuntimeHintsRegistrar.class)
                .forEach(registrar -> registrar.registerHints(hints, getClass().getClassLoader()));
        assertThat(RuntimeHintsPredicates.resource().forResource("dev/perdure/postgres/migrations/V001__runs.sql"))
                .accepts(hints);
        assertThat(PostgresStore.class.getResource("/dev/perdure/postgres/migrations/V001__runs.sql"))
                .isNotNull();
        assertThat(RuntimeHintsPredicates.proxies()
                        .forInterfaces(Perdure.class, SpringProxy.class, Advised.class, DecoratingProxy.class))
                .accepts(hints);
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        PerdureStoreAutoConfiguration.class,
        PerdureAutoConfiguration.class,
        PerdureActuatorAutoConfiguration.class
    })
    static class Application {
        @Bean
        DataSource dataSource() {
            return new HikariDataSource();
        }
    }

    @Test
    void the_beans_of_the_starter_can_be_made_ahead_of_time() {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        context.register(Application.class);
        InMemoryGeneratedFiles files = new InMemoryGeneratedFiles();
        DefaultGenerationContext generation =
                new DefaultGenerationContext(new ClassNameGenerator(ClassName.get(NativeHintsTest.class)), files);
        new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
        generation.writeGeneratedContent();
        assertThat(files.getGeneratedFiles(Kind.SOURCE).keySet())
                .anyMatch(file -> file.endsWith("PerdureAutoConfiguration__BeanDefinitions.java"))
                .anyMatch(file -> file.endsWith("PerdureActuatorAutoConfiguration__BeanDefinitions.java"));
    }

    @Test
    void workflow_methods_and_their_values_are_in_the_image() throws Exception {
        GenericApplicationContext context = new GenericApplicationContext();
        context.registerBean(Deliveries.class);
        DefaultGenerationContext generation = new DefaultGenerationContext(
                new ClassNameGenerator(ClassName.get(NativeHintsTest.class)), new InMemoryGeneratedFiles());
        new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
        RuntimeHints hints = generation.getRuntimeHints();
        assertThat(RuntimeHintsPredicates.reflection()
                        .onMethodInvocation(Deliveries.class.getMethod("deliver", WorkflowContext.class, Parcel.class)))
                .accepts(hints);
        assertThat(RuntimeHintsPredicates.reflection()
                        .onType(Parcel.class)
                        .withMemberCategory(MemberCategory.INVOKE_DECLARED_CONSTRUCTORS))
                .accepts(hints);
    }
}

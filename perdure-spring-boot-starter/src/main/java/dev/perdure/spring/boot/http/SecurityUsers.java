package dev.perdure.spring.boot.http;

import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.http.security.Authentication;
import dev.perdure.http.security.Caller;
import dev.perdure.http.security.Role;
import dev.perdure.spring.boot.http.HttpProperties.AuthorityProperties;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.concurrent.DelegatingSecurityContextRunnable;
import org.springframework.security.core.GrantedAuthority;
import org.springframework.security.core.context.SecurityContextHolder;

/**
 * The users of Spring Security as callers. Their role follows from their authorities; a user without any of these is no
 * caller. Thread-safe.
 */
final class SecurityUsers implements Authentication {
    private static final int LONGEST_NAME = 200;

    private final AuthorityProperties authorities;

    SecurityUsers(AuthorityProperties authorities) {
        this.authorities = authorities;
    }

    /** The task, for another thread, as the user of this thread. */
    static Runnable asThisUser(Runnable task) {
        return new DelegatingSecurityContextRunnable(task);
    }

    @Override
    public Optional<Caller> caller(ApiRequest request) {
        return signedIn()
                .flatMap(user -> role(user.getAuthorities()).map(role -> new Caller(name(user.getName()), role)));
    }

    @Override
    public Optional<String> user(ApiRequest request) {
        return signedIn().map(user -> name(user.getName()));
    }

    private static Optional<org.springframework.security.core.Authentication> signedIn() {
        return Optional.ofNullable(SecurityContextHolder.getContext().getAuthentication())
                .filter(user -> user.isAuthenticated() && !(user instanceof AnonymousAuthenticationToken));
    }

    private static String name(String name) {
        return name.isBlank() ? "unknown" : name.substring(0, Math.min(name.length(), LONGEST_NAME));
    }

    private Optional<Role> role(Collection<? extends GrantedAuthority> granted) {
        Set<String> names = granted.stream()
                .map(each -> String.valueOf(each.getAuthority()))
                .collect(Collectors.toSet());
        return List.of(Role.ADMIN, Role.OPERATOR, Role.VIEWER).stream()
                .filter(role -> giving(role).stream().anyMatch(names::contains))
                .findFirst();
    }

    private List<String> giving(Role role) {
        return switch (role) {
            case VIEWER -> authorities.viewer();
            case OPERATOR -> authorities.operator();
            case ADMIN -> authorities.admin();
        };
    }
}

package dev.perdure.spring.boot.http;

import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.spi.report.EngineLog;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Serves the API in a servlet container.
 *
 * <p>How it works. The thread of the container only begins an asynchronous request. A virtual thread reads the body and
 * computes the answer, which may take as long as a run. Then the container calls the servlet again, which sends status
 * and headers, and another virtual thread writes the body. The second call is there because the filters around the first
 * one may still write headers while the first virtual thread runs; the container makes the second call after they have
 * ended. When the client has gone, the container uses the request for another client: so the virtual threads never touch
 * the request, and leave the answer in an {@link Exchange}.
 *
 * <p>A client that sends or takes nothing is cut off by the time limit of the container's own connections, and one that
 * is slow by the time limit here.
 */
final class ApiServlet extends HttpServlet {
    private static final long serialVersionUID = 1L;
    private static final Logger LOG = EngineLog.of("dev.perdure.http");
    private static final String EXCHANGE = ApiServlet.class.getName() + ".EXCHANGE";
    private static final Duration IO_TIMEOUT = Duration.ofSeconds(30);
    private static final int NO_TIMEOUT = 0;
    private static final int CHUNK = 8 * 1024;

    private final transient MountedApi api;
    private final transient UnaryOperator<Runnable> onOtherThread;

    /**
     * Serves this API.
     *
     * @param onOtherThread takes what belongs to the thread of a request, such as its user, to another thread
     */
    ApiServlet(MountedApi api, UnaryOperator<Runnable> onOtherThread) {
        this.api = api;
        this.onOtherThread = onOtherThread;
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (request.getAttribute(EXCHANGE) instanceof Exchange exchange && exchange.answer != null) {
            send(request, response, exchange, exchange.answer);
        } else if (request.getPathInfo() == null && request.getMethod().equals("GET")) {
            response.setStatus(HttpServletResponse.SC_FOUND); // the pages are below the path
            // Not the path as it was sent: a browser takes one that begins with two slashes as the name of another
            // host.
            response.setHeader("Location", getServletContext().getContextPath() + request.getServletPath() + "/");
        } else if (api.enter()) {
            answer(request, response);
        } else {
            head(response, MountedApi.FULL);
            response.getOutputStream().write(MountedApi.FULL.bytes());
        }
    }

    private void answer(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Exchange exchange = new Exchange(api);
        ApiRequest asked;
        AsyncContext async;
        try {
            asked = request(request);
            request.setAttribute(EXCHANGE, exchange);
            async = begin(request, response, exchange);
        } catch (IOException | RuntimeException refused) {
            exchange.end();
            throw refused;
        }
        api.start(onOtherThread.apply(() -> {
            exchange.answer = api.handle(asked);
            dispatch(async);
        }));
    }

    /** A request from its first byte until the client has its answer, however it ends. */
    private static final class Exchange implements AsyncListener {
        private final MountedApi api;
        private final AtomicBoolean ended = new AtomicBoolean();
        private volatile @Nullable ApiResponse answer;

        Exchange(MountedApi api) {
            this.api = api;
        }

        private void end() {
            if (!ended.getAndSet(true)) {
                api.leave();
            }
        }

        @Override
        public void onComplete(AsyncEvent event) {
            end();
        }

        @Override
        public void onTimeout(AsyncEvent event) {
            // There is no timeout.
        }

        @Override
        public void onError(AsyncEvent event) {
            // The container completes the request afterwards.
        }

        @Override
        public void onStartAsync(AsyncEvent event) {
            // The servlet listens again when it begins again.
        }
    }

    private static AsyncContext begin(HttpServletRequest request, HttpServletResponse response, Exchange exchange) {
        AsyncContext async = request.startAsync(request, response);
        async.setTimeout(NO_TIMEOUT); // the API has its own, and ends every request
        async.addListener(exchange);
        return async;
    }

    /** Has the container call the servlet again. A request for which it cannot do so ends here, because nothing else ends it. */
    private static void dispatch(AsyncContext async) {
        try {
            async.dispatch();
        } catch (IllegalStateException gone) {
            LOG.debug("A client has gone before its answer.", gone);
            complete(async);
        } catch (RuntimeException refused) {
            LOG.error("The container did not take the answer of the HTTP API.", refused);
            if (async.getResponse() instanceof HttpServletResponse response && !response.isCommitted()) {
                response.setStatus(HttpServletResponse.SC_INTERNAL_SERVER_ERROR);
            }
            complete(async);
        }
    }

    private static void complete(AsyncContext async) {
        try {
            async.complete();
        } catch (IllegalStateException gone) {
            LOG.debug("The container has already ended a request whose client has gone.", gone);
        }
    }

    private ApiRequest request(HttpServletRequest request) throws IOException {
        Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        Collections.list(request.getHeaderNames())
                .forEach(name -> headers.put(name, Collections.list(request.getHeaders(name))));
        headers.computeIfAbsent("Host", missing -> List.of(authority(request)));
        String path = path(request);
        String query = request.getQueryString();
        return new ApiRequest(
                request.getMethod(),
                query == null ? path : path + "?" + query,
                headers,
                request.getRemoteAddr(),
                new BoundedBody(request.getInputStream()));
    }

    /** The path as the API knows it. The one of the request may begin with the prefix of a proxy instead. */
    private String path(HttpServletRequest request) {
        return getServletContext().getContextPath()
                + request.getRequestURI().substring(request.getContextPath().length());
    }

    /** The host and port that the client asks for; HTTP/2 has another field for them than the header Host. */
    private static String authority(HttpServletRequest request) {
        int usual = request.isSecure() ? 443 : 80;
        int port = request.getServerPort();
        return port == usual ? request.getServerName() : request.getServerName() + ":" + port;
    }

    /** The body of a request, which has to arrive before a time, however it is spread. */
    private static final class BoundedBody extends FilterInputStream {
        private final long ends = System.nanoTime() + IO_TIMEOUT.toNanos();

        BoundedBody(InputStream body) {
            super(body);
        }

        @Override
        public int read() throws IOException {
            requireTime(ends, "The body took too long.");
            return super.read();
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            requireTime(ends, "The body took too long.");
            return super.read(bytes, offset, length);
        }
    }

    private static void requireTime(long ends, String otherwise) throws IOException {
        if (System.nanoTime() - ends > 0) {
            throw new IOException(otherwise);
        }
    }

    private static void head(HttpServletResponse response, ApiResponse answer) {
        response.setStatus(answer.status());
        answer.headers().forEach(response::setHeader);
    }

    private void send(HttpServletRequest request, HttpServletResponse response, Exchange exchange, ApiResponse answer)
            throws IOException {
        head(response, answer);
        if (answer.content() instanceof ApiResponse.Bytes whole) {
            response.setContentLength(whole.bytes().length);
            if (whole.bytes().length == 0) {
                return;
            }
        }
        response.flushBuffer();
        ServletOutputStream out = response.getOutputStream();
        AsyncContext async = begin(request, response, exchange);
        api.start(() -> {
            try {
                write(answer.content(), out);
            } catch (IOException gone) {
                LOG.debug("A client has not taken its answer.", gone);
            } catch (InterruptedException closing) {
                Thread.currentThread().interrupt();
            } finally {
                complete(async);
            }
        });
    }

    private static void write(ApiResponse.Content content, ServletOutputStream out)
            throws IOException, InterruptedException {
        switch (content) {
            case ApiResponse.Bytes whole -> write(whole.bytes(), out);
            case ApiResponse.Stream stream ->
                stream.source().writeTo(part -> {
                    write(part, out);
                    out.flush();
                });
        }
    }

    /** In chunks, so that a client that takes little at a time is noticed. */
    private static void write(byte[] part, ServletOutputStream out) throws IOException {
        long ends = System.nanoTime() + IO_TIMEOUT.toNanos();
        for (int from = 0; from < part.length; from += CHUNK) {
            requireTime(ends, "The client takes the answer too slowly.");
            out.write(part, from, Math.min(CHUNK, part.length - from));
        }
    }
}

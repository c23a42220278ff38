package dev.perdure.spring.boot.http;

import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.http.exchange.ApiResponse;
import jakarta.servlet.AsyncContext;
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
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves the API in a servlet container.
 *
 * <p>How it works. The thread of the container only begins an asynchronous request. A virtual thread reads the body and
 * computes the answer, which may take as long as a run. Then the container calls the servlet again, which sends status
 * and headers, and another virtual thread writes the body. The second call is there because the filters around the first
 * one may still write headers while the first virtual thread runs; the container makes the second call after they have
 * ended.
 *
 * <p>A client that sends or takes nothing is cut off by the time limit of the container's own connections, and one that
 * is slow by the time limit here.
 */
final class ApiServlet extends HttpServlet {
    private static final long serialVersionUID = 1L;
    private static final Logger LOG = LoggerFactory.getLogger("dev.perdure.http");
    private static final String ANSWER = ApiServlet.class.getName() + ".ANSWER";
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
        if (request.getAttribute(ANSWER) instanceof ApiResponse answer) {
            send(request, response, answer);
        } else if (request.getPathInfo() == null && request.getMethod().equals("GET")) {
            response.setStatus(HttpServletResponse.SC_FOUND); // the pages are below the path
            response.setHeader("Location", request.getRequestURI() + "/");
        } else {
            ApiRequest asked = request(request);
            AsyncContext async = begin(request, response);
            api.start(onOtherThread.apply(() -> {
                request.setAttribute(ANSWER, api.handle(asked));
                try {
                    async.dispatch();
                } catch (IllegalStateException ended) {
                    LOG.debug("A client has gone before its answer.", ended);
                }
            }));
        }
    }

    private static AsyncContext begin(HttpServletRequest request, HttpServletResponse response) {
        AsyncContext async = request.startAsync(request, response);
        async.setTimeout(NO_TIMEOUT); // the API has its own, and ends every request
        return async;
    }

    private static ApiRequest request(HttpServletRequest request) throws IOException {
        Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        Collections.list(request.getHeaderNames())
                .forEach(name -> headers.put(name, Collections.list(request.getHeaders(name))));
        String query = request.getQueryString();
        return new ApiRequest(
                request.getMethod(),
                query == null ? request.getRequestURI() : request.getRequestURI() + "?" + query,
                headers,
                request.getRemoteAddr(),
                new BoundedBody(request.getInputStream()));
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

    private void send(HttpServletRequest request, HttpServletResponse response, ApiResponse answer) throws IOException {
        response.setStatus(answer.status());
        answer.headers().forEach(response::setHeader);
        if (answer.content() instanceof ApiResponse.Bytes whole) {
            response.setContentLength(whole.bytes().length);
            if (whole.bytes().length == 0) {
                return;
            }
        }
        response.flushBuffer();
        AsyncContext async = begin(request, response);
        api.start(() -> {
            try {
                write(answer.content(), response.getOutputStream());
            } catch (IOException gone) {
                LOG.debug("A client has not taken its answer.", gone);
            } catch (InterruptedException closing) {
                Thread.currentThread().interrupt();
            } finally {
                async.complete();
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

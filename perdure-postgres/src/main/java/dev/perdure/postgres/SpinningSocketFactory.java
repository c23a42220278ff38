package dev.perdure.postgres;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import javax.net.SocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * Connections that stay awake for an answer that comes soon, for the option {@code socketFactory} of the PostgreSQL driver:
 *
 * <pre>{@code
 * config.addDataSourceProperty("socketFactory", SpinningSocketFactory.class.getName());
 * }</pre>
 *
 * <p>A virtual thread that waits for a socket is woken by way of two other threads, which on a machine with little to do costs nearly as much
 * as a commit on a fast disk. So as long as the answers on a connection usually come within 0.25 ms, whoever waits for one looks
 * for it for up to 0.4 ms, which keeps a core busy, and only then sleeps. Where answers take longer, or the process has one core
 * only, it sleeps at once, as with any other socket.
 *
 * <p>After each notification the driver looks whether there is another one, and gives it a millisecond to come. Here it is told at once.
 */
public final class SpinningSocketFactory extends SocketFactory {
    /** For the driver. */
    public SpinningSocketFactory() {}

    @Override
    public Socket createSocket() {
        return new SpinningSocket();
    }

    @Override
    public Socket createSocket(String host, int port) throws IOException {
        return connected(null, new InetSocketAddress(host, port));
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress localHost, int localPort) throws IOException {
        return connected(new InetSocketAddress(localHost, localPort), new InetSocketAddress(host, port));
    }

    @Override
    public Socket createSocket(InetAddress host, int port) throws IOException {
        return connected(null, new InetSocketAddress(host, port));
    }

    @Override
    public Socket createSocket(InetAddress host, int port, InetAddress localHost, int localPort) throws IOException {
        return connected(new InetSocketAddress(localHost, localPort), new InetSocketAddress(host, port));
    }

    private Socket connected(@Nullable SocketAddress from, SocketAddress to) throws IOException {
        Socket socket = createSocket();
        try {
            socket.bind(from);
            socket.connect(to);
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }
}

package dev.perdure.benchmarks.server;

import java.net.InetAddress;
import java.net.Socket;
import javax.net.SocketFactory;

/**
 * Makes sockets like the driver's default ones that count round trips. For the driver's option {@code socketFactory},
 * so it is the same for every contender.
 */
public final class CountingSocketFactory extends SocketFactory {
    /** For the driver. */
    public CountingSocketFactory() {}

    @Override
    public Socket createSocket() {
        return new CountingSocket();
    }

    @Override
    public Socket createSocket(String host, int port) {
        throw onlyUnconnected();
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress localHost, int localPort) {
        throw onlyUnconnected();
    }

    @Override
    public Socket createSocket(InetAddress host, int port) {
        throw onlyUnconnected();
    }

    @Override
    public Socket createSocket(InetAddress host, int port, InetAddress localHost, int localPort) {
        throw onlyUnconnected();
    }

    private static UnsupportedOperationException onlyUnconnected() {
        return new UnsupportedOperationException("The PostgreSQL driver connects its sockets itself.");
    }
}

package dev.perdure.benchmarks.server;

import java.net.InetAddress;
import java.net.Socket;
import javax.net.SocketFactory;

/** The driver's default sockets, which count round trips: for its option {@code socketFactory}, and so the same for every contender. */
public final class CountingSocketFactory extends SocketFactory {
    /** For the driver. */
    public CountingSocketFactory() {}

    @Override
    public Socket createSocket() {
        return new CountingSocket();
    }

    @Override
    public Socket createSocket(String host, int port) {
        throw unconnectedOnly();
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress localHost, int localPort) {
        throw unconnectedOnly();
    }

    @Override
    public Socket createSocket(InetAddress host, int port) {
        throw unconnectedOnly();
    }

    @Override
    public Socket createSocket(InetAddress host, int port, InetAddress localHost, int localPort) {
        throw unconnectedOnly();
    }

    private static UnsupportedOperationException unconnectedOnly() {
        return new UnsupportedOperationException("The PostgreSQL driver connects its sockets itself.");
    }
}

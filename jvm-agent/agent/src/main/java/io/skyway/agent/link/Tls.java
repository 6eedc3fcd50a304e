package io.skyway.agent.link;

import io.skyway.agent.start.PrivateFile;
import io.skyway.core.SkywayException;
import io.skyway.core.SkywayException.Kind;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.Arrays;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManagerFactory;

/**
 * Mutual TLS for links: both sides show a certificate of the one authority, and no other authority counts. The
 * connecting side also wants the other's certificate to name the address that it connects to.
 *
 * <p>A directory holds {@code ca.pem}, the authority's certificate; {@code identity.p12}, this side's key and
 * certificate; and {@code password}, the text that opens it. They are read when the first link needs them.
 */
public final class Tls {
    /** Nothing older: no renegotiation, no ciphers without forward secrecy. */
    private static final String[] PROTOCOLS = {"TLSv1.3"};

    private final Path directory;
    private SSLContext context;

    public Tls(Path directory) {
        this.directory = directory;
    }

    /**
     * Reads the files, unless that was done before.
     *
     * @throws SkywayException of kind LINK when they are missing, unsound, or accessible to others
     */
    synchronized SSLContext load() {
        if (context == null) {
            try {
                context = read();
            } catch (IOException | GeneralSecurityException e) {
                throw new SkywayException(
                        Kind.LINK,
                        "the TLS files in " + directory + " cannot be used: " + e.getMessage()
                                + ". They are ca.pem, identity.p12 and password",
                        e);
            }
        }
        return context;
    }

    private SSLContext read() throws IOException, GeneralSecurityException {
        byte[] authority = PrivateFile.read(directory.resolve("ca.pem"));
        byte[] identity = PrivateFile.read(directory.resolve("identity.p12"));
        char[] password = new String(PrivateFile.read(directory.resolve("password")), StandardCharsets.UTF_8)
                .strip()
                .toCharArray();
        try {
            KeyStore own = KeyStore.getInstance("PKCS12");
            own.load(new ByteArrayInputStream(identity), password);
            KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(own, password);
            KeyStore trusted = KeyStore.getInstance("PKCS12");
            trusted.load(null, null);
            int n = 0;
            for (Certificate c :
                    CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(authority))) {
                trusted.setCertificateEntry("ca" + n++, c);
            }
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(trusted);
            SSLContext result = SSLContext.getInstance("TLS");
            result.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
            return result;
        } finally {
            Arrays.fill(password, '\0');
        }
    }

    /**
     * The connecting side's handshake.
     *
     * @throws SSLException when the peer's certificate is not accepted, or the peer speaks no TLS
     */
    Wire connect(SocketChannel socket, InetAddress host, int port) throws IOException {
        SSLEngine engine = load().createSSLEngine(host.getHostAddress(), port);
        engine.setUseClientMode(true);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setProtocols(PROTOCOLS);
        // Compares the address with the names in the certificate.
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        engine.setSSLParameters(parameters);
        return TlsWire.open(socket, engine);
    }

    /**
     * The listening side's handshake.
     *
     * @throws SSLException when the peer shows no certificate, or another authority's, or speaks no TLS
     */
    Wire accept(SocketChannel socket) throws IOException {
        SSLEngine engine = load().createSSLEngine();
        engine.setUseClientMode(false);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setProtocols(PROTOCOLS);
        parameters.setNeedClientAuth(true);
        engine.setSSLParameters(parameters);
        return TlsWire.open(socket, engine);
    }
}

package dev.perdure.torture.setup;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.jspecify.annotations.Nullable;

/**
 * A process whose clock is wrong: an agent of the JVM that lets all classes but those of the JDK ask this class for the
 * time.
 *
 * <p>How it works: a class file names the methods that it calls in its constant pool. Where such an entry is {@code
 * Instant.now()} or {@code System.currentTimeMillis()}, its class is replaced by this one, which has methods of the same
 * names and types.
 */
public final class ShiftedClock {
    private static final String OWN_NAME = "dev/perdure/torture/setup/ShiftedClock";
    private static final Map<String, String> REPLACED =
            Map.of("java/time/Instant.now", "()Ljava/time/Instant;", "java/lang/System.currentTimeMillis", "()J");
    private static volatile Duration shift = Duration.ZERO;

    private ShiftedClock() {}

    /** What a JVM is started with so that its clock is off by so much. */
    public static List<String> option(Duration off) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", ShiftedClock.class.getName());
        Path jar = Files.createTempFile("perdure-clock", ".jar");
        jar.toFile().deleteOnExit();
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream written = new JarOutputStream(file, manifest)) {
            written.finish();
        }
        return List.of("-javaagent:%s=%s".formatted(jar, off));
    }

    /** What the JVM calls before the main method. */
    public static void premain(String off, Instrumentation instrumentation) {
        shift = Duration.parse(off);
        instrumentation.addTransformer(new ClassFileTransformer() {
            @Override
            public byte @Nullable [] transform(
                    @Nullable ClassLoader loader,
                    String name,
                    @Nullable Class<?> redefined,
                    @Nullable ProtectionDomain domain,
                    byte[] file) {
                if (loader == null || name.equals(OWN_NAME)) {
                    return null;
                }
                try {
                    return replaced(file);
                } catch (IOException unreadable) {
                    throw new IllegalStateException("The class file of " + name + " is not readable.", unreadable);
                }
            }
        });
    }

    /** In the place of {@link Instant#now()}. */
    public static Instant now() {
        return Instant.now().plus(shift);
    }

    /** In the place of {@link System#currentTimeMillis()}. */
    public static long currentTimeMillis() {
        return System.currentTimeMillis() + shift.toMillis();
    }

    /** The class file with other classes in the entries for the replaced methods; null if it has none. */
    private static byte @Nullable [] replaced(byte[] original) throws IOException {
        byte[] file = original.clone();
        ByteBuffer bytes = ByteBuffer.wrap(file);
        int count = Short.toUnsignedInt(bytes.getShort(8));
        Map<Integer, Integer> places = new HashMap<>();
        int place = 10;
        int next = 1;
        while (next < count) {
            places.put(next, place);
            int tag = file[place];
            place += 1
                    + switch (tag) {
                        case 1 -> 2 + Short.toUnsignedInt(bytes.getShort(place + 1));
                        case 3, 4, 9, 10, 11, 12, 17, 18 -> 4;
                        case 5, 6 -> 8;
                        case 15 -> 3;
                        default -> 2;
                    };
            next += tag == 5 || tag == 6 ? 2 : 1; // a long or a double counts for two
        }
        boolean found = false;
        for (int entry : places.values()) {
            if (file[entry] == 10 && isReplaced(bytes, places, entry)) {
                bytes.putShort(entry + 1, (short) (count + 1));
                found = true;
            }
        }
        return found ? withOwnName(file, count, place) : null;
    }

    private static boolean isReplaced(ByteBuffer bytes, Map<Integer, Integer> places, int method) {
        int owner = at(bytes, places, method + 1);
        int nameAndType = at(bytes, places, method + 3);
        String name = text(bytes, at(bytes, places, owner + 1)) + "." + text(bytes, at(bytes, places, nameAndType + 1));
        return text(bytes, at(bytes, places, nameAndType + 3)).equals(REPLACED.get(name));
    }

    /** The place of the entry whose number is here. */
    private static int at(ByteBuffer bytes, Map<Integer, Integer> places, int here) {
        return places.getOrDefault(Short.toUnsignedInt(bytes.getShort(here)), 0);
    }

    private static String text(ByteBuffer bytes, int entry) {
        int length = Short.toUnsignedInt(bytes.getShort(entry + 1));
        return new String(bytes.array(), entry + 3, length, StandardCharsets.UTF_8);
    }

    /** Appends two entries: the name of this class, and the class. */
    private static byte[] withOwnName(byte[] file, int count, int end) throws IOException {
        ByteArrayOutputStream longer = new ByteArrayOutputStream(file.length + 64);
        DataOutputStream out = new DataOutputStream(longer);
        out.write(file, 0, 8);
        out.writeShort(count + 2);
        out.write(file, 10, end - 10);
        out.writeByte(1);
        out.writeUTF(OWN_NAME);
        out.writeByte(7);
        out.writeShort(count);
        out.write(file, end, file.length - end);
        return longer.toByteArray();
    }
}

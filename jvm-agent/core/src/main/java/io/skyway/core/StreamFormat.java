package io.skyway.core;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;

/** The form of object streams; docs/image-format.md, "Streams". Numbers of the stream itself are big-endian. */
final class StreamFormat {
    static final byte[] MAGIC = "SKWYSTRM".getBytes(StandardCharsets.US_ASCII);
    static final int VERSION = 1;

    // Kinds of records.
    static final int LAYOUT = 1;
    static final int DATA = 2;
    static final int TYPES = 3;
    static final int IMAGE = 4;
    static final int BLOCK = 5;
    static final int NULL = 6;
    static final int RESET = 7;

    static final int RECORD_HEADER = 9;
    static final int DATA_BYTES = 16 << 10;
    static final int IMAGE_BYTES = 16;
    // A class can have 65,535 fields, and then it has a record for itself.
    static final int MOST_TYPES_BYTES = 64 << 20;
    static final int TYPES_BYTES = 64 << 10;
    private static final int MOST_LAYOUT_BYTES = 64 << 10;

    private StreamFormat() {}

    /** Segments that every receiver can carve: nobody tells a stream's writer what the reader's heap is like. */
    static int segmentBytes() {
        return Engine.LEAST_SEGMENT_BYTES;
    }

    /** Most bytes that a record of this kind may have; -1 for none of the kinds. */
    static int most(int kind) {
        return switch (kind) {
            case LAYOUT -> MOST_LAYOUT_BYTES;
            case DATA -> DATA_BYTES;
            case TYPES -> MOST_TYPES_BYTES;
            case IMAGE -> IMAGE_BYTES;
            case BLOCK -> SlotPool.slotBytesFor(segmentBytes());
            case NULL, RESET -> 0;
            default -> -1;
        };
    }

    /** Over the record's number too: one that is missing, repeated or moved is noticed. */
    static int checksum(long number, int kind, byte[] body, int length) {
        CRC32C c = new CRC32C();
        c.update(ByteBuffer.allocate(13)
                .putLong(number)
                .put((byte) kind)
                .putInt(length)
                .flip());
        c.update(body, 0, length);
        return (int) c.getValue();
    }

    static byte[] encode(Layout layout) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeUTF(layout.fingerprint());
        out.writeShort(layout.entries().size());
        for (Map.Entry<String, String> e : layout.entries().entrySet()) {
            out.writeUTF(e.getKey());
            out.writeUTF(e.getValue());
        }
        return bytes.toByteArray();
    }

    /** @throws IOException when these bytes are no layout */
    static Layout layout(byte[] body) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(body));
        String fingerprint = in.readUTF();
        Map<String, String> entries = new LinkedHashMap<>();
        for (int n = in.readUnsignedShort(); n > 0; n--) {
            entries.put(in.readUTF(), in.readUTF());
        }
        return new Layout(fingerprint, entries, 0);
    }

    /** Bodies of records of types; {@code anew} when earlier ids of the stream mean nothing from here on. */
    static List<byte[]> encode(Map<Integer, TypeDescriptor> types, boolean anew) throws IOException {
        List<byte[]> out = new ArrayList<>();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream data = new DataOutputStream(bytes);
        data.writeBoolean(anew);
        for (Map.Entry<Integer, TypeDescriptor> e : types.entrySet()) {
            data.writeInt(e.getKey());
            write(data, e.getValue());
            if (bytes.size() >= TYPES_BYTES) {
                out.add(bytes.toByteArray());
                bytes.reset();
                data.writeBoolean(false);
            }
        }
        if (bytes.size() > 1 || anew && out.isEmpty()) {
            out.add(bytes.toByteArray());
        }
        return out;
    }

    private static void write(DataOutputStream out, TypeDescriptor d) throws IOException {
        out.writeUTF(d.className());
        out.writeByte(d.kind().ordinal());
        out.writeInt(d.instanceBytes());
        out.writeInt(d.arrayBase());
        out.writeInt(d.arrayScale());
        out.writeUTF(d.superName());
        out.writeByte(d.fingerprint().length);
        out.write(d.fingerprint());
        out.writeInt(d.fields().size());
        for (TypeDescriptor.FieldDescriptor f : d.fields()) {
            out.writeUTF(f.declaringClass());
            out.writeUTF(f.name());
            out.writeUTF(f.type());
            out.writeInt(f.offset());
        }
    }

    /** @throws IOException when these bytes, behind the first, are no types */
    static Map<Integer, TypeDescriptor> types(byte[] body) throws IOException {
        ByteArrayInputStream bytes = new ByteArrayInputStream(body, 1, body.length - 1);
        DataInputStream in = new DataInputStream(bytes);
        Map<Integer, TypeDescriptor> out = new LinkedHashMap<>();
        while (bytes.available() > 0) {
            int id = in.readInt();
            String name = in.readUTF();
            int kind = in.readUnsignedByte();
            if (kind >= TypeDescriptor.Kind.values().length) {
                throw new IOException("a type has the kind " + kind);
            }
            int instanceBytes = in.readInt();
            int arrayBase = in.readInt();
            int arrayScale = in.readInt();
            String superName = in.readUTF();
            byte[] fingerprint = new byte[in.readUnsignedByte()];
            in.readFully(fingerprint);
            // Not allocated from the count: what is not there ends the loop.
            List<TypeDescriptor.FieldDescriptor> fields = new ArrayList<>();
            for (int n = in.readInt(); n > 0; n--) {
                fields.add(new TypeDescriptor.FieldDescriptor(in.readUTF(), in.readUTF(), in.readUTF(), in.readInt()));
            }
            TypeDescriptor d = new TypeDescriptor(
                    name,
                    TypeDescriptor.Kind.values()[kind],
                    instanceBytes,
                    arrayBase,
                    arrayScale,
                    fields,
                    superName,
                    fingerprint);
            if (out.put(id, d) != null) {
                throw new IOException("type id " + id + " comes twice");
            }
        }
        return out;
    }
}

package oldlibs;

import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.Version;
import io.skyway.api.Skyway;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Has protobuf and Netty of its own, in other versions than the agent's. */
public final class OldLibs {
    private OldLibs() {}

    public static void main(String[] args) throws Exception {
        ByteBuf buffer = Unpooled.copiedBuffer("works", StandardCharsets.UTF_8);
        Struct struct = Struct.newBuilder()
                .putFields("key", Value.newBuilder().setStringValue("value").build())
                .build();
        System.out.println("netty " + Version.identify().get("netty-buffer").artifactVersion() + " "
                + buffer.toString(StandardCharsets.UTF_8));
        System.out.println("protobuf "
                + Struct.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .getPath() + " "
                + Struct.parseFrom(struct.toByteArray()).getFieldsOrThrow("key").getStringValue());
        for (String name : List.of("io.grpc.Server", "io.skyway.core.Engine", "io.skyway.proto.Root")) {
            System.out.println(name + " visible " + isVisible(name));
        }
        Skyway.publish("message", struct.toByteString().toByteArray());
        System.out.println("done");
        Thread.sleep(Long.MAX_VALUE);
    }

    private static boolean isVisible(String name) {
        try {
            Class.forName(name);
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }
}

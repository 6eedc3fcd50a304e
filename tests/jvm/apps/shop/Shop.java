package shop;

import io.skyway.api.Skyway;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;

/** An application as a user would write it: offers a graph, has a hook, and waits for graphs. */
public final class Shop {
    /** What it trades in. */
    public record Item(String name, long price, List<String> tags) {}

    private Shop() {}

    public static void main(String[] args) throws Exception {
        List<Item> items = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            items.add(new Item("item " + i, i * 100L, List.of("tag " + i % 7)));
        }
        Skyway.publish("items", items);
        Skyway.onReceive("items", List.class, list -> say("hook got " + list.size()));
        Skyway.publish("withdrawn", "gone soon");
        say("withdrawn " + Skyway.withdraw("withdrawn") + ", again " + Skyway.withdraw("withdrawn"));
        try {
            Skyway.take("never", Duration.ofMillis(50));
        } catch (TimeoutException e) {
            say("timed out: " + e.getMessage());
        }
        say("peek " + Skyway.peek("orders"));
        say("waiting");
        List<?> orders = (List<?>) Skyway.take("orders");
        Item first = (Item) orders.get(0);
        say("took " + orders.size() + ", first " + first + ", last " + orders.get(orders.size() - 1));
        say("peek " + Skyway.peek("orders"));
        Object second = Skyway.take("orders", Duration.ofSeconds(60));
        say("took again, the same " + (second == orders) + ", equal " + second.equals(orders));
        Thread.sleep(Long.MAX_VALUE);
    }

    private static void say(String text) {
        System.out.println(text);
    }
}

package load;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

/**
 * A graph that knows what it should be: a seed decides what it is made of, and {@link #check} asks each part to work and
 * compares a sum over all values with the one that was computed where it was built or changed.
 */
final class Parcel {
    enum Kind {
        SMALL,
        LARGE {
            @Override
            int weight() {
                return 7;
            }
        };

        int weight() {
            return 1;
        }
    }

    record Line(String text, int number, Kind kind) {}

    /** Hashes by identity, as most keys that are objects of an application do. */
    static final class Key {
        final int number;

        Key(int number) {
            this.number = number;
        }
    }

    static final class Item {
        int id;
        long value;
        /** How often it was locked; not part of the sum. */
        int locked;

        Item parent;
        Object[] children;
        Line line;
        byte[] bytes;

        synchronized void touch() {
            locked++;
        }
    }

    final long seed;
    private long sum;
    private final List<Item> items = new ArrayList<>();
    private final Map<String, Item> byName = new HashMap<>();
    private final Map<Key, Item> byKey = new HashMap<>();
    private final List<Key> keys = new ArrayList<>();
    private final IdentityHashMap<Item, Integer> numbers = new IdentityHashMap<>();
    private final Set<Object> mixed = new HashSet<>();
    private final EnumMap<Kind, List<Item>> kinds = new EnumMap<>(Kind.class);
    private final TreeMap<LocalDate, BigDecimal> prices = new TreeMap<>();
    private final LinkedHashMap<Long, int[]> arrays = new LinkedHashMap<>();
    private Object[] cells;

    private Parcel(long seed) {
        this.seed = seed;
    }

    /** Of so many items, of about eight objects each. */
    static Parcel of(long seed, int size) {
        Random random = new Random(seed);
        Parcel parcel = new Parcel(seed);
        parcel.cells = new Object[size];
        for (Kind kind : Kind.values()) {
            parcel.kinds.put(kind, new ArrayList<>());
        }
        for (int i = 0; i < size; i++) {
            parcel.add(random, i);
        }
        parcel.sum = parcel.compute();
        return parcel;
    }

    private void add(Random random, int i) {
        Item item = new Item();
        item.id = i;
        item.value = random.nextLong();
        item.parent = i == 0 ? null : items.get(random.nextInt(i));
        item.children = new Object[random.nextInt(4)];
        Arrays.setAll(item.children, c -> i == 0 ? this : items.get(random.nextInt(i)));
        Kind kind = Kind.values()[random.nextInt(2)];
        item.line = new Line(random.nextBoolean() ? "line " + i : "ligne n\u00b0 \u20ac " + i, random.nextInt(), kind);
        item.bytes = new byte[random.nextInt(64) == 0 ? random.nextInt(20_000) : random.nextInt(30)];
        random.nextBytes(item.bytes);
        items.add(item);
        cells[i] = random.nextInt(10) == 0 ? null : random.nextBoolean() ? item : item.line;
        byName.put(item.line.text, item);
        kinds.get(kind).add(item);
        if (i % 4 == 0) {
            Key key = new Key(i);
            keys.add(key);
            byKey.put(key, item);
            numbers.put(item, i);
        }
        if (i % 8 == 0) {
            mixed.add(kind);
            mixed.add(item.line);
            mixed.add((long) i << 40);
            prices.put(LocalDate.ofEpochDay(random.nextInt(20_000)), BigDecimal.valueOf(random.nextLong(), 3));
            arrays.put((long) i, random.ints(random.nextInt(40)).toArray());
        }
    }

    int size() {
        return items.size();
    }

    /** Any of its items. */
    Item item(Random random) {
        return items.get(random.nextInt(items.size()));
    }

    /** Asks each part to work; throws IllegalStateException, which says what does not. */
    void check() {
        long now = compute();
        if (now != sum) {
            throw new IllegalStateException("parcel " + seed + ": the sum is " + now + ", not " + sum);
        }
    }

    /** Changes values, references between old objects, and references from old objects to new ones. */
    void change(Random random) {
        for (int i = 0; i < items.size(); i += 1 + random.nextInt(8)) {
            Item item = items.get(i);
            item.value ^= random.nextLong();
            switch (random.nextInt(5)) {
                case 0 -> item.parent = item(random);
                case 1 -> item.children = new Object[] {item(random), item.line, "new " + i};
                case 2 -> item.bytes = Arrays.copyOf(item.bytes, random.nextInt(100));
                case 3 -> cells[i] = new Line("changed " + i, i, Kind.LARGE);
                default -> mixed.add(random.nextInt());
            }
        }
        Key key = new Key(-1);
        keys.add(key);
        byKey.put(key, item(random));
        arrays.put(random.nextLong(), new int[] {random.nextInt()});
        sum = compute();
    }

    private long compute() {
        long result = seed;
        for (int i = 0; i < items.size(); i++) {
            Item item = items.get(i);
            demand(item.id == i, "an item's number");
            result = result * 31 + item.value;
            result = result * 31 + (item.parent == null ? -1 : item.parent.id);
            for (Object child : item.children) {
                result = result * 31 + of(child);
            }
            result = result * 31 + of(item.line);
            result = result * 31 + Arrays.hashCode(item.bytes);
            result = result * 31 + of(cells[i]);
            demand(byName.get(item.line.text) == item, "a name");
        }
        int found = 0;
        for (Kind kind : Kind.values()) {
            for (Item item : kinds.get(kind)) {
                demand(item.line.kind == kind, "a kind");
                found++;
            }
        }
        demand(found == items.size(), "the kinds");
        for (Key key : keys) {
            Item item = byKey.get(key);
            demand(item != null, "a key that hashes by identity");
            result = result * 31 + key.number + item.id;
        }
        demand(keys.size() == byKey.size(), "the keys");
        for (Map.Entry<Item, Integer> entry : numbers.entrySet()) {
            demand(items.get(entry.getValue()) == entry.getKey(), "an entry of an identity map");
            demand(numbers.get(entry.getKey()).equals(entry.getValue()), "a key of an identity map");
        }
        for (Object element : mixed) {
            demand(mixed.contains(element), "an element of a set");
            result += of(element);
        }
        for (Map.Entry<LocalDate, BigDecimal> price : prices.entrySet()) {
            demand(prices.get(price.getKey()) == price.getValue(), "a date");
            result = result * 31 + price.getKey().hashCode() + price.getValue().hashCode();
        }
        for (Map.Entry<Long, int[]> array : arrays.entrySet()) {
            demand(arrays.get(array.getKey()) == array.getValue(), "a number");
            result = result * 31 + array.getKey() + Arrays.hashCode(array.getValue());
        }
        return result;
    }

    private long of(Object value) {
        if (value == null) {
            return 3;
        }
        if (value == this) {
            return 5;
        }
        if (value instanceof Item item) {
            return item.id;
        }
        if (value instanceof Line line) {
            return line.text.hashCode() * 31L + line.number + line.kind.weight();
        }
        if (value instanceof Kind kind) {
            return kind.weight();
        }
        if (value instanceof String || value instanceof Long || value instanceof Integer) {
            return value.hashCode();
        }
        throw new IllegalStateException("parcel " + seed + ": an object of " + value.getClass());
    }

    private void demand(boolean holds, String what) {
        if (!holds) {
            throw new IllegalStateException("parcel " + seed + ": " + what + " does not hold");
        }
    }
}

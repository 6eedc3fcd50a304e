package load;

/** Loaded again and again, by loaders that nobody keeps: each time, code that was compiled for Base alone is thrown away. */
public final class Unloadable extends Base {
    public final Object[] others = {this, "text", 5L, Unloadable.class};

    @Override
    public long next() {
        return value += 2;
    }
}

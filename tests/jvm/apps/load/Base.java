package load;

/** What is compiled as if nothing overrode it, until {@link Unloadable} is loaded. */
public class Base {
    protected long value = 1;

    public long next() {
        return value++;
    }
}

package sizes;

/** A graph together with what it should be, so that whoever gets it can check it. */
record Parcel(Shape shape, int size, Object graph) {}

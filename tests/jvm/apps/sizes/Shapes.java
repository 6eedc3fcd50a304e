package sizes;

import io.skyway.api.Workload;
import java.util.Locale;

/** Each shape as a workload; the graph travels in a {@link Parcel}. */
public abstract class Shapes implements Workload {
    private final Shape shape;

    Shapes(Shape shape) {
        this.shape = shape;
    }

    @Override
    public String name() {
        return shape.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public long defaultSize() {
        return 1;
    }

    @Override
    public Object build(long size, long seed) {
        int n = Math.toIntExact(size);
        return new Parcel(shape, n, shape.build(n));
    }

    public static final class One extends Shapes {
        public One() {
            super(Shape.ONE);
        }
    }

    public static final class List extends Shapes {
        public List() {
            super(Shape.LIST);
        }
    }

    public static final class Chain extends Shapes {
        public Chain() {
            super(Shape.CHAIN);
        }
    }

    public static final class Tree extends Shapes {
        public Tree() {
            super(Shape.TREE);
        }
    }

    public static final class Web extends Shapes {
        public Web() {
            super(Shape.WEB);
        }
    }

    public static final class Longs extends Shapes {
        public Longs() {
            super(Shape.LONGS);
        }
    }

    public static final class Array extends Shapes {
        public Array() {
            super(Shape.ARRAY);
        }
    }

    public static final class Cells extends Shapes {
        public Cells() {
            super(Shape.CELLS);
        }
    }

    public static final class Hubs extends Shapes {
        public Hubs() {
            super(Shape.HUBS);
        }
    }

    public static final class Soft extends Shapes {
        public Soft() {
            super(Shape.SOFT);
        }
    }
}

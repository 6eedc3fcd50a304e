package sizes;

import java.lang.ref.SoftReference;

/** Graphs of any size, and for each a check of every object that needs no memory of its own. */
enum Shape {
    /** One object that refers to nothing. */
    ONE {
        @Override
        Object build(int size) {
            return new Point(size, ~size);
        }

        @Override
        void check(Object graph, int size) {
            require(graph.equals(new Point(size, ~size)), 0);
        }
    },
    /** A linked list. */
    LIST {
        @Override
        Object build(int size) {
            Node first = null;
            for (int i = size - 1; i >= 0; i--) {
                first = new Node(number(i), first);
            }
            return first;
        }

        @Override
        void check(Object graph, int size) {
            Node node = (Node) graph;
            for (int i = 0; i < size; i++) {
                require(node.number == number(i), i);
                node = node.next;
            }
            require(node == null, size);
        }
    },
    /** A list of which each node has two more objects. */
    CHAIN {
        @Override
        Object build(int size) {
            Link first = null;
            for (int i = size - 1; i >= 0; i--) {
                first = new Link(first, new Own(new Point(i, -i)));
            }
            return first;
        }

        @Override
        void check(Object graph, int size) {
            Link link = (Link) graph;
            for (int i = 0; i < size; i++) {
                Point p = link.own.point;
                require(p.x == i && p.y == -i, i);
                link = link.next;
            }
            require(link == null, size);
        }
    },
    /** A tree whose branches all end nearby. */
    TREE {
        @Override
        Object build(int size) {
            return grow(0, size);
        }

        private Vertex grow(long i, int size) {
            if (i >= size) {
                return null;
            }
            Vertex v = new Vertex((int) i);
            v.a = grow(2 * i + 1, size);
            v.b = grow(2 * i + 2, size);
            return v;
        }

        @Override
        void check(Object graph, int size) {
            require(count((Vertex) graph, 0) == size, size);
        }

        private int count(Vertex v, long i) {
            if (v == null) {
                return 0;
            }
            require(v.number == i, i);
            return 1 + count(v.a, 2 * i + 1) + count(v.b, 2 * i + 2);
        }
    },
    /** An array of vertices, each with edges to two that lie anywhere: the worst that a walk can meet. */
    WEB {
        @Override
        Object build(int size) {
            Vertex[] all = new Vertex[size];
            for (int i = 0; i < size; i++) {
                all[i] = new Vertex(i);
            }
            for (int i = 0; i < size; i++) {
                all[i].a = all[other(i, 1, size)];
                all[i].b = all[other(i, 2, size)];
            }
            return all;
        }

        @Override
        void check(Object graph, int size) {
            Vertex[] all = (Vertex[]) graph;
            require(all.length == size, size);
            for (int i = 0; i < size; i++) {
                Vertex v = all[i];
                require(v.number == i && v.a == all[other(i, 1, size)] && v.b == all[other(i, 2, size)], i);
            }
        }
    },
    /** One array of primitives. */
    LONGS {
        @Override
        Object build(int size) {
            long[] a = new long[size];
            for (int i = 0; i < size; i++) {
                a[i] = number(i);
            }
            return a;
        }

        @Override
        void check(Object graph, int size) {
            long[] a = (long[]) graph;
            require(a.length == size, size);
            for (int i = 0; i < size; i++) {
                require(a[i] == number(i), i);
            }
        }
    },
    /** One array of references: most to few objects, some to none, each tenth to an object of its own. */
    ARRAY {
        @Override
        Object build(int size) {
            Point[] few = new Point[1000];
            Object[] a = new Object[size];
            for (int i = 0; i < size; i++) {
                int k = i % few.length;
                if (i % 10 == 0) {
                    a[i] = new Point(i, 0);
                } else if (i % 10 != 1) {
                    few[k] = few[k] == null ? new Point(k, 1) : few[k];
                    a[i] = few[k];
                }
            }
            return a;
        }

        @Override
        void check(Object graph, int size) {
            Object[] a = (Object[]) graph;
            require(a.length == size, size);
            for (int i = 0; i < size; i++) {
                Point p = (Point) a[i];
                int k = i % 1000;
                require(
                        i % 10 == 0
                                ? p.x == i && p.y == 0
                                : i % 10 == 1 ? p == null : p.x == k && p.y == 1 && p == a[k],
                        i);
            }
        }
    },
    /** A list of cells of 400 bytes: many bytes in few objects. */
    CELLS {
        @Override
        Object build(int size) {
            Cell first = null;
            for (int i = size - 1; i >= 0; i--) {
                long[] content = new long[47];
                for (int k = 0; k < content.length; k++) {
                    content[k] = number(i) + k;
                }
                first = new Cell(content, first);
            }
            return first;
        }

        @Override
        void check(Object graph, int size) {
            Cell cell = (Cell) graph;
            for (int i = 0; i < size; i++) {
                require(cell.content.length == 47, i);
                for (int k = 0; k < cell.content.length; k++) {
                    require(cell.content[k] == number(i) + k, i);
                }
                cell = cell.next;
            }
            require(cell == null, size);
        }
    },
    /** Vertices with 5,000 neighbours each: one large array inside of the other, as deep as there are vertices. */
    HUBS {
        @Override
        Object build(int size) {
            Hub[] all = new Hub[size];
            for (int i = 0; i < size; i++) {
                all[i] = new Hub(i);
            }
            for (Hub hub : all) {
                for (int k = 0; k < hub.neighbours.length; k++) {
                    hub.neighbours[k] = all[neighbour(hub.number, k, size)];
                }
            }
            return all[0];
        }

        private int neighbour(int number, int k, int size) {
            // First one that is known: so each array has begun when the walk enters the next.
            return k == 0 ? number : k == 1 ? (number + 1) % size : other(number, k, size);
        }

        @Override
        void check(Object graph, int size) {
            Hub[] all = new Hub[size];
            Hub hub = (Hub) graph;
            for (int i = 0; i < size; i++) {
                require(hub.number == i, i);
                all[i] = hub;
                hub = (Hub) hub.neighbours[1];
            }
            for (int i = 0; i < size; i++) {
                for (int k = 0; k < all[i].neighbours.length; k++) {
                    require(all[i].neighbours[k] == all[neighbour(i, k, size)], i);
                }
            }
        }
    },
    /** An array of references that each travel as a stand-in, with a tree between them. */
    SOFT {
        @Override
        Object build(int size) {
            Object[] a = new Object[size];
            for (int i = 0; i < size; i++) {
                a[i] = i % 100 == 99 ? LIST.build(1000) : new SoftReference<>(new Point(i, 2));
            }
            return a;
        }

        @Override
        void check(Object graph, int size) {
            Object[] a = (Object[]) graph;
            require(a.length == size, size);
            for (int i = 0; i < size; i++) {
                if (i % 100 == 99) {
                    LIST.check(a[i], 1000);
                } else {
                    Point p = (Point) ((SoftReference<?>) a[i]).get();
                    require(p != null && p.x == i && p.y == 2, i);
                }
            }
        }
    };

    record Point(int x, int y) {}

    static final class Node {
        final long number;
        final Node next;

        Node(long number, Node next) {
            this.number = number;
            this.next = next;
        }
    }

    static final class Link {
        final Link next;
        final Own own;

        Link(Link next, Own own) {
            this.next = next;
            this.own = own;
        }
    }

    record Own(Point point) {}

    static final class Vertex {
        final int number;
        Vertex a;
        Vertex b;

        Vertex(int number) {
            this.number = number;
        }
    }

    static final class Cell {
        final long[] content;
        final Cell next;

        Cell(long[] content, Cell next) {
            this.content = content;
            this.next = next;
        }
    }

    static final class Hub {
        final int number;
        final Object[] neighbours = new Object[5000];

        Hub(int number) {
            this.number = number;
        }
    }

    abstract Object build(int size);

    /** @throws IllegalStateException at the first difference */
    abstract void check(Object graph, int size);

    static void require(boolean holds, long where) {
        if (!holds) {
            throw new IllegalStateException("wrong after arrival: at " + where);
        }
    }

    static long number(long i) {
        return (i + 1) * 0x9E3779B97F4A7C15L;
    }

    static int other(long i, int k, int size) {
        return (int) Long.remainderUnsigned(number(i * 8191 + k) >>> 7, size);
    }
}

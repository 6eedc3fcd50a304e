package io.skyway.bench;

import io.skyway.api.Workload;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.ServiceLoader;
import java.util.TreeMap;

/**
 * The arguments of {@link Main}.
 *
 * @param churnMegabytes garbage a second, in MB; 0 for none
 */
record Options(boolean help, List<Request> workloads, int churnMegabytes) {
    static final String USAGE = """
        Holds object graphs for a Skyway agent to move. Prints "ready" and waits until it is shut down.

        Options:
          --workload NAME[:SIZE]  builds a workload and publishes it under NAME (may be repeated)
          --seed N                of the workloads after it (default: 1)
          --churn MBPS            allocates MBPS megabytes a second, and keeps some of them for a while
          --help
        """;

    /** A workload to build. */
    record Request(Workload workload, long size, long seed) {
        String name() {
            return workload.name();
        }

        Object build() throws Exception {
            return workload.build(size, seed);
        }
    }

    /** @throws IllegalArgumentException when the arguments are wrong; the message says what would be right */
    static Options parse(List<String> args) {
        List<Request> workloads = new ArrayList<>();
        boolean help = false;
        int churn = 0;
        long seed = 1;
        Iterator<String> rest = args.iterator();
        while (rest.hasNext()) {
            String option = rest.next();
            switch (option) {
                case "--help" -> help = true;
                case "--workload" -> workloads.add(request(value(option, rest), seed));
                case "--seed" -> seed = number(option, value(option, rest), Long.MIN_VALUE, Long.MAX_VALUE);
                case "--churn" -> churn = (int) number(option, value(option, rest), 0, Integer.MAX_VALUE);
                default ->
                    throw new IllegalArgumentException("unknown argument " + option + ". --help lists the options");
            }
        }
        return new Options(help, List.copyOf(workloads), churn);
    }

    private static Request request(String text, long seed) {
        int colon = text.indexOf(':');
        String name = colon < 0 ? text : text.substring(0, colon);
        TreeMap<String, Workload> known = new TreeMap<>();
        ServiceLoader.load(Workload.class).forEach(workload -> known.put(workload.name(), workload));
        Workload workload = known.get(name);
        if (workload == null) {
            throw new IllegalArgumentException(
                    "--workload " + text + ": there is no workload " + name + ". There are " + known.keySet());
        }
        long size = colon < 0
                ? workload.defaultSize()
                : number("--workload " + name, text.substring(colon + 1), 0, Long.MAX_VALUE);
        return new Request(workload, size, seed);
    }

    private static String value(String option, Iterator<String> rest) {
        if (!rest.hasNext()) {
            throw new IllegalArgumentException(option + " wants a value. --help lists the options");
        }
        return rest.next();
    }

    private static long number(String option, String text, long least, long most) {
        try {
            long number = Long.parseLong(text);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Said below, with what is wanted.
        }
        throw new IllegalArgumentException(
                option + " wants a whole number from " + least + " to " + most + ", not " + text);
    }
}

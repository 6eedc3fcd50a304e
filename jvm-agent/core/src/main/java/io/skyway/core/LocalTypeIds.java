package io.skyway.core;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Type ids of one process that has no orchestrator. */
final class LocalTypeIds implements TypeIds {
    private final Map<String, Integer> ids = new HashMap<>();
    private final List<TypeDescriptor> types = new ArrayList<>();

    @Override
    public synchronized int[] register(List<TypeDescriptor> descriptors) {
        int[] out = new int[descriptors.size()];
        for (int i = 0; i < out.length; i++) {
            TypeDescriptor d = descriptors.get(i);
            String key = d.className() + java.util.Arrays.toString(d.fingerprint());
            Integer id = ids.get(key);
            if (id == null) {
                types.add(d);
                id = types.size();
                ids.put(key, id);
            }
            out[i] = id;
        }
        return out;
    }

    @Override
    public synchronized List<TypeDescriptor> lookup(int[] wanted) {
        List<TypeDescriptor> out = new ArrayList<>();
        for (int id : wanted) {
            if (id <= 0 || id > types.size()) {
                throw new SkywayException(SkywayException.Kind.BAD_IMAGE, "type id " + id + " was never given out");
            }
            out.add(types.get(id - 1));
        }
        return out;
    }
}

package io.skyway.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Forms of stand-ins that no sender writes. */
class StandInsTest {
    static class Resolving implements Serializable {
        private static final long serialVersionUID = 1L;
        transient Object other;

        Object readResolve() {
            return this;
        }
    }

    static final class Another extends Resolving {
        private static final long serialVersionUID = 1L;
    }

    static final class Plain {
        Object other;
    }

    private final List<Object> fresh = new ArrayList<>();

    @BeforeAll
    static void start() throws Exception {
        TestEngine.get();
    }

    private Object resolve(Object... forms) {
        Object[] envelope = new Object[1 + forms.length];
        System.arraycopy(forms, 0, envelope, 1, forms.length);
        StandIns.Begun begun = new StandIns.Begun(envelope);
        Object last = null;
        for (Object form : forms) {
            last = StandIns.resolve(form, StandInsTest.class.getClassLoader(), begun, new ArrayList<>(), fresh);
        }
        begun.close();
        return last;
    }

    private static Object[] fields(Class<?> c, Object... values) {
        return new Object[] {"fields", c, values};
    }

    private String refused(Object... forms) {
        SkywayException e = assertThrows(SkywayException.class, () -> resolve(forms));
        assertEquals(SkywayException.Kind.BAD_IMAGE, e.kind(), e.getMessage());
        assertEquals(List.of(), fresh);
        return e.getMessage();
    }

    @Test
    void anObjectIsMadeFromItsFields() {
        Resolving made = assertInstanceOf(Resolving.class, resolve((Object) fields(Resolving.class, "text")));
        assertEquals("text", made.other);
        assertSame(made, fresh.get(0));
    }

    @Test
    void onlyClassesThatNeedItAreMade() {
        assertTrue(refused((Object) fields(Plain.class, "text")).contains("have no stand-ins"));
        assertTrue(refused((Object) fields(String.class, new byte[0], (byte) 0)).contains("have no stand-ins"));
    }

    @Test
    void noTwoHaveTheSameFields() {
        Object[] values = {"text"};
        String said = refused(
                new Object[] {"fields", Resolving.class, values}, new Object[] {"fields", Another.class, values});
        assertTrue(said.contains("have the same fields"), said);
    }

    @Test
    void fieldsThatAreMissingOrNoFieldsAreRefused() {
        assertTrue(refused((Object) fields(Resolving.class)).contains("could not be made on arrival"));
        assertTrue(refused((Object) new Object[] {"fields", Resolving.class, "none"})
                .contains("could not be made on arrival"));
        assertTrue(refused((Object) new Object[] {"fields", "no class", new Object[1]})
                .contains("could not be made on arrival"));
    }

    @Test
    void whatIsNoFormIsRefused() {
        assertTrue(refused("text").contains("has no form"));
        assertTrue(refused((Object) new Object[] {"nothing like it", null}).contains("not a form"));
    }
}

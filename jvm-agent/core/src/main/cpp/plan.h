// What the engine does with the objects of one class, and how it finds that out from an object's header.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "vm.h"

namespace skyway {

enum class Kind : uint8_t {
    Instance,
    PrimitiveArray,
    ReferenceArray,
    Named,    // every object of the class is a named one (enum constants, Class)
    Refused,  // bound to the process
    StandIn,  // Java makes something else of each object, which travels in its place
    Cut,      // arrives as null
};

struct Plan;

// A reference field, or all elements of a reference array.
struct Reference {
    Reference(uint32_t o, uint32_t d, bool n = false, bool l = false) : offset(o), declared(d), required(n), leaf(l) {}
    Reference(const Reference& r) : Reference(r.offset, r.declared, r.required, r.leaf) {}

    uint32_t offset;
    uint32_t declared;  // index of the declared class's Assignable; 0: Object, anything goes
    bool required;      // compiled code halts the VM when this is null (String.value)
    bool leaf;          // the declared class is an array of primitives
    // Klass that was assignable the last time, as it stands in a header; ~0 at first.
    mutable std::atomic<uint64_t> usual{~(uint64_t)0};
};

struct Plan {
    Kind kind = Kind::Refused;
    uint8_t elementShift = 0;   // arrays: log2 of the bytes of an element
    bool quick = false;         // nothing but its bytes and its references matter: see ready()
    bool mayBeNamed = false;    // some objects of the class are named ones: look each up
    // Integer and Long with an id: offset of the value (else 0), and boxHi - boxLo, so that one comparison tells.
    uint32_t uncachedAt = 0;
    uint64_t cachedSpan = 0;
    // Exceptions: while the trace that the VM keeps is not yet in the Java field, Java must fetch it.
    uint32_t backtraceAt = 0, stackTraceAt = 0;
    bool arrival = false;  // receiving: Java looks at every object that has landed
    int8_t boxWidth = 0;        // boxed values: only lo..hi can be named (bytes of the value, negative: unsigned)
    uint16_t boxOffset = 0;
    int64_t boxLo = 0, boxHi = 0;
    uint32_t index = 0;         // dense, of this process; never 0
    uint32_t typeId = 0;        // global
    uint32_t bytes = 0;         // instances
    uint32_t arrayBase = 0;
    uint64_t key = 0;           // the klass, as it stands in a header
    uint64_t mark = 1;          // of a fresh object
    std::vector<Reference> references;
    // Words that hold bits of the VM's own between the fields (String.flags): zero in an image.
    struct Mask {
        uint32_t at;  // bytes
        uint64_t keep;
    };
    std::vector<Mask> masks;
    // Bytes that the VM's compiled code takes to be at most so much, and does not check: booleans, String.coder.
    struct Limit {
        uint32_t offset;
        uint8_t most;
    };
    std::vector<Limit> limits;
    bool booleans = false;  // an array of them

    void clear(uint32_t from, uint32_t to);
    // After each change of id or names. Arrays are quick when they are not empty: only empty ones have names.
    void ready() {
        quick = typeId != 0 && (isArray() || (kind == Kind::Instance && !mayBeNamed && backtraceAt == 0));
        uncachedAt = typeId != 0 && kind == Kind::Instance && (boxWidth == 4 || boxWidth == 8) ? boxOffset : 0;
        cachedSpan = (uint64_t)boxHi - (uint64_t)boxLo;
    }
    void applyMasks(uint8_t* object) const {
        for (const Mask& m : masks) {
            *(uint64_t*)(object + m.at) &= m.keep;
        }
    }

    bool isArray() const {
        return kind == Kind::PrimitiveArray || kind == Kind::ReferenceArray;
    }
    // Whether an object's bytes, or `n` elements of an array, have only values that the VM itself would give them.
    bool trusted(const uint8_t* object, const uint8_t* elements, uint64_t n) const {
        return (limits.empty() && !booleans) || withinLimits(object, elements, n);
    }
    bool withinLimits(const uint8_t* object, const uint8_t* elements, uint64_t n) const;
    uint64_t sizeOf(uint64_t length) const {
        return isArray() ? (arrayBase + (length << elementShift) + vm.alignment - 1) & ~(uint64_t)(vm.alignment - 1)
                         : bytes;
    }
};

// Plans by klass. Read without locks inside windows; written under Java's lock, outside of them.
class PlanTable {
  public:
    PlanTable();
    Plan* find(uint64_t key) const {
        return view().find(key);
    }
    // Takes the plan over and gives it its index; replaces an earlier plan of the same klass.
    Plan* add(Plan* plan);
    Plan* byIndex(uint32_t index) const {
        return index < _plans.size() ? _plans[index] : nullptr;
    }
    uint32_t count() const {
        return (uint32_t)_plans.size();
    }

  private:
    static uint64_t hash(uint64_t key) {
        return key * 0x9e3779b97f4a7c15ull >> 40;
    }
    struct Cell {
        uint64_t key = 0;
        std::atomic<Plan*> plan{nullptr};
    };
    struct Table {
        uint64_t mask;
        Cell* cells;

        Plan* find(uint64_t key) const {
            for (uint64_t i = hash(key) & mask;; i = (i + 1) & mask) {
                Plan* p = cells[i].plan.load(std::memory_order_acquire);
                if (p == nullptr || cells[i].key == key) {
                    return p;
                }
            }
        }
    };

  public:
    // The table of now, to be kept in registers. It may lack what is added later.
    Table view() const {
        return *_table.load(std::memory_order_acquire);
    }
    using View = Table;

  private:
    static Table* makeTable(uint64_t cells);
    static void put(Table* t, Plan* plan);

    std::atomic<Table*> _table;
    std::vector<Plan*> _plans;  // reserved far ahead: never moves while a window reads it
};

// Which classes may stand in a reference declared with one class. Learned from Java, pair by pair.
class Assignable {
    friend struct FakeVm;  // native unit tests

  public:
    enum Answer { Unknown = 0, Yes = 1, No = 2 };
    Answer of(uint32_t planIndex) const {
        uint32_t w = planIndex / 4;
        return w < _size ? (Answer)(_bits[w].load(std::memory_order_relaxed) >> planIndex % 4 * 2 & 3) : Unknown;
    }
    bool set(uint32_t planIndex, Answer a);

  private:
    // A quarter of a million classes; 64 KiB that are touched only as far as they are used.
    static constexpr uint32_t _size = 1 << 16;
    std::atomic<uint8_t>* _bits = new std::atomic<uint8_t>[_size]();
};

class Types {
  public:
    PlanTable plans;
    Assignable* assignable(uint32_t declared) const {
        return _assignable[declared];
    }
    uint32_t addDeclared();

  private:
    static constexpr uint32_t kMost = 1 << 18;
    Assignable** _assignable = new Assignable*[kMost]();
    uint32_t _declared = 1;
};

extern Types types;

// A receiver's view: what a global type id means for one class loader.
class Scope {
  public:
    ~Scope();
    Plan* find(uint32_t typeId) const {
        const Chunk* c =
            typeId >> kShift < kChunks ? _chunks[typeId >> kShift].load(std::memory_order_acquire) : nullptr;
        return c == nullptr ? nullptr : c->plans[typeId & (kPerChunk - 1)].load(std::memory_order_acquire);
    }
    bool bind(uint32_t typeId, Plan* plan);

  private:
    static constexpr uint32_t kShift = 12, kPerChunk = 1 << kShift, kChunks = 1 << 10;
    struct Chunk {
        std::atomic<Plan*> plans[kPerChunk];
    };
    std::atomic<Chunk*> _chunks[kChunks] = {};
};

}  // namespace skyway

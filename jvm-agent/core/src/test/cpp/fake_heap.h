// A heap without a VM: enough of one that the engine can walk objects in it and land images into it. It lets the
// native code run under sanitizers, on graphs and on bytes that no sender would write.
#pragma once

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "reader.h"
#include "writer.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SKYWAY_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SKYWAY_ASAN 1
#endif
#if defined(SKYWAY_ASAN)
#include <sanitizer/asan_interface.h>
#endif

#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                \
        }                                                                           \
    } while (0)

namespace skyway {

struct FakeVm {
    static constexpr size_t kBytes = 256u << 20;
    uint8_t* heap;
    size_t top = 4096;
    Address youngStart;
    size_t youngWords;
    uint32_t collections = 0;
    std::vector<std::pair<Address, size_t>> allocations;

    FakeVm() {
        heap = (uint8_t*)mmap((void*)0x200000000000, kBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        CHECK(heap != MAP_FAILED);
        vm.collector = Collector::Serial;
        vm.compressedOops = true;
        vm.oopBase = (Address)heap;
        vm.oopShift = 3;
        vm.klassMode = KlassMode::Narrow;
        vm.hashShift = 8;
        vm.hashMask = 0x7fffffffull << 8;
        vm.alignment = 8;
        vm.lengthOffset = 12;
        vm.longArrayBase = vm.refArrayBase = 16;
        vm.heapStart = (Address)heap;
        vm.heapBytes = kBytes;
        youngStart = (Address)heap;
        youngWords = kBytes / 8;
        vm._youngRange = (Address)&youngStart;
        vm._startOffset = 0;
        vm._wordsOffset = 8;
        vm._heap = (Address)&collections;
        vm._collectionsOffset = 0;
        Reader::objectArrayKey = kObjects;
        poison(0, kBytes);
    }

    enum Key : uint32_t { kNode = 1000, kBytesArray, kObjects, kLongs, kLeaf, kNodes, kText, kFlags, kView };

    // Node: long at 16; references at 24 (any), 28 (a Node), 32 (any). Leaf: no references.
    // Text, as a String: a byte at 12 that is 0 or 1, a byte array at 16 that is never null.
    // View, as a heap buffer: Java looks at each before the graph is handed out; a byte array at 16. Flags: boolean[].
    Plan* plan(Key key, Kind kind, int shift, uint32_t bytes, std::vector<std::pair<uint32_t, uint32_t>> refs, int id) {
        Plan* p = new Plan();
        p->key = key;
        p->kind = kind;
        p->elementShift = (uint8_t)shift;
        p->bytes = bytes;
        p->arrayBase = bytes == 0 ? 16 : 0;
        p->typeId = (uint32_t)id;
        for (auto& r : refs) {
            p->references.emplace_back(r.first, r.second);
        }
        p->ready();
        CHECK(types.plans.add(p) == p);
        CHECK(scope.bind((uint32_t)id, p));
        return p;
    }

    Scope scope;
    Plan *node, *bytes, *objects, *leaf, *nodes, *text, *flags, *view;
    std::vector<Plan*> plans;
    uint32_t declaredNode, declaredBytes;

    void makePlans() {
        declaredNode = types.addDeclared();
        node = plan(kNode, Kind::Instance, 0, 40, {{24, 0}, {28, declaredNode}, {32, 0}}, 1);
        bytes = plan(kBytesArray, Kind::PrimitiveArray, 0, 0, {}, 2);
        objects = plan(kObjects, Kind::ReferenceArray, 2, 0, {{16, 0}}, 3);
        leaf = plan(kLeaf, Kind::Instance, 0, 16, {}, 4);
        nodes = plan(kNodes, Kind::ReferenceArray, 2, 0, {{16, declaredNode}}, 5);
        declaredBytes = types.addDeclared();
        text = plan(kText, Kind::Instance, 0, 24, {{16, declaredBytes}}, 6);
        text->references[0].required = true;
        text->limits = {{12, 1}};
        flags = plan(kFlags, Kind::PrimitiveArray, 0, 0, {}, 7);
        flags->booleans = true;
        view = plan(kView, Kind::Instance, 0, 24, {{16, declaredBytes}}, 8);
        view->arrival = true;
        plans = {node, bytes, objects, leaf, nodes, text, flags, view};
    }
    bool fits(uint32_t declared, const Plan* p) const {
        return declared == 0 || p == (declared == declaredNode ? node : bytes);
    }
    void answer(uint32_t declared, uint32_t index) {
        const Plan* p = types.plans.byIndex(index);
        CHECK(types.assignable(declared)->set(index, fits(declared, p) ? Assignable::Yes : Assignable::No));
    }
    // What was learned of assignability is asked again.
    void forget() {
        for (uint32_t declared : {declaredNode, declaredBytes}) {
            for (const Plan* p : plans) {
                types.assignable(declared)->_bits[p->index / 4] = 0;
            }
        }
        for (const Plan* p : plans) {
            for (const Reference& r : p->references) {
                r.usual = ~(uint64_t)0;
            }
        }
    }

    // What lies outside of allocations is the sanitizer's, so that it sees a write beyond a chunk.
    void poison(size_t from, size_t to) {
#if defined(SKYWAY_ASAN)
        ASAN_POISON_MEMORY_REGION(heap + from, to - from);
#else
        (void)from, (void)to;
#endif
    }
    // Forgets what was allocated since `top` was this.
    void release(size_t to) {
        poison(to, top);
        top = to;
        while (!allocations.empty() && allocations.back().first >= (Address)heap + to) {
            allocations.pop_back();
        }
    }
    Address allocate(uint32_t key, size_t size, uint32_t length) {
        Address a = (Address)heap + top;
        size = (size + 7) & ~(size_t)7;
        top += size + 64;
        CHECK(top <= kBytes);
#if defined(SKYWAY_ASAN)
        ASAN_UNPOISON_MEMORY_REGION((void*)a, size);
#endif
        allocations.emplace_back(a, size);
        memset((void*)a, 0, size);
        *(uint64_t*)a = 1;
        *(uint32_t*)(a + 8) = key;
        *(uint32_t*)(a + 12) = length;
        return a;
    }
    Address newNode(uint64_t value) {
        Address a = allocate(kNode, 40, 0);
        *(uint64_t*)(a + 16) = value;
        return a;
    }
    Address newArray(uint32_t key, uint32_t length, int elementBytes) {
        return allocate(key, 16 + (size_t)length * (size_t)elementBytes, length);
    }
    static uint32_t narrow(Address a) {
        return a == 0 ? 0 : (uint32_t)((a - vm.oopBase) >> 3);
    }
    static Address wide(uint32_t n) {
        return n == 0 ? 0 : vm.oopBase + ((Address)n << 3);
    }
    static void set(Address holder, size_t offset, Address value) {
        *(uint32_t*)(holder + offset) = narrow(value);
    }
    static Address get(Address holder, size_t offset) {
        return wide(*(uint32_t*)(holder + offset));
    }
};

// Every object of the heap, reachable or not, as a collector's verifier does: its class is known, its size fits, each
// of its references is the start of an object that the field can hold.
inline void verify(FakeVm& f, Address from) {
    std::map<Address, const Plan*> starts;
    std::vector<std::pair<Address, const Plan*>> all;
    for (auto& [start, size] : f.allocations) {
        if (start < from) {
            continue;
        }
        for (Address a = start; a < start + size;) {
            uint64_t key = vm.keyOf(a);
            uint64_t length = *(uint32_t*)(a + 12);
            const Plan* p = types.plans.find(key);
            CHECK(p != nullptr || key == FakeVm::kLongs);
            CHECK((*(uint64_t*)a & ~vm.hashMask) == 1);
            CHECK(p == nullptr || p->trusted((uint8_t*)a, (uint8_t*)a + 16, length));
            uint64_t bytes = p == nullptr ? 16 + 8 * length : p->sizeOf(length);
            CHECK(bytes >= 16 && bytes <= start + size - a);
            starts[a] = p;
            all.emplace_back(a, p);
            a += bytes;
        }
    }
    for (auto& [a, p] : all) {
        if (p == nullptr || p->kind == Kind::PrimitiveArray) {
            continue;
        }
        bool array = p->kind == Kind::ReferenceArray;
        size_t n = array ? *(uint32_t*)(a + 12) : p->references.size();
        for (size_t i = 0; i < n; i++) {
            const Reference& r = p->references[array ? 0 : i];
            Address to = FakeVm::get(a, array ? 16 + 4 * i : r.offset);
            if (to >= from) {
                auto at = starts.find(to);
                CHECK(at != starts.end() && at->second != nullptr);
                CHECK(f.fits(r.declared, at->second));
            } else if (to != 0) {
                CHECK(f.fits(r.declared, types.plans.find(vm.keyOf(to))));
            }
        }
    }
}

struct Image {
    std::vector<std::vector<uint8_t>> blocks;
};

// Objects with names, in tests: Java would have looked them up.
struct Names {
    Address array = 0;
    std::vector<const char*> texts;
    std::vector<uint16_t> lengths;
};

inline Image write(SlotPool* pool, Address root, uint64_t id, uint32_t maxSegmentBytes, bool shortSteps = false,
                   Names* names = nullptr) {
    Writer w(pool, maxSegmentBytes, 77);
    if (names != nullptr) {
        w.setNamed(&names->array, (uint32_t)names->texts.size(), names->texts.data(), names->lengths.data());
    }
    Address rootSlot = root;
    w.begin(id, &rootSlot);
    Image image;
    Writer::Result r;
    Writer::Finished f;
    do {
        r = w.step(shortSteps ? 1 : 0, {true});
        while (w.take(0, &f) == 1) {
            uint8_t* at = pool->at(f.slot, f.bytes);
            image.blocks.emplace_back(at, at + f.bytes);
            pool->release(f.slot);
        }
    } while (r == Writer::kYield);
    CHECK(r == Writer::kDone);
    return image;
}

// What ImageReader.java does. Returns the root, or 0 with `error` set.
struct Lander {
    static constexpr uint32_t kSpine = 4096, kNames = 16;
    FakeVm& vmRef;
    const uint32_t spineSize;
    Address spine, names, holder = 0, temporary = 0, only = 0;
    Reader reader;
    std::string error;
    Names* known = nullptr;  // what this process has names for
    uint32_t nameCount = 0;
    bool ages = false;       // what has landed leaves the young generation at once
    size_t arrived = 0;

    Lander(FakeVm& f, uint64_t id, uint32_t spineLength = kSpine)
        : vmRef(f), spineSize(spineLength), reader(&f.scope, id, 77) {
        spine = f.newArray(FakeVm::kObjects, spineLength, 4);
        names = f.newArray(FakeVm::kObjects, kNames, 4);
        reader.setHandles(&spine, spineLength, &names, kNames, &holder);
    }

    bool accept(const std::vector<uint8_t>& block) {
        bytesCome += block.size();
        // A copy of exactly its size: a read beyond the end is the sanitizer's.
        uint64_t* copy = (uint64_t*)malloc(block.size());
        if (!block.empty()) {
            memcpy(copy, block.data(), block.size());
        }
        bool ok = acceptCopy((uint8_t*)copy, block.size());
        free(copy);
        return ok;
    }

    bool fail() {
        error = reader.error();
        CHECK(!error.empty());
        return false;
    }

    bool refuse(const char* why) {
        error = why;
        return false;
    }

    void answerPairs() {
        CHECK(!reader.pairs().empty());
        for (uint64_t p : reader.pairs()) {
            vmRef.answer((uint32_t)(p >> 32), (uint32_t)p);
        }
    }

    void clear(Address array, uint32_t length) {
        for (uint32_t i = 0; i < length; i++) {
            FakeVm::set(array, 16 + 4 * (size_t)i, 0);
        }
    }

    bool acceptCopy(const uint8_t* block, size_t length) {
        Reader::Found f = reader.check(block, length);
        if (f.result != Reader::kOk) {
            return fail();
        }
        if (f.restarted != 0) {
            clear(spine, spineSize);
            clear(names, kNames);
            nameCount = 0;
            only = 0;
        }
        if (f.missingTypes != 0) {
            CHECK((size_t)f.missingTypes == reader.missing().size());
            return refuse("an unknown type");
        }
        if (f.segment >= spineSize) {
            return refuse("not for this test");
        }
        if (!name(reader.names(block), (size_t)f.namedBytes, (uint32_t)f.namedCount)) {
            return refuse("an unknown name");
        }
        bool ok = f.kind == 1 ? piece(block, f) : segment(block, f);
        if (ages) {
            Address old = vmRef.youngStart;
            vmRef.youngStart = (Address)vmRef.heap + vmRef.top;
            vmRef.youngWords -= (vmRef.youngStart - old) / 8;
            vmRef.collections++;  // so that objects are found by way of their exports
        }
        return ok;
    }

    bool name(const uint8_t* text, size_t bytes, uint32_t count) {
        size_t at = 0;
        for (uint32_t i = 0; i < count; i++) {
            size_t n = at + 2 <= bytes ? (size_t)(text[at] | text[at + 1] << 8) : bytes;
            if (at + 2 + n > bytes || nameCount == kNames || known == nullptr) {
                return false;
            }
            size_t k = 0;
            while (k < known->texts.size()
                   && (known->lengths[k] != n || memcmp(known->texts[k], text + at + 2, n) != 0)) {
                k++;
            }
            if (k == known->texts.size()) {
                return false;
            }
            FakeVm::set(names, 16 + 4 * (size_t)nameCount++, FakeVm::get(known->array, 16 + 4 * k));
            at += 2 + n;
        }
        return true;
    }

    bool piece(const uint8_t* block, const Reader::Found& f) {
        if (reader.keepPiece(block) != Reader::kOk) {
            return fail();
        }
        uint64_t n;
        const uint8_t* elements = reader.largeElements((uint64_t)f.segment, &n);
        if (elements == nullptr) {
            return true;
        }
        Plan* p = vmRef.scope.find((uint32_t)f.arrayType);
        // All of these bytes have come, in blocks.
        CHECK(n <= bytesCome);
        Address a = vmRef.newArray((uint32_t)p->key, (uint32_t)f.arrayLength, 1 << p->elementShift);
        if (p->kind == Kind::PrimitiveArray) {
            memcpy((void*)(a + 16), elements, n);
        } else {
            temporary = a;
            Reader::Result r;
            while ((r = reader.targets((uint64_t)f.segment, 0, (uint64_t)f.arrayLength, &temporary)) != Reader::kOk) {
                if (r != Reader::kPairs) {
                    CHECK(r == Reader::kBad);
                    return fail();
                }
                answerPairs();
            }
        }
        FakeVm::set(spine, 16 + 4 * (size_t)f.segment, a);
        reader.landedLarge((uint64_t)f.segment);
        return true;
    }

    bool segment(const uint8_t* block, const Reader::Found& f) {
        for (;;) {
            int64_t words = reader.alone() ? f.chunkWords : f.fullWords;
            Address chunk = vmRef.newArray(FakeVm::kLongs, (uint32_t)words, 8);
            Reader::Result r = reader.land(block, (uint8_t*)chunk + 16);
            if (r == Reader::kOk) {
                CHECK(*(uint32_t*)(chunk + 12) == 0);
                break;
            }
            CHECK(*(uint32_t*)(chunk + 12) == (uint32_t)words);  // still one array: nothing became visible
            if (r == Reader::kPairs) {
                answerPairs();
            } else if (r != Reader::kExports) {
                CHECK(r == Reader::kBad);
                return fail();
            }
        }
        if (reader.alone()) {
            only = holder;
        } else {
            FakeVm::set(spine, 16 + 4 * (size_t)f.segment, holder);
        }
        Reader::Result r = Reader::kAgain;
        while (f.lateCount != 0 && r != Reader::kOk) {
            r = reader.late(block);
            javaStores();
            if (r == Reader::kPairs) {
                answerPairs();
            } else if (r != Reader::kOk && r != Reader::kAgain) {
                CHECK(r == Reader::kBad);
                return fail();
            }
        }
        return true;
    }

    Address inSpine(int64_t segment, int64_t ordinal) {
        Address in = FakeVm::get(spine, 16 + 4 * (size_t)segment);
        CHECK(in != 0);
        if (ordinal < 0) {
            return in;
        }
        CHECK((uint64_t)ordinal < *(uint32_t*)(in + 12));
        return FakeVm::get(in, 16 + 4 * (size_t)ordinal);
    }

    void javaStores() {
        std::vector<int64_t>& s = reader.javaStores();
        for (size_t i = 0; i < s.size(); i += 5) {
            Address value = s[i + 3] < 0 ? FakeVm::get(names, 16 + 4 * (size_t)s[i + 4]) : inSpine(s[i + 3], s[i + 4]);
            Address holderOf = inSpine(s[i], s[i + 2] < 0 ? -1 : s[i + 1]);
            FakeVm::set(holderOf, s[i + 2] < 0 ? 16 + 4 * (size_t)s[i + 1] : (size_t)s[i + 2], value);
        }
        s.clear();
    }

    Address finish() {
        int64_t number, ordinal;
        if (reader.root(&number, &ordinal) != Reader::kOk) {
            fail();
            return 0;
        }
        for (int64_t place : reader.arrivals()) {
            CHECK(types.plans.find(vm.keyOf(inSpine(place >> 32, (uint32_t)place)))->arrival);
            arrived++;
        }
        Address root = number < 0  ? FakeVm::get(names, 16 + 4 * (size_t)ordinal)
                       : only != 0 ? only
                                   : inSpine(number, ordinal);
        if (root == 0) {
            refuse("the root is no name's object");
        }
        return root;
    }

    Address all(const Image& image) {
        for (auto& b : image.blocks) {
            if (!accept(b)) {
                return 0;
            }
        }
        return finish();
    }

    uint64_t bytesCome = 0;
};

// Isomorphic, walked in step with an explicit queue.
inline bool same(FakeVm&, Address a, Address b) {
    std::map<Address, Address> met;
    std::vector<std::pair<Address, Address>> queue;
    auto meet = [&](Address x, Address y) {
        if (x == 0 || y == 0) {
            return x == y;
        }
        auto at = met.find(x);
        if (at != met.end()) {
            return at->second == y;
        }
        met[x] = y;
        queue.emplace_back(x, y);
        return true;
    };
    if (!meet(a, b)) {
        return false;
    }
    while (!queue.empty()) {
        auto [x, y] = queue.back();
        queue.pop_back();
        Plan* p = types.plans.find(vm.keyOf(x));
        if (p == nullptr || types.plans.find(vm.keyOf(y)) != p || *(uint64_t*)x != *(uint64_t*)y) {
            return false;
        }
        uint32_t n = *(uint32_t*)(x + 12);
        if (p->isArray() && n != *(uint32_t*)(y + 12)) {
            return false;
        }
        if (p->kind == Kind::PrimitiveArray) {
            if (memcmp((void*)(x + 16), (void*)(y + 16), n) != 0) {
                return false;
            }
        } else if (p->kind == Kind::ReferenceArray) {
            for (uint32_t i = 0; i < n; i++) {
                if (!meet(FakeVm::get(x, 16 + 4 * (size_t)i), FakeVm::get(y, 16 + 4 * (size_t)i))) {
                    return false;
                }
            }
        } else if (p->kind == Kind::Instance && p->bytes == 40) {
            if (*(uint64_t*)(x + 16) != *(uint64_t*)(y + 16)) {
                return false;
            }
            for (size_t offset : {24, 28, 32}) {
                if (!meet(FakeVm::get(x, offset), FakeVm::get(y, offset))) {
                    return false;
                }
            }
        }
    }
    return true;
}

}  // namespace skyway

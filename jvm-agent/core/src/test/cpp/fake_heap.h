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

#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                                \
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
    }

    enum Key : uint32_t { kNode = 1000, kBytesArray, kObjects, kLongs, kLeaf, kNodes };

    // Node: long at 16; references at 24 (any), 28 (a Node), 32 (any). Leaf: no references.
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
    Plan *node, *bytes, *objects, *leaf, *nodes;
    uint32_t declaredNode;

    void makePlans() {
        declaredNode = types.addDeclared();
        node = plan(kNode, Kind::Instance, 0, 40, {{24, 0}, {28, declaredNode}, {32, 0}}, 1);
        bytes = plan(kBytesArray, Kind::PrimitiveArray, 0, 0, {}, 2);
        objects = plan(kObjects, Kind::ReferenceArray, 2, 0, {{16, 0}}, 3);
        leaf = plan(kLeaf, Kind::Instance, 0, 16, {}, 4);
        nodes = plan(kNodes, Kind::ReferenceArray, 2, 0, {{16, declaredNode}}, 5);
        for (Plan* p : {node, bytes, objects, leaf, nodes}) {
            types.assignable(declaredNode)->set(p->index, p == node ? Assignable::Yes : Assignable::No);
        }
    }

    Address allocate(uint32_t key, size_t size, uint32_t length) {
        Address a = (Address)heap + top;
        top += (size + 7) & ~(size_t)7;
        CHECK(top <= kBytes);
        memset((void*)a, 0, (size + 7) & ~(size_t)7);
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

struct Image {
    std::vector<std::vector<uint8_t>> blocks;
};

inline Image write(SlotPool* pool, Address root, uint64_t id, uint32_t maxSegmentBytes, bool shortSteps = false) {
    Writer w(pool, maxSegmentBytes, 77);
    Address rootSlot = root;
    w.begin(id, &rootSlot);
    Image image;
    Writer::Result r;
    Writer::Finished f;
    do {
        r = w.step(shortSteps ? 1 : 0, true);
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
    FakeVm& vmRef;
    Address spine, names, holder = 0, temporary = 0;
    Reader reader;
    std::string error;

    Lander(FakeVm& f, uint64_t id) : vmRef(f), reader(&f.scope, id, 77) {
        spine = f.newArray(FakeVm::kObjects, 4096, 4);
        names = f.newArray(FakeVm::kObjects, 16, 4);
        reader.setHandles(&spine, 4096, &names, 0, &holder);
    }

    bool accept(const std::vector<uint8_t>& block) {
        // A copy of exactly its size: a read beyond the end is the sanitizer's.
        uint64_t* copy = (uint64_t*)malloc(block.size() + 8);
        memcpy(copy, block.data(), block.size());
        bool ok = acceptCopy((uint8_t*)copy, block.size());
        free(copy);
        return ok;
    }

    bool fail() {
        error = reader.error();
        CHECK(!error.empty());
        return false;
    }

    bool acceptCopy(const uint8_t* block, size_t length) {
        Reader::Found f = reader.check(block, length);
        if (f.result != Reader::kOk) {
            return fail();
        }
        if (f.missingTypes != 0 || f.namedCount != 0 || f.segment >= 4096) {
            error = "not for this test";
            return false;
        }
        if (f.kind == 1) {
            if (reader.keepPiece(block) != Reader::kOk) {
                return fail();
            }
            uint64_t n;
            const uint8_t* elements = reader.largeElements((uint64_t)f.segment, &n);
            if (elements == nullptr) {
                return true;
            }
            Plan* p = vmRef.scope.find((uint32_t)f.arrayType);
            if (n > 64u << 20) {
                error = "larger than this heap";
                return false;
            }
            Address a = vmRef.newArray((uint32_t)p->key, (uint32_t)f.arrayLength, 1 << p->elementShift);
            if (p->kind == Kind::PrimitiveArray) {
                memcpy((void*)(a + 16), elements, n);
            } else {
                temporary = a;
                Reader::Result r = reader.targets((uint64_t)f.segment, 0, (uint64_t)f.arrayLength, &temporary);
                if (r != Reader::kOk) {
                    CHECK(r == Reader::kBad);
                    return fail();
                }
            }
            FakeVm::set(spine, 16 + 4 * (size_t)f.segment, a);
            reader.landedLarge((uint64_t)f.segment);
            return true;
        }
        Address chunk = vmRef.newArray(FakeVm::kLongs, (uint32_t)f.chunkWords, 8);
        Reader::Result r = reader.land(block, (uint8_t*)chunk + 16);
        if (r != Reader::kOk) {
            CHECK(r == Reader::kBad);
            CHECK(*(uint32_t*)(chunk + 12) == (uint32_t)f.chunkWords);  // still one array: nothing became visible
            return fail();
        }
        CHECK(*(uint32_t*)(chunk + 12) == 0);
        if (!reader.alone()) {
            FakeVm::set(spine, 16 + 4 * (size_t)f.segment, holder);
        }
        if (f.lateCount != 0) {
            do {
                r = reader.late(block);
            } while (r == Reader::kAgain);
            if (r != Reader::kOk) {
                CHECK(r == Reader::kBad);
                return fail();
            }
        }
        return true;
    }

    Address finish() {
        int64_t segment, ordinal;
        if (reader.root(&segment, &ordinal) != Reader::kOk) {
            fail();
            return 0;
        }
        if (reader.alone()) {
            return holder;
        }
        Address in = FakeVm::get(spine, 16 + 4 * (size_t)segment);
        return ordinal < 0 ? in : FakeVm::get(in, 16 + 4 * (size_t)ordinal);
    }

    Address all(const Image& image) {
        for (auto& b : image.blocks) {
            if (!accept(b)) {
                return 0;
            }
        }
        return finish();
    }
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

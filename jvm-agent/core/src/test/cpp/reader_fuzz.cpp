// Images that no sender would write, without end: libFuzzer's target, and a driver of its own where there is none.
//
// An input is one byte of choices and then blocks, each behind its length (u32). The mutator knows the format: it
// alters fields, slots, lists and the order of blocks, and repairs lengths, sequence numbers and checksum, so that most
// inputs get past the first checks. After an image that is taken, and after one that is refused, every object of the
// heap is verified. Built with -DSKYWAY_LIBFUZZER it links with libFuzzer; else main() mutates by itself:
//   reader_fuzz [-runs=N] [-seed=N] [FILE...]     (files are run once, as they are)
//   reader_fuzz -write=DIRECTORY                  (the first corpus: images of the writer)
#include <atomic>
#include <random>

#include "fake_heap.h"

using namespace skyway;

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t maxSize);

namespace {

constexpr uint64_t kImage = 9;
constexpr uint32_t kSegmentBytes = 4096;
constexpr uint32_t kSpineInput = 300;
constexpr uint8_t kAges = 1, kForgets = 2;

struct Input {
    uint8_t choices = 0;
    std::vector<std::vector<uint8_t>> blocks;

    static Input parse(const uint8_t* data, size_t size) {
        Input in;
        if (size == 0) {
            return in;
        }
        in.choices = data[0];
        for (size_t at = 1; at + 4 <= size && in.blocks.size() < 64;) {
            uint32_t n;
            memcpy(&n, data + at, 4);
            at += 4;
            size_t have = n < size - at ? n : size - at;
            in.blocks.emplace_back(data + at, data + at + have);
            at += have;
        }
        return in;
    }
    std::vector<uint8_t> bytes() const {
        std::vector<uint8_t> out{choices};
        for (auto& b : blocks) {
            uint32_t n = (uint32_t)b.size();
            out.insert(out.end(), (uint8_t*)&n, (uint8_t*)&n + 4);
            out.insert(out.end(), b.begin(), b.end());
        }
        return out;
    }
};

struct World {
    FakeVm f;
    Names names;
    size_t clean = 0;

    World() {
        f.makePlans();
        // Two objects with names: a leaf, and a node.
        names.array = f.newArray(FakeVm::kObjects, 2, 4);
        FakeVm::set(names.array, 16, f.allocate(FakeVm::kLeaf, 16, 0));
        FakeVm::set(names.array, 20, f.newNode(1));
        names.texts = {"leaf", "node"};
        names.lengths = {4, 4};
        f.leaf->mayBeNamed = f.node->mayBeNamed = true;
        clean = f.top;
    }
};

World& world() {
    static World* w = new World();
    return *w;
}

std::atomic<uint64_t> runs{0}, accepted{0};

void report() {
    fprintf(stderr, "skyway: runs %llu accepted %llu refused %llu\n", (unsigned long long)runs,
            (unsigned long long)accepted, (unsigned long long)(runs - accepted));
}

void run(const Input& in) {
    World& w = world();
    if ((in.choices & kForgets) != 0) {
        w.f.forget();
    }
    {
        Lander l(w.f, kImage, kSpineInput);
        l.known = &w.names;
        l.ages = (in.choices & kAges) != 0;
        Address root = l.all(Image{in.blocks});
        CHECK((root == 0) == !l.error.empty());
        verify(w.f, (Address)w.f.heap + w.clean);
        if (root != 0) {
            accepted++;
            CHECK(types.plans.find(vm.keyOf(root)) != nullptr);
        }
        runs++;
    }
    w.f.youngStart = (Address)w.f.heap;
    w.f.youngWords = FakeVm::kBytes / 8;
    w.f.release(w.clean);
}

// ---- mutation

using Random = std::mt19937_64;
using Bytes = std::vector<uint8_t>;

uint64_t interesting(Random& random) {
    static const uint64_t values[] = {0,
                                      1,
                                      2,
                                      3,
                                      4,
                                      7,
                                      8,
                                      15,
                                      16,
                                      17,
                                      24,
                                      40,
                                      64,
                                      0x7f,
                                      0x80,
                                      0xff,
                                      0x100,
                                      0xffff,
                                      0x10000,
                                      0x10001,
                                      65520,
                                      524160,
                                      524168,
                                      0x7fffffff,
                                      0x80000000,
                                      0x80000001,
                                      0xffffffff,
                                      0xfffffffe,
                                      0x7fffffffffffffff,
                                      0x8000000000000000,
                                      0x8000000000000001,
                                      ~0ull,
                                      ~1ull};
    uint64_t v = values[random() % (sizeof values / sizeof *values)];
    switch (random() % 8) {
        case 0:
            return random() % 1024;
        case 1:
            return v + random() % 3 - 1;
        case 2:
            return random() % 4096 * 8;
        case 3:
            return target(random() % 6, (uint32_t)(random() % 3 == 0 ? kLarge : 1 + random() % 600));
        case 4:
            return lateSlot(random() % 6, (uint32_t)(random() % 1024 * 4));
        default:
            return v;
    }
}

template <typename T>
void put(Bytes& b, size_t at, uint64_t value) {
    if (at + sizeof(T) <= b.size()) {
        T v = (T)value;
        memcpy(&b[at], &v, sizeof v);
    }
}

template <typename T>
T get(const Bytes& b, size_t at) {
    T v = 0;
    if (at + sizeof(T) <= b.size()) {
        memcpy(&v, &b[at], sizeof v);
    }
    return v;
}

struct Field {
    size_t offset, bytes;
};
#define FIELD(name) {offsetof(BlockHeader, name), sizeof(BlockHeader::name)}
// Counts and lengths come last: the block's parts must follow them.
const Field kFields[] = {
    FIELD(attempt),    FIELD(kind),         FIELD(sequence),    FIELD(segment),   FIELD(flags),     FIELD(objects),
    FIELD(arrayType),  FIELD(arrayLength),  FIELD(arrayOffset), FIELD(arrayHash), FIELD(root),      FIELD(totalObjects),
    FIELD(namedCount), FIELD(payloadBytes), FIELD(crossCount),  FIELD(lateCount), FIELD(typeCount), FIELD(namedBytes)};
const Field kRare[] = {FIELD(magic),   FIELD(version), FIELD(headerBytes), FIELD(checksum),
                       FIELD(imageId), FIELD(layout),  FIELD(blockBytes)};
#undef FIELD

// Where a block's parts begin, as far as they lie inside.
struct Parts {
    size_t payload, cross, late, types, names, end;
    explicit Parts(const Bytes& b) {
        auto limit = [&](uint64_t v) { return (size_t)(v < b.size() ? v : b.size()); };
        payload = limit(sizeof(BlockHeader));
        cross = limit(payload + align8((size_t)get<uint64_t>(b, offsetof(BlockHeader, payloadBytes)) & 0xffffff));
        late = limit(cross + 8ull * get<uint32_t>(b, offsetof(BlockHeader, crossCount)));
        types = limit(late + 16ull * get<uint32_t>(b, offsetof(BlockHeader, lateCount)));
        names = limit(types + align8(4ull * get<uint32_t>(b, offsetof(BlockHeader, typeCount))));
        end = b.size();
    }
};

void bump(Bytes& b, size_t offset, int by) {
    put<uint32_t>(b, offset, get<uint32_t>(b, offset) + (uint32_t)by);
}

// Offsets of objects in a payload, as the reader would go through them.
std::vector<size_t> objectsOf(const Bytes& b) {
    std::vector<size_t> out;
    Parts p(b);
    for (size_t at = p.payload; at + 16 <= p.cross && out.size() < 4096;) {
        const Plan* plan = world().f.scope.find(get<uint32_t>(b, at + 8));
        if (plan == nullptr) {
            break;
        }
        out.push_back(at);
        uint64_t size = plan->sizeOf(get<uint32_t>(b, at + 12));
        if (size > p.cross - at) {
            break;
        }
        at += size;
    }
    return out;
}

void alterObject(Bytes& b, Random& random) {
    std::vector<size_t> objects = objectsOf(b);
    if (objects.empty()) {
        return;
    }
    size_t at = objects[random() % objects.size()];
    const Plan* plan = world().f.scope.find(get<uint32_t>(b, at + 8));
    size_t other = objects[random() % objects.size()];
    uint32_t unit = (uint32_t)((other - sizeof(BlockHeader)) / 8 + 1);
    switch (random() % 8) {
        case 0:  // another class
            put<uint32_t>(b, at + 8, 1 + random() % 9);
            return;
        case 1:  // another length, or what lies there
            put<uint32_t>(b, at + 12,
                          random() % 2 == 0 ? interesting(random) : get<uint32_t>(b, at + 12) + random() % 3 - 1);
            return;
        case 2:
            put<uint64_t>(b, at, random());
            return;
        default:
            break;
    }
    if (plan->references.empty()) {
        put<uint8_t>(b, at + 12 + random() % 12, random() % 4);
        return;
    }
    uint32_t length = get<uint32_t>(b, at + 12);
    size_t slot = plan->isArray() ? at + 16 + 4 * (size_t)(length == 0 ? 0 : random() % length)
                                  : at + plan->references[random() % plan->references.size()].offset;
    switch (random() % 6) {
        case 0:
            put<uint32_t>(b, slot, 0);
            break;
        case 1:
            put<uint32_t>(b, slot, ~0u);
            break;
        case 2:
            put<uint32_t>(b, slot, 0x80000000u | (uint32_t)(random() % 4 == 0 ? random() : random() % 4));
            break;
        case 3:
            put<uint32_t>(b, slot, unit + random() % 2);
            break;
        default:
            put<uint32_t>(b, slot, unit);
    }
}

// A slot of some object, in the way a late entry names it.
uint64_t someLateSlot(const Input& in, Random& random) {
    const Bytes& b = in.blocks[random() % in.blocks.size()];
    std::vector<size_t> objects = objectsOf(b);
    uint64_t segment = get<uint64_t>(b, offsetof(BlockHeader, segment));
    if (objects.empty() || random() % 8 == 0) {
        return lateSlot(segment, (uint32_t)(random() % 5000));
    }
    size_t at = objects[random() % objects.size()];
    return lateSlot(segment, (uint32_t)(at - sizeof(BlockHeader) + 16 + 4 * (random() % 5)));
}

uint64_t someTarget(const Input& in, Random& random) {
    if (random() % 6 == 0) {
        return kNamed | random() % 18;
    }
    if (random() % 6 == 0) {
        return kNoTarget;
    }
    const Bytes& b = in.blocks[random() % in.blocks.size()];
    std::vector<size_t> objects = objectsOf(b);
    uint64_t segment = get<uint64_t>(b, offsetof(BlockHeader, segment));
    if (objects.empty()) {
        return target(segment, kLarge);
    }
    return target(segment, (uint32_t)((objects[random() % objects.size()] - sizeof(BlockHeader)) / 8 + 1));
}

void insert(Bytes& b, size_t at, uint64_t word) {
    b.insert(b.begin() + (long)(at < b.size() ? at : b.size()), (uint8_t*)&word, (uint8_t*)&word + 8);
}

void mutateOnce(Input& in, Random& random) {
    if (in.blocks.empty()) {
        in.blocks.emplace_back(sizeof(BlockHeader));
    }
    size_t i = random() % in.blocks.size();
    Bytes& b = in.blocks[i];
    Parts p(b);
    switch (random() % 22) {
        case 0:
        case 1: {
            const Field& f = kFields[random() % (sizeof kFields / sizeof *kFields)];
            uint64_t v = interesting(random);
            f.bytes == 8 ? put<uint64_t>(b, f.offset, v) : put<uint32_t>(b, f.offset, v);
            break;
        }
        case 2: {
            uint32_t flags[] = {0, kLast, kLast | kAlone, kAlone};
            put<uint32_t>(b, offsetof(BlockHeader, flags), flags[random() % 4]);
            break;
        }
        case 3:  // lost, twice, elsewhere
            if (in.blocks.size() > 1) {
                in.blocks.erase(in.blocks.begin() + (long)i);
            }
            break;
        case 4: {
            Bytes copy = in.blocks[i];
            in.blocks.insert(in.blocks.begin() + (long)(random() % (in.blocks.size() + 1)), copy);
            break;
        }
        case 5:
            std::swap(in.blocks[i], in.blocks[random() % in.blocks.size()]);
            break;
        case 6: {  // the image begins again here
            uint32_t attempt = get<uint32_t>(b, offsetof(BlockHeader, attempt)) + 1;
            if (random() % 2 == 0) {
                std::vector<Bytes> again(in.blocks.begin(),
                                         in.blocks.begin() + (long)(random() % in.blocks.size() + 1));
                in.blocks.insert(in.blocks.begin() + (long)i, again.begin(), again.end());
            }
            for (size_t k = i; k < in.blocks.size(); k++) {
                put<uint32_t>(in.blocks[k], offsetof(BlockHeader, attempt), attempt);
            }
            break;
        }
        case 7: {  // a late entry more
            uint64_t slot = someLateSlot(in, random), to = someTarget(in, random);
            insert(b, p.types, to);
            insert(b, p.types, slot);
            bump(b, offsetof(BlockHeader, lateCount), 1);
            break;
        }
        case 8: {
            uint64_t to = someTarget(in, random);
            insert(b, p.late, to);
            bump(b, offsetof(BlockHeader, crossCount), 1);
            break;
        }
        case 9:  // a late entry or a target less
            if (p.types >= p.late + 16) {
                b.erase(b.begin() + (long)p.late, b.begin() + (long)p.late + 16);
                bump(b, offsetof(BlockHeader, lateCount), -1);
            } else if (p.late >= p.cross + 8) {
                b.erase(b.begin() + (long)p.cross, b.begin() + (long)p.cross + 8);
                bump(b, offsetof(BlockHeader, crossCount), -1);
            }
            break;
        case 10:  // other lists
            if (p.types >= p.cross + 8) {
                put<uint64_t>(b, p.cross + random() % ((p.types - p.cross) / 8) * 8,
                              random() % 3 == 0   ? interesting(random)
                              : random() % 2 == 0 ? someTarget(in, random)
                                                  : someLateSlot(in, random));
            }
            break;
        case 11: {  // a type or a name
            if (random() % 2 == 0) {
                insert(b, p.names, 1 + random() % 9);
                bump(b, offsetof(BlockHeader, typeCount), 2);
            } else {
                const char* text = random() % 2 == 0 ? "\4\0leaf\0" : "\4\0node\0";
                uint64_t word;
                memcpy(&word, text, 8);
                insert(b, p.names, word);
                bump(b, offsetof(BlockHeader, namedCount), 1);
                bump(b, offsetof(BlockHeader, namedBytes), 6);
            }
            break;
        }
        case 12: {  // a part of another block's payload
            const Bytes& other = in.blocks[random() % in.blocks.size()];
            std::vector<size_t> objects = objectsOf(other);
            if (!objects.empty()) {
                size_t at = objects[random() % objects.size()];
                size_t n = random() % 200 / 8 * 8 + 8;
                Bytes part(other.begin() + (long)at,
                           other.begin() + (long)(at + n < other.size() ? at + n : other.size()));
                std::vector<size_t> here = objectsOf(b);
                size_t to = here.empty() ? p.payload : here[random() % here.size()];
                b.insert(b.begin() + (long)to, part.begin(), part.end());
                put<uint64_t>(b, offsetof(BlockHeader, payloadBytes),
                              get<uint64_t>(b, offsetof(BlockHeader, payloadBytes)) + part.size());
                bump(b, offsetof(BlockHeader, objects), (int)(random() % 4));
            }
            break;
        }
        case 13: {
            put<uint64_t>(b, offsetof(BlockHeader, root), someTarget(in, random));
            break;
        }
        case 14: {
            const Field& f = kRare[random() % (sizeof kRare / sizeof *kRare)];
            if (f.offset + f.bytes <= b.size()) {
                b[f.offset + random() % f.bytes] ^= (uint8_t)(1u << random() % 8);
            }
            break;
        }
        case 20: {  // a hole, and the late entry that tells it, in this block or a later one
            std::vector<size_t> objects = objectsOf(b);
            if (objects.empty()) {
                break;
            }
            size_t at = objects[random() % objects.size()];
            const Plan* plan = world().f.scope.find(get<uint32_t>(b, at + 8));
            uint32_t length = get<uint32_t>(b, at + 12);
            if (plan->references.empty() || (plan->isArray() && length == 0)) {
                break;
            }
            size_t slot = plan->isArray() ? at + 16 + 4 * (size_t)(random() % length)
                                          : at + plan->references[random() % plan->references.size()].offset;
            put<uint32_t>(b, slot, ~0u);
            uint64_t name = lateSlot(get<uint64_t>(b, offsetof(BlockHeader, segment)), (uint32_t)(slot - p.payload));
            uint64_t to = someTarget(in, random);
            Bytes& later = in.blocks[i + random() % (in.blocks.size() - i)];
            size_t end = Parts(later).types;
            insert(later, end, to);
            insert(later, end, name);
            bump(later, offsetof(BlockHeader, lateCount), 1);
            break;
        }
        case 15:
            in.choices ^= (uint8_t)(1u << random() % 2);
            break;
        case 16:  // cut short or grown, with other bytes
            b.resize(random() % (b.size() + 1) / 8 * 8 + random() % 3 * 8, (uint8_t)random());
            break;
        case 17:
            if (!b.empty()) {
                size_t from = random() % b.size();
                size_t n = 1 + random() % (b.size() - from);
                LLVMFuzzerMutate(&b[from], n < 64 ? n : 64, n < 64 ? n : 64);
            }
            break;
        default:
            alterObject(b, random);
    }
}

// So that most of what is altered is looked at by the checks further in. Sometimes it is left as it is.
void repair(Input& in, Random& random) {
    uint64_t sequence = 0;
    uint32_t attempt = 0;
    bool first = true;
    for (Bytes& b : in.blocks) {
        if (b.size() < sizeof(BlockHeader) || random() % 64 == 0) {
            continue;
        }
        uint32_t own = get<uint32_t>(b, offsetof(BlockHeader, attempt));
        if (random() % 32 != 0) {
            sequence = first || own > attempt ? 0 : sequence + 1;
            put<uint64_t>(b, offsetof(BlockHeader, sequence), sequence);
        }
        attempt = first || own > attempt ? own : attempt;
        first = false;
        b.resize(align8(b.size()));
        BlockHeader h;
        memcpy(&h, b.data(), sizeof h);
        uint64_t wanted = h.payloadBytes <= 1u << 20 ? blockBytes(h) : ~0ull;
        if (wanted != b.size() && wanted < 1u << 18 && random() % 16 != 0) {
            b.resize((size_t)wanted);
        }
        put<uint64_t>(b, offsetof(BlockHeader, blockBytes), b.size());
        if (b.size() >= sizeof(BlockHeader)) {
            // malloc's alignment will do for the checksum's words.
            put<uint64_t>(b, offsetof(BlockHeader, checksum), blockChecksum((const BlockHeader*)b.data(), b.size()));
        }
    }
}

// ---- the first corpus: small graphs, as the writer writes them

std::vector<Bytes> seeds() {
    World& w = world();
    FakeVm& f = w.f;
    Random random(20261130);
    std::string error;
    SlotPool* pool = SlotPool::create(Writer::slotBytesFor(kSegmentBytes), 1 << 10, false, &error);
    CHECK(pool != nullptr);
    std::vector<Bytes> out;
    for (uint32_t n : {1u, 2u, 5u, 12u, 30u, 60u, 120u, 250u}) {
        for (int large = 0; large < 3; large++) {
            std::vector<Address> nodes, all;
            for (uint32_t i = 0; i < n; i++) {
                Address a = f.newNode(random());
                nodes.push_back(a);
                all.push_back(a);
                Address bytes = f.newArray(FakeVm::kBytesArray, (uint32_t)(random() % 24), 1);
                Address other = f.allocate(random() % 2 == 0 ? FakeVm::kText : FakeVm::kView, 24, 0);
                FakeVm::set(other, 16, bytes);
                if (vm.keyOf(other) == FakeVm::kText) {
                    *(uint8_t*)(other + 12) = (uint8_t)(random() % 2);
                }
                if (n > 2 || large == 0) {
                    all.push_back(other);
                }
                if (random() % 4 == 0) {
                    Address flags = f.newArray(FakeVm::kFlags, (uint32_t)(random() % 9), 1);
                    memset((void*)(flags + 16), 1, *(uint32_t*)(flags + 12));
                    all.push_back(flags);
                    all.push_back(f.newArray(random() % 2 == 0 ? FakeVm::kNodes : FakeVm::kObjects, 3, 4));
                    all.push_back(FakeVm::get(w.names.array, 16 + 4 * (random() % 2)));
                    nodes.push_back(FakeVm::get(w.names.array, 20));
                }
            }
            if (large == 1) {
                all.push_back(f.newArray(FakeVm::kBytesArray, 2600, 1));
                all.push_back(f.newArray(FakeVm::kFlags, 1100, 1));
                Address text = f.allocate(FakeVm::kText, 24, 0);
                FakeVm::set(text, 16, all[all.size() - 2]);
                all.push_back(text);
            } else if (large == 2) {
                all.push_back(f.newArray(FakeVm::kObjects, 4200, 4));
                all.push_back(f.newArray(FakeVm::kNodes, 4200, 4));
            }
            for (Address a : all) {
                Plan* p = types.plans.find(vm.keyOf(a));
                bool array = p->kind == Kind::ReferenceArray;
                size_t length = array ? *(uint32_t*)(a + 12) : p == f.node ? 3 : 0;
                for (size_t i = 0; i < length; i++) {
                    const Reference& r = p->references[array ? 0 : i];
                    auto& from = r.declared == f.declaredNode ? nodes : all;
                    if (random() % 4 != 0 && (i < 20 || random() % 20 == 0)) {
                        FakeVm::set(a, array ? 16 + 4 * i : r.offset, from[random() % from.size()]);
                    }
                }
            }
            Address root = f.newArray(FakeVm::kObjects, (uint32_t)all.size(), 4);
            for (size_t i = 0; i < all.size(); i++) {
                FakeVm::set(root, 16 + 4 * i, all[i]);
            }
            Input in;
            in.choices = (uint8_t)(random() % 4);
            in.blocks =
                write(pool, large == 0 && n < 6 ? nodes[0] : root, kImage, kSegmentBytes, false, &w.names).blocks;
            // Named objects keep what the graph put into them only until the next one.
            for (size_t offset : {24, 28, 32}) {
                FakeVm::set(FakeVm::get(w.names.array, 20), offset, 0);
            }
            f.release(w.clean);
            out.push_back(in.bytes());
        }
    }
    delete pool;
    return out;
}

Bytes mutate(const uint8_t* data, size_t size, size_t most, uint64_t seed) {
    static const std::vector<Bytes> good = seeds();
    Random random(seed);
    // A corpus fills with refused images, and their offspring is refused too: often one starts from a good image.
    const Bytes& fresh = good[random() % good.size()];
    Input in = random() % 3 == 0 ? Input::parse(fresh.data(), fresh.size()) : Input::parse(data, size);
    // Some as they are: only repaired, which makes a good image of what libFuzzer crossed.
    for (uint64_t k = random() % 16 == 0 ? 0 : 1 + random() % 4; k > 0; k--) {
        mutateOnce(in, random);
    }
    repair(in, random);
    Bytes out = in.bytes();
    if (out.size() > most) {
        out.resize(most);
    }
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    run(Input::parse(data, size));
    return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t maxSize, unsigned seed) {
    Bytes out = mutate(data, size, maxSize, seed);
    memcpy(data, out.data(), out.size());
    return out.size();
}

#if defined(SKYWAY_LIBFUZZER)

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    atexit(report);
    return 0;
}

#else

// libFuzzer's own mutation, in small: some bytes anew, the size stays.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t) {
    static Random random(5);
    for (int k = 0; k < 3; k++) {
        data[random() % size] = (uint8_t)random();
    }
    return size;
}

int main(int count, char** arguments) {
    uint64_t most = 20000, seed = 20261130;
    std::vector<Bytes> files;
    for (int i = 1; i < count; i++) {
        std::string a = arguments[i];
        if (a.rfind("-runs=", 0) == 0) {
            most = strtoull(a.c_str() + 6, nullptr, 10);
        } else if (a.rfind("-seed=", 0) == 0) {
            seed = strtoull(a.c_str() + 6, nullptr, 10);
        } else if (a.rfind("-write=", 0) == 0) {
            int n = 0;
            for (const Bytes& s : seeds()) {
                FILE* f = fopen((a.substr(7) + "/seed-" + std::to_string(n++)).c_str(), "wb");
                CHECK(f != nullptr && fwrite(s.data(), 1, s.size(), f) == s.size() && fclose(f) == 0);
            }
            return 0;
        } else {
            FILE* f = fopen(a.c_str(), "rb");
            CHECK(f != nullptr);
            Bytes b(1 << 20);
            b.resize(fread(b.data(), 1, b.size(), f));
            fclose(f);
            files.push_back(b);
        }
    }
    for (const Bytes& b : files) {
        LLVMFuzzerTestOneInput(b.data(), b.size());
    }
    if (!files.empty()) {
        report();
        return 0;
    }
    // Good images are good: a target that refused everything would test nothing.
    std::vector<Bytes> corpus = seeds();
    for (const Bytes& s : corpus) {
        LLVMFuzzerTestOneInput(s.data(), s.size());
    }
    CHECK(accepted == runs);
    Random random(seed);
    while (runs < most) {
        Bytes b = corpus[random() % corpus.size()];
        // Alterations add up for a while.
        for (uint64_t k = 1 + random() % 3; k > 0 && runs < most; k--) {
            b = mutate(b.data(), b.size(), 1 << 18, random());
            LLVMFuzzerTestOneInput(b.data(), b.size());
        }
    }
    report();
    CHECK(accepted * 50 > runs && (runs - accepted) * 5 > runs);
    return 0;
}

#endif

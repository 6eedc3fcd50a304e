// Images: what is written lands as it was, and nothing else lands at all.
#include <random>

#include "fake_heap.h"

using namespace skyway;

namespace {

// Nodes with random edges, byte arrays of many sizes, reference arrays small and large, cycles and sharing.
Address randomGraph(FakeVm& f, std::mt19937_64& random, uint32_t n) {
    std::vector<Address> nodes, all;
    for (uint32_t i = 0; i < n; i++) {
        Address a = f.newNode(random());
        if (random() % 4 == 0) {
            *(uint64_t*)a |= (random() & 0x7fffffff) << 8;  // with an identity hash
        }
        nodes.push_back(a);
        all.push_back(a);
        if (random() % 3 == 0) {
            uint32_t length = (uint32_t)(random() % 64);
            if (random() % 500 == 0) {
                length = (uint32_t)(random() % 300000);
            }
            Address b = f.newArray(FakeVm::kBytesArray, length, 1);
            for (uint32_t k = 0; k < length; k++) {
                ((uint8_t*)b + 16)[k] = (uint8_t)(k * 7 + i);
            }
            all.push_back(b);
        }
        if (random() % 10 == 0) {
            all.push_back(f.allocate(FakeVm::kLeaf, 16, (uint32_t)random()));
        }
        if (random() % 20 == 0) {
            uint32_t length = (uint32_t)(random() % (random() % 20 == 0 ? 9000 : 20));
            all.push_back(f.newArray(random() % 4 == 0 ? FakeVm::kNodes : FakeVm::kObjects, length, 4));
        }
    }
    for (Address a : all) {
        Plan* p = types.plans.find(vm.keyOf(a));
        if (p->kind == Kind::ReferenceArray) {
            for (uint32_t i = 0; i < *(uint32_t*)(a + 12); i++) {
                auto& from = p == f.nodes ? nodes : all;
                FakeVm::set(a, 16 + 4 * (size_t)i, random() % 3 == 0 ? 0 : from[random() % from.size()]);
            }
        } else if (p == f.node) {
            for (size_t offset : {24, 28, 32}) {
                auto& from = offset == 28 ? nodes : all;
                size_t near = random() % 8 == 0 ? random() % from.size()
                                                : (size_t)(random() % 50 + from.size() - 50) % from.size();
                FakeVm::set(a, offset, random() % 5 == 0 ? 0 : from[near]);
            }
        }
    }
    Address root = f.newArray(FakeVm::kObjects, (uint32_t)all.size(), 4);
    for (size_t i = 0; i < all.size(); i++) {
        FakeVm::set(root, 16 + 4 * i, all[i]);
    }
    return root;
}

void repair(std::vector<uint8_t>& block) {
    if (block.size() >= sizeof(BlockHeader) && block.size() % 8 == 0) {
        BlockHeader* h = (BlockHeader*)block.data();
        h->checksum = blockChecksum(h, block.size());
    }
}

}  // namespace

int main() {
    static FakeVm f;
    f.makePlans();
    std::string error;
    const uint32_t segmentBytes = 64 << 10;
    SlotPool* pool = SlotPool::create(Writer::slotBytesFor(segmentBytes), 1 << 16, false, &error);
    CHECK(pool != nullptr);
    std::mt19937_64 random(20261130);
    const size_t clean = f.top;

    // One object, a list, a ring.
    Address one = f.newNode(5);
    FakeVm::set(one, 24, one);
    {
        Lander l(f, 1);
        CHECK(same(f, one, l.all(write(pool, one, 1, segmentBytes))));
    }
    Address last = 0, first = 0;
    for (int i = 0; i < 200000; i++) {
        Address a = f.newNode((uint64_t)i);
        FakeVm::set(a, 24, last);
        FakeVm::set(a, 32, first);
        first = first == 0 ? a : first;
        last = a;
    }
    FakeVm::set(first, 24, last);
    {
        Lander l(f, 2);
        CHECK(same(f, last, l.all(write(pool, last, 2, segmentBytes))));
    }
    f.top = clean;

    for (uint32_t n : {1u, 10u, 300u, 3000u, 40000u}) {
        Address root = randomGraph(f, random, n);
        for (bool steps : {false, true}) {
            Lander l(f, n);
            Image image = write(pool, root, n, segmentBytes, steps);
            Address landed = l.all(image);
            if (landed == 0) {
                fprintf(stderr, "%s\n", l.error.c_str());
            }
            CHECK(landed != 0 && same(f, root, landed));
        }
        CHECK(pool->inUse() == 0);
        f.top = clean;
    }

    // Faults in whole blocks: cut, lost, twice, swapped, of another image, altered without a new checksum.
    Address root = randomGraph(f, random, 5000);
    const Image good = write(pool, root, 9, segmentBytes);
    CHECK(good.blocks.size() > 3);
    const size_t withGraph = f.top;
    auto refuses = [&](Image image) {
        Lander l(f, 9);
        Address landed = l.all(image);
        CHECK(landed == 0);
        CHECK(!l.error.empty());
        f.top = withGraph;
    };
    for (size_t b = 0; b < good.blocks.size(); b++) {
        Image lost = good, twice = good, cut = good, altered = good;
        lost.blocks.erase(lost.blocks.begin() + (long)b);
        refuses(lost);
        twice.blocks.insert(twice.blocks.begin() + (long)b, good.blocks[b]);
        refuses(twice);
        cut.blocks[b].resize(random() % cut.blocks[b].size());
        refuses(cut);
        altered.blocks[b][random() % altered.blocks[b].size()] ^= (uint8_t)(1u << random() % 8);
        refuses(altered);
    }
    Image swapped = good;
    std::swap(swapped.blocks[0], swapped.blocks[1]);
    refuses(swapped);
    refuses(write(pool, root, 10, segmentBytes));

    // Bytes altered anywhere, with a checksum that fits: an error, or a graph that can be walked.
    int landedCount = 0, refusedCount = 0;
    for (int i = 0; i < 3000; i++) {
        Image image = good;
        auto& block = image.blocks[random() % image.blocks.size()];
        for (int k = (int)(random() % 4); k >= 0; k--) {
            size_t at = random() % 3 == 0 ? random() % sizeof(BlockHeader) : random() % block.size();
            switch (random() % 4) {
                case 0:
                    block[at] ^= (uint8_t)(1u << random() % 8);
                    break;
                case 1:
                    block[at] = (uint8_t)random();
                    break;
                case 2:
                    *(uint32_t*)&block[at / 4 * 4] = (uint32_t)random();
                    break;
                default:
                    *(uint32_t*)&block[at / 4 * 4] = (uint32_t)(random() % 70000);
            }
        }
        if (random() % 10 == 0) {
            block.resize(random() % block.size() / 8 * 8);
        }
        repair(block);
        Lander l(f, 9);
        Address landed = l.all(image);
        if (landed == 0) {
            CHECK(!l.error.empty());
            refusedCount++;
        } else {
            same(f, landed, landed);
            landedCount++;
        }
        f.top = withGraph;
    }
    CHECK(refusedCount > 100);
    CHECK(landedCount > 100);
    fprintf(stderr, "altered images: %d refused, %d landed\n", refusedCount, landedCount);
    delete pool;
    return 0;
}

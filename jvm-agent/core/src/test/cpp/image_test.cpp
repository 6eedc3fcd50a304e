// Images: what is written lands as it was, and nothing else lands at all.
#include <algorithm>
#include <random>
#include <thread>

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

BlockHeader* header(std::vector<uint8_t>& block) {
    return (BlockHeader*)block.data();
}

// Appends a word to the end of a block's lists, which must be its end.
void append(std::vector<uint8_t>& block, uint64_t word) {
    block.insert(block.end(), (uint8_t*)&word, (uint8_t*)&word + 8);
    header(block)->blockBytes = block.size();
}

// A block with nothing but a header.
std::vector<uint8_t> emptyBlock(uint64_t sequence, uint64_t segment) {
    std::vector<uint8_t> block(sizeof(BlockHeader));
    BlockHeader* h = header(block);
    h->magic = kMagic;
    h->version = kVersion;
    h->headerBytes = sizeof(BlockHeader);
    h->imageId = 1;
    h->layout = 77;
    h->sequence = sequence;
    h->segment = segment;
    h->blockBytes = block.size();
    return block;
}

// What single fields could do, each of a kind that once did: found by reading or by the fuzzer.
struct BadBytes {
    FakeVm& f;
    SlotPool* pool;
    size_t clean;
    static constexpr uint32_t kSegment = 4096;

    BadBytes(FakeVm& fake, SlotPool* p) : f(fake), pool(p), clean(fake.top) {}

    // The sanitizers and verify() see to it that nothing bad lands; `why` is part of the error.
    void refused(Image image, const char* why) {
        for (auto& b : image.blocks) {
            repair(b);
        }
        Lander l(f, 1);
        CHECK(l.all(image) == 0);
        if (l.error.find(why) == std::string::npos) {
            fprintf(stderr, "not \"%s\": %s\n", why, l.error.c_str());
            abort();
        }
        verify(f, (Address)f.heap + clean);
    }
    Image alone(Address root) {
        Image image = write(pool, root, 1, kSegment);
        CHECK(image.blocks.size() == 1);
        CHECK(header(image.blocks[0])->flags == (kLast | kAlone));
        return image;
    }
    uint8_t* object(std::vector<uint8_t>& block, uint64_t unit) {
        return block.data() + sizeof(BlockHeader) + (unit - 1) * 8;
    }

    // The only segment has no exports, so its slots cannot be told late: the engine read through a null there.
    void lateEntriesOfTheOnlySegment() {
        Address node = f.newNode(1);
        Image image = alone(node);
        auto& block = image.blocks[0];
        *(uint32_t*)(object(block, 1) + 24) = ~0u;
        header(block)->lateCount = 1;
        header(block)->crossCount = header(block)->typeCount = 0;
        block.resize(sizeof(BlockHeader) + header(block)->payloadBytes);
        append(block, lateSlot(0, 24));
        append(block, kNoTarget);
        refused(image, "flags of no meaning");
        // The same entry in a block that follows.
        Image two = alone(node);
        *(uint32_t*)(object(two.blocks[0], 1) + 24) = ~0u;
        two.blocks.push_back(emptyBlock(1, 1));
        header(two.blocks[1])->attempt = header(two.blocks[0])->attempt;
        header(two.blocks[1])->lateCount = 1;
        append(two.blocks[1], lateSlot(0, 24));
        append(two.blocks[1], kNoTarget);
        refused(two, "after the image's last");
        Image piece = alone(node);
        header(piece.blocks[0])->kind = BlockKind::Piece;
        refused(piece, "flags of no meaning");
    }

    // A table by segment number grew by 65,536 cells with each block of 144 bytes.
    void segmentNumbersFarOut() {
        Lander l(f, 1, 16);
        uint64_t number = 0;
        bool ok = true;
        for (uint64_t sequence = 0; ok && sequence < 64; sequence++) {
            auto block = emptyBlock(sequence, number += 65000);
            repair(block);
            Reader::Found found = l.reader.check(block.data(), block.size());
            ok = found.result == Reader::kOk;
            if (ok) {
                Address chunk = f.newArray(FakeVm::kLongs, (uint32_t)found.chunkWords, 8);
                CHECK(l.reader.land(block.data(), (uint8_t*)chunk + 16) == Reader::kOk);
            }
        }
        CHECK(!ok && l.reader.error().find("far from those") != std::string::npos);
        CHECK(l.reader.nativeBytes() < 16u << 20);
    }

    // Java allocates a table of names from this count.
    void moreNamesThanBytes() {
        for (uint32_t count : {1u, 0x7fffffffu, 0xffffffffu}) {
            Image image = alone(f.newNode(1));
            header(image.blocks[0])->namedCount = count;
            refused(image, "more names than it has bytes for");
        }
    }

    // Each first piece reserved what its array's length claims: 16 GiB of address space for 8 bytes.
    void arraysThatClaimToBeLarge() {
        Lander l(f, 1);
        for (uint64_t i = 0; i < 20000; i++) {
            auto block = emptyBlock(i, i);
            BlockHeader* h = header(block);
            h->kind = BlockKind::Piece;
            h->arrayType = 3;
            h->arrayLength = 0x7fffffff;
            h->payloadBytes = 8;
            append(block, kNoTarget);
            repair(block);
            CHECK(l.reader.check(block.data(), block.size()).result == Reader::kOk);
            CHECK(l.reader.keepPiece(block.data()) == Reader::kOk);
            uint64_t n;
            CHECK(l.reader.largeElements(i, &n) == nullptr);
        }
        CHECK(l.reader.nativeBytes() < 16u << 20);
    }

    // Values that compiled code uses without a look.
    void valuesThatTheVmNeverGives() {
        Address bytes = f.newArray(FakeVm::kBytesArray, 4, 1);
        Address text = f.allocate(FakeVm::kText, 24, 0);
        FakeVm::set(text, 16, bytes);
        for (int coder = 0; coder < 256; coder++) {
            Image image = alone(text);
            *(object(image.blocks[0], 1) + 12) = (uint8_t)coder;
            if (coder > 1) {
                refused(image, "a value that the VM never gives it");
            } else {
                repair(image.blocks[0]);
                Lander l(f, 1);
                CHECK(l.all(image) != 0);
            }
        }
        Image null = alone(text);
        *(uint32_t*)(object(null.blocks[0], 1) + 16) = 0;
        refused(null, "null that its class cannot do without");

        for (uint32_t length : {3u, 3000u}) {  // in a segment, and in pieces
            Address flags = f.newArray(FakeVm::kFlags, length, 1);
            Image image = write(pool, flags, 1, kSegment);
            for (uint32_t at : {0u, length - 1}) {
                Image altered = image;
                size_t base = length > 1000 ? 0 : 16;
                size_t first = length > 1000 ? header(altered.blocks[0])->payloadBytes : length;
                size_t block = at < first ? 0 : 1;
                altered.blocks[block][sizeof(BlockHeader) + base + (block == 0 ? at : at - first)] = 2;
                refused(altered, "a value that the VM never gives it");
            }
        }
        f.release(clean);

        // Told late, and told to be null: the array is large, so that it comes after the text.
        Address large = f.newArray(FakeVm::kBytesArray, 3000, 1);
        text = f.allocate(FakeVm::kText, 24, 0);
        FakeVm::set(text, 16, large);
        Image late = write(pool, text, 1, kSegment);
        {
            Lander l(f, 1);
            CHECK(l.all(late) != 0);
        }
        bool found = false;
        for (auto& b : late.blocks) {
            if (header(b)->lateCount == 1) {
                size_t list = sizeof(BlockHeader) + align8(header(b)->payloadBytes) + 8 * header(b)->crossCount;
                *(uint64_t*)(b.data() + list + 8) = kNoTarget;
                found = true;
            }
        }
        CHECK(found);
        refused(late, "null that its class cannot do without");
    }

    // What Java must look at needs exports, whatever the flag says.
    void viewsAreLookedAt() {
        Address view = f.allocate(FakeVm::kView, 24, 0);
        FakeVm::set(view, 16, f.newArray(FakeVm::kBytesArray, 4, 1));
        Lander l(f, 1);
        CHECK(l.all(alone(view)) != 0 && l.arrived == 1);
        Address many = f.newArray(FakeVm::kObjects, 900, 4);
        for (size_t i = 0; i < 900; i++) {
            Address a = f.allocate(FakeVm::kView, 24, 0);
            FakeVm::set(a, 16, FakeVm::get(view, 16));
            FakeVm::set(many, 16 + 4 * i, a);
        }
        Lander all(f, 1);
        CHECK(all.all(write(pool, many, 1, kSegment)) != 0 && all.arrived == 900);
    }

    void run() {
        lateEntriesOfTheOnlySegment();
        segmentNumbersFarOut();
        moreNamesThanBytes();
        arraysThatClaimToBeLarge();
        valuesThatTheVmNeverGives();
        viewsAreLookedAt();
        f.release(clean);
    }
};

// Roots of a stream: what a later one shares with earlier ones is named, by the same numbers on both sides.
void rootsOfAStream(FakeVm& f, SlotPool* pool, std::mt19937_64& random, uint32_t segmentBytes) {
    const uint32_t most = 100000;
    Address sent = f.newArray(FakeVm::kObjects, most, 4), received = f.newArray(FakeVm::kObjects, most, 4);
    uint32_t count = 0;
    Writer w(pool, segmentBytes, 77);
    Address roots = f.newArray(FakeVm::kObjects, 4, 4), landed = f.newArray(FakeVm::kObjects, 4, 4);
    for (uint32_t i = 0; i < 4; i++) {
        Address root = i == 2 ? FakeVm::get(roots, 16) : randomGraph(f, random, i == 0 ? 5000 : 300);
        if (i == 1) {
            // Over what was sent and what is new.
            FakeVm::set(root, 16, FakeVm::get(roots, 16));
            FakeVm::set(root, 20, FakeVm::get(FakeVm::get(roots, 16), 16 + 4 * 77));
        } else if (i == 3) {
            FakeVm::set(root, 16, roots);
        }
        FakeVm::set(roots, 16 + 4 * i, root);
        w.begin(i + 1, &root);
        w.setSent(&sent, count, nullptr);
        if (i == 3) {
            // The table is of another time: made again in the window.
            f.collections++;
        }
        uint32_t room = most - count;
        Address part = f.newArray(FakeVm::kObjects, room, 4), parts = f.newArray(FakeVm::kObjects, 2, 4);
        FakeVm::set(parts, 16, part);
        FakeVm::set(parts, 20, f.newArray(FakeVm::kObjects, 1, 4));
        if (i == 1) {
            CHECK(w.walkAndNote(&parts) == Writer::kDone);
        } else {
            CHECK(w.step(0, {true}) == Writer::kDone);
            w.sources();
            CHECK(w.note(&parts, 0) == Writer::kDone);
        }
        uint32_t n = w.sources();
        CHECK((n == 0) == (i == 2) && n < room);
        f.collections++;
        CHECK(w.note(&parts, 0) == Writer::kMoved);

        Image image;
        std::vector<uint64_t> larges;
        Writer::Finished done;
        while (w.take(0, &done) == 1) {
            uint8_t* at = pool->at(done.slot, done.bytes);
            image.blocks.emplace_back(at, at + done.bytes);
            pool->release(done.slot);
            CHECK((header(image.blocks.back())->flags & kAlone) == 0);
            if (header(image.blocks.back())->kind == BlockKind::Piece) {
                larges.push_back(header(image.blocks.back())->segment);
            }
        }
        Lander l(f, i + 1);
        l.names = received;
        l.reader.setHandles(&l.spine, l.spineSize, &l.names, most, &l.holder);
        Address got = l.all(image);
        CHECK(got != 0);
        FakeVm::set(landed, 16 + 4 * i, got);
        uint32_t at = count;
        for (uint32_t s = 0; s < l.spineSize; s++) {
            Address in = FakeVm::get(l.spine, 16 + 4 * (size_t)s);
            bool large = std::find(larges.begin(), larges.end(), s) != larges.end();
            for (uint32_t k = 0; in != 0 && k < (large ? 1 : *(uint32_t*)(in + 12)); k++) {
                FakeVm::set(received, 16 + 4 * (size_t)at++, large ? in : FakeVm::get(in, 16 + 4 * (size_t)k));
            }
        }
        CHECK(at - count == n);
        for (uint32_t k = 0; k < n; k++) {
            Address from = FakeVm::get(part, 16 + 4 * (size_t)k);
            CHECK(vm.keyOf(from) == vm.keyOf(FakeVm::get(received, 16 + 4 * (size_t)(count + k))));
            FakeVm::set(sent, 16 + 4 * (size_t)(count + k), from);
        }
        count = at;
    }
    // The last root has sent the array of roots as it was then: all four of them.
    Address copies = FakeVm::get(FakeVm::get(landed, 28), 16);
    CHECK(same(f, roots, copies));
    for (size_t i = 0; i < 4; i++) {
        CHECK(FakeVm::get(copies, 16 + 4 * i) == FakeVm::get(landed, 16 + 4 * i));
    }
    // What was given to write to has grown old.
    Address root = f.newNode(1), parts = f.newArray(FakeVm::kObjects, 1, 4);
    FakeVm::set(parts, 16, f.newArray(FakeVm::kObjects, 8, 4));
    Address young = f.youngStart;
    f.youngStart = (Address)f.heap + f.top;
    w.begin(9, &root);
    w.setSent(&sent, 0, nullptr);
    CHECK(w.walkAndNote(&parts) == Writer::kMoved);
    CHECK(w.step(0, {true}) == Writer::kDone && w.sources() == 1);
    CHECK(w.note(&parts, 0) == Writer::kYield);
    f.youngStart = young;
    // Sent anew, although it was sent.
    FakeVm::set(sent, 16, root);
    w.begin(10, &root);
    w.setSent(&sent, 1, &root);
    CHECK(w.step(0, {true}) == Writer::kDone && w.sources() == 1);
    w.begin(11, &root);
    w.setSent(&sent, 1, nullptr);
    CHECK(w.step(0, {true}) == Writer::kDone && w.sources() == 0);
}

// A walk's last window waits for the receiver when many blocks are under way, and for nobody who does not come.
void lastWindows(FakeVm& f) {
    std::string error;
    const uint32_t segmentBytes = 4 << 10, slots = 4;
    SlotPool* pool = SlotPool::create(Writer::slotBytesFor(segmentBytes), slots, false, &error);
    CHECK(pool != nullptr);
    Address list = 0;
    for (uint64_t i = 0; i < 100000; i++) {
        Address a = f.newNode(i);
        FakeVm::set(a, 24, list);
        list = a;
    }
    for (bool comes : {true, false}) {
        Writer w(pool, segmentBytes, 77);
        w.setPatience(comes ? INT64_MAX / 2 : 1000000);
        w.begin(1, &list);
        uint32_t most = 0, blocks = 0;
        auto receive = [&] {
            Writer::Finished done;
            while (w.take(comes ? 1000 : 0, &done) == 1) {
                most = std::max(most, pool->inUse());
                blocks++;
                pool->release(done.slot);
            }
        };
        std::thread receiver;
        if (comes) {
            receiver = std::thread(receive);
        }
        CHECK(w.step(0, {true, false, true}) == Writer::kDone);
        if (comes) {
            receiver.join();
            CHECK(most <= slots + Writer::kBeyond + 2);
        } else {
            receive();
            CHECK(most == blocks);
        }
        CHECK(blocks > 3 * (slots + Writer::kBeyond));
        CHECK(pool->inUse() == 0);
    }
    delete pool;
}

// A class that Java must learn is met at the beginning: the walk looks a bit further, and not to the graph's end,
// however many windows it has and wherever they end.
void learningWalks(FakeVm& f) {
    std::string error;
    const uint32_t segmentBytes = 64 << 10, count = 500000;
    SlotPool* pool = SlotPool::create(Writer::slotBytesFor(segmentBytes), 1 << 16, false, &error);
    CHECK(pool != nullptr);
    Address list = 0;
    for (uint64_t i = 0; i < count; i++) {
        Address a = f.newNode(i);
        FakeVm::set(a, 24, list);
        list = a;
    }
    const uint32_t unknownKey = 4242;
    FakeVm::set(list, 32, f.allocate(unknownKey, 16, 0));
    const Writer::Manner manners[] = {{}, {false, true}};
    for (const Writer::Manner& manner : manners) {
        for (int64_t budget : {(int64_t)0, (int64_t)1}) {
            Writer w(pool, segmentBytes, 77);
            Address found[4] = {};
            void* holders[4] = {&found[0], &found[1], &found[2], &found[3]};
            w.setHolders(holders, 4);
            w.begin(1, &list);
            Writer::Result r = Writer::kYield;
            while (r == Writer::kYield) {
                r = w.step(budget, manner);
            }
            CHECK(r == Writer::kStopped && w.found() == 1 && vm.keyOf(found[0]) == unknownKey);
            CHECK(w.objectsSoFar() > 200000 && w.objectsSoFar() < 210000);
            CHECK(pool->inUse() <= 1);
        }
    }
    delete pool;
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

    BadBytes(f, pool).run();

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
    f.release(clean);

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
        f.release(clean);
    }

    rootsOfAStream(f, pool, random, segmentBytes);
    CHECK(pool->inUse() == 0);
    f.release(clean);

    lastWindows(f);
    f.release(clean);
    learningWalks(f);
    f.release(clean);

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
        f.release(withGraph);
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
            landedCount++;
        }
        verify(f, (Address)f.heap + withGraph);
        f.release(withGraph);
    }
    CHECK(refusedCount > 100);
    CHECK(landedCount > 100);
    fprintf(stderr, "altered images: %d refused, %d landed\n", refusedCount, landedCount);
    delete pool;
    return 0;
}

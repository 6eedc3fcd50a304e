// The engine's parts by themselves: checksum, slots, side table, holes.
#include <unistd.h>

#include <random>
#include <set>
#include <thread>

#include "fake_heap.h"

namespace skyway {
uint64_t softChecksum(const void* data, size_t bytes, uint64_t seed);
}

using namespace skyway;

namespace {

void checksums() {
    std::mt19937_64 random(1);
    std::vector<uint64_t> words(1000);
    for (auto& w : words) {
        w = random();
    }
    for (size_t n = 0; n < words.size(); n++) {
        uint64_t c = checksum(words.data(), n * 8, n);
        CHECK(c == softChecksum(words.data(), n * 8, n));
        if (n > 0) {
            size_t at = random() % n;
            uint64_t bit = 1ull << random() % 64;
            words[at] ^= bit;
            CHECK(checksum(words.data(), n * 8, n) != c);
            words[at] ^= bit;
        }
    }
}

void slots() {
    std::string error;
    for (bool shared : {false, true}) {
        SlotPool* p = SlotPool::create(64 << 10, 4, shared, &error);
        CHECK(p != nullptr);
        std::set<int64_t> got;
        for (int i = 0; i < 4; i++) {
            int64_t s = p->acquire(false);
            CHECK(s >= 0 && got.insert(s).second);
            memset(p->at((uint32_t)s, 64 << 10), i, 64 << 10);
        }
        CHECK(p->acquire(false) == -1);
        int64_t extra = p->acquire(true);
        CHECK(extra >= 0 && got.insert(extra).second);
        p->at((uint32_t)extra, 100)[0] = 9;
        p->release((uint32_t)extra);
        CHECK(p->at(0, (64 << 10) + 1) == nullptr);
        CHECK(p->inUse() == 4);
        p->release(0);
        CHECK(p->acquire(false) == 0);
        if (shared) {
            SlotPool* peer = SlotPool::open(getpid(), p->fd(), 64 << 10, &error);
            CHECK(peer != nullptr);
            CHECK(peer->at(1, 64 << 10)[5] == 1);
            CHECK(peer->at(500, 8) == nullptr);
            delete peer;
        }
        delete p;
    }
    CHECK(SlotPool::open(getpid(), 0, 4096, &error) == nullptr);
    CHECK(!error.empty());

    SlotPool* p = SlotPool::create(4096, 1000, false, &error);
    auto work = [p] {
        for (int i = 0; i < 20000; i++) {
            int64_t s = p->acquire(false);
            CHECK(s >= 0);
            uint8_t* at = p->at((uint32_t)s, 8);
            uint64_t mine = (uint64_t)(size_t)&at;
            memcpy(at, &mine, 8);
            CHECK(memcmp(at, &mine, 8) == 0);  // nobody else has this slot
            p->release((uint32_t)s);
        }
    };
    std::thread a(work), b(work), c(work);
    a.join();
    b.join();
    c.join();
    CHECK(p->inUse() == 0);
    delete p;
}

void sideTable() {
    const Address start = 0x100000000;
    SideTable<uint32_t> t(start, 1u << 30, 4);
    CHECK(t.ready());
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < 100000; i++) {
            CHECK(t.get(start + i * 4096ull) == 0);
            t.put(start + i * 4096ull, i + 1);
        }
        CHECK(t.get(start + 4096) == 2);
        t.clear();
    }
    CHECK(t.get(start) == 0);
    SmallSeen* s = new SmallSeen();
    for (int round = 0; round < 100; round++) {
        s->clear();
        CHECK(s->get(16) == 0);
        for (uint64_t i = 1; i <= SmallSeen::kMost; i++) {
            CHECK(!s->full());
            s->put(i * 16, i);
        }
        CHECK(s->full());
        for (uint64_t i = 1; i <= SmallSeen::kMost; i++) {
            CHECK(s->get(i * 16) == i);
        }
    }
    delete s;
}

void holes() {
    Holes h;
    uint32_t d;
    CHECK(!h.take(1, &d));
    for (uint32_t round = 0; round < 5; round++) {
        for (uint64_t i = 0; i < 10000; i++) {
            h.add(i << 20, (uint32_t)i);
        }
        CHECK(h.count() == 10000);
        CHECK(!h.take(5, &d));
        for (uint64_t i = 0; i < 10000; i++) {
            CHECK(h.take(i << 20, &d) && d == i);
            CHECK(!h.take(i << 20, &d));
        }
        CHECK(h.count() == 0);
    }
}

}  // namespace

int main() {
    checksums();
    slots();
    sideTable();
    holes();
    return 0;
}

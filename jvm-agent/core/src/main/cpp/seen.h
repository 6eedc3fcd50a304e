// Which objects a walk has met, and the target of each: a small hash table for small graphs, then a side table
// indexed by heap address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "vm.h"

namespace skyway {

// Entry 0 means not seen. Targets of objects are never 0: their units start at 1 (see Writer).
class SmallSeen {
  public:
    static constexpr uint32_t kCells = 512;
    static constexpr uint32_t kMost = 256;

    void clear() {
        _count = 0;
        if (++_epoch == 0) {
            memset(_cells, 0, sizeof _cells);
            _epoch = 1;
        }
    }
    uint64_t get(Address a) const {
        for (uint32_t i = hash(a);; i = (i + 1) % kCells) {
            const Cell& c = _cells[i];
            if (c.epoch != _epoch) {
                return 0;
            }
            if (c.address == a) {
                return c.value;
            }
        }
    }
    bool full() const {
        return _count >= kMost;
    }
    void put(Address a, uint64_t value) {
        uint32_t i = hash(a);
        while (_cells[i].epoch == _epoch) {
            i = (i + 1) % kCells;
        }
        _cells[i] = Cell{a, value, _epoch};
        _count++;
    }
    template <typename F>
    void each(F f) const {
        for (const Cell& c : _cells) {
            if (c.epoch == _epoch) {
                f(c.address, c.value);
            }
        }
    }

  private:
    struct Cell {
        Address address;
        uint64_t value;
        uint32_t epoch;
    };
    static uint32_t hash(Address a) {
        return (uint32_t)((a >> 3) * 0x9e3779b1u >> 16) % kCells;
    }
    Cell _cells[kCells] = {};
    uint32_t _epoch = 0;
    uint32_t _count = 0;
};

// One entry per smallest distance of two objects: 16 bytes, 8 with compact headers. An entry has four bytes when
// the image has no more than 32,768 segments (one bit is for named objects), else eight. Pages are touched lazily and
// zeroed again after each walk, so there is no epoch to wrap.
template <typename Entry>
class SideTable {
  public:
    SideTable(Address start, size_t bytes, int shift);
    ~SideTable();
    bool ready() const {
        return _entries != nullptr;
    }
    Entry* at(Address a) const {
        return biased() + (a >> _shift);
    }
    // Where the entry of address 0 would lie: entries are found with one shift and one addition.
    Entry* biased() const {
        return (Entry*)((uintptr_t)_entries - (_start >> _shift) * sizeof(Entry));
    }
    int shift() const {
        return _shift;
    }
    // After an entry was written.
    void touch(const Entry* entry) {
        size_t p = (size_t)((const uint8_t*)entry - (const uint8_t*)_entries) / kPage;
        if (_touched[p] == 0) {
            _touched[p] = 1;
            _pages.push_back((uint32_t)p);
            if (p / kLargePage >= _largeSeen.size() || !_largeSeen[p / kLargePage]) {
                countLarge(p / kLargePage);
            }
        }
    }
    uint64_t get(Address a) const {
        return *at(a);
    }
    void put(Address a, uint64_t value) {
        Entry* e = at(a);
        *e = (Entry)value;
        touch(e);
    }
    void clear();
    // Memory that it holds at most: the kernel may give a whole large page for one entry.
    size_t heldBytes() const {
        size_t entries = _largeTouched * kLargePage * kPage;
        return (entries < _bytes ? entries : _bytes) + _pages.capacity() * sizeof(uint32_t);
    }

  private:
    static constexpr size_t kPage = 4096;
    static constexpr size_t kLargePage = 512;  // pages
    void countLarge(size_t large);

    // A walk that touched more than this gives its pages back instead of keeping them for the next.
    static constexpr size_t kKeep = 64u << 20;

    Address _start;
    int _shift;
    Entry* _entries = nullptr;
    uint8_t* _touched = nullptr;
    size_t _bytes = 0, _pageCount = 0, _largeTouched = 0;
    std::vector<uint32_t> _pages;
    std::vector<bool> _largeSeen;
};

}  // namespace skyway

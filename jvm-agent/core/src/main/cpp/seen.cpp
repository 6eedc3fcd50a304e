#include "seen.h"

#include <sys/mman.h>

namespace skyway {

namespace {

void* reserve(size_t bytes) {
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? nullptr : p;
}

}  // namespace

template <typename Entry>
SideTable<Entry>::SideTable(Address start, size_t bytes, int shift) : _start(start), _shift(shift) {
    _bytes = ((bytes >> shift) + 1) * sizeof(Entry);
    _pageCount = _bytes / kPage + 1;
    _entries = (Entry*)reserve(_bytes);
    _touched = (uint8_t*)reserve(_pageCount);
    if (_entries == nullptr || _touched == nullptr) {
        if (_entries != nullptr) {
            munmap(_entries, _bytes);
        }
        _entries = nullptr;
        return;
    }
    // One entry of the table is read for each reference: large pages save most of the TLB misses.
    madvise(_entries, _bytes, MADV_HUGEPAGE);
}

template <typename Entry>
SideTable<Entry>::~SideTable() {
    if (_entries != nullptr) {
        munmap(_entries, _bytes);
    }
    if (_touched != nullptr) {
        munmap(_touched, _pageCount);
    }
}

template <typename Entry>
void SideTable<Entry>::clear() {
    if (_pages.size() * kPage > kKeep) {
        madvise(_entries, _bytes, MADV_DONTNEED);
        madvise(_touched, _pageCount, MADV_DONTNEED);
        std::vector<uint32_t>().swap(_pages);
        _largeSeen.clear();
        _largeTouched = 0;
        return;
    }
    for (uint32_t p : _pages) {
        memset((uint8_t*)_entries + (size_t)p * kPage, 0, kPage);
        _touched[p] = 0;
    }
    _pages.clear();
}

template <typename Entry>
void SideTable<Entry>::countLarge(size_t large) {
    if (large >= _largeSeen.size()) {
        _largeSeen.resize(large + 1);
    }
    _largeSeen[large] = true;
    _largeTouched++;
}

template class SideTable<uint32_t>;
template class SideTable<uint64_t>;

}  // namespace skyway

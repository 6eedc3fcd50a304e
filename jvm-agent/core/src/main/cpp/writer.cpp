#include "writer.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace skyway {

namespace {

int64_t now() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

template <KlassMode Mode>
inline uint64_t keyOf(Address a) {
    switch (Mode) {
        case KlassMode::Narrow:
            return *(const uint32_t*)(a + 8);
        case KlassMode::Wide:
            return *(const uint64_t*)(a + 8);
        default:
            return *(const uint64_t*)a >> vm.compactKlassShift;
    }
}

// The hash of an unlocked, unbiased object, in place; what looks like one in any other header is something else.
inline uint64_t hashOf(Address a) {
    uint64_t mark = *(const uint64_t*)a;
    return (mark & 7) == 1 ? mark & vm.hashMask : 0;
}

// `bytes` is a multiple of 8. Two loads that overlap instead of a loop: the sizes of neighbours differ, and a loop's
// end would be mispredicted each time.
inline __attribute__((always_inline)) void copyWords(uint8_t* to, const uint8_t* from, uint64_t bytes) {
    // A typedef: in an alias-declaration clang drops the alignment, and faults where an object lies at 8.
    typedef uint64_t Pair __attribute__((vector_size(16), aligned(8), may_alias));
    const Pair* first = (const Pair*)from;
    const Pair* last = (const Pair*)(from + bytes);
    Pair* firstTo = (Pair*)to;
    Pair* lastTo = (Pair*)(to + bytes);
    if (bytes >= 16 && bytes <= 32) {
        Pair a = first[0], b = last[-1];
        firstTo[0] = a;
        lastTo[-1] = b;
    } else if (bytes > 32 && bytes <= 64) {
        Pair a = first[0], b = first[1], c = last[-2], d = last[-1];
        firstTo[0] = a;
        firstTo[1] = b;
        lastTo[-2] = c;
        lastTo[-1] = d;
    } else {
        memcpy(to, from, bytes);
    }
}

// Copies and pads with zeros to a multiple of 8; the place behind.
uint8_t* append(uint8_t* to, const void* from, size_t bytes) {
    if (bytes == 0) {
        return to;
    }
    memcpy(to, from, bytes);
    memset(to + bytes, 0, align8(bytes) - bytes);
    return to + align8(bytes);
}

inline uint64_t lengthOf(Address a) {
    return *(const uint32_t*)(a + vm.lengthOffset);
}

// Most boxed values: those that no cache holds.
inline bool isUncachedBox(const Plan* plan, Address a) {
    if (plan->uncachedAt == 0) {
        return false;
    }
    const Address at = a + plan->uncachedAt;
    const int64_t value = plan->boxWidth == 8 ? *(const int64_t*)at : *(const int32_t*)at;
    return (uint64_t)value - (uint64_t)plan->boxLo > plan->cachedSpan;
}

}  // namespace

void AddressTable::put(Address a, uint32_t index) {
    size_t c = hash(a) & _mask;
    while (_cells[c].address != 0) {
        c = (c + 1) & _mask;
    }
    _cells[c].address = a;
    _cells[c].index = index;
}

void AddressTable::reserve(uint32_t count) {
    size_t cells = 64;
    while (cells < (size_t)count * 2) {
        cells *= 2;
    }
    if (cells > _cells.size()) {
        std::vector<Cell> old(cells);
        old.swap(_cells);
        _mask = cells - 1;
        for (const Cell& c : old) {
            if (c.address != 0) {
                put(c.address, c.index);
            }
        }
    }
}

void AddressTable::clear() {
    std::fill(_cells.begin(), _cells.end(), Cell());
}

void AddressTable::take(void* arrayHandle, uint32_t from, uint32_t end) {
    Address array = *Vm::slotOf(arrayHandle);
    for (uint32_t i = from; i < end; i++) {
        Address at = array + vm.refArrayBase + i * vm.referenceBytes();
        Address a = vm.compressedOops ? (*(uint32_t*)at == 0 ? 0 : decode(*(uint32_t*)at)) : *(Address*)at;
        if (a != 0) {
            put(a, i);
        }
    }
}

void NamedTable::refresh(void* arrayHandle, uint32_t count) {
    uint32_t collections = vm.collections();
    if (count == _count && collections == _collections) {
        return;
    }
    clear();
    reserve(count);
    take(arrayHandle, 0, count);
    _count = count;
    _collections = collections;
}

void SentTable::prepare(uint32_t count) {
    if (count < _count || (_count != 0 && _collections != vm.collections())) {
        clear();
        _count = 0;
    }
    reserve(count);
}

SentTable::Fill SentTable::fill(void* arrayHandle, uint32_t count, uint32_t most) {
    if (_collections != vm.collections()) {
        if (_count != 0) {
            if (most < count) {
                return kMovedBetween;
            }
            clear();
            _count = 0;
        }
        _collections = vm.collections();
    }
    uint32_t end = count - _count > most ? _count + most : count;
    take(arrayHandle, _count, end);
    _count = end;
    return _count == count ? kReady : kMore;
}

size_t Writer::slotBytesFor(size_t maxSegmentBytes) {
    size_t payload = maxSegmentBytes < kMaxPayload ? maxSegmentBytes : kMaxPayload;
    return (sizeof(BlockHeader) + payload + payload / 2 + (64 << 10) + 4095) & ~(size_t)4095;
}

Writer::Writer(SlotPool* pool, uint32_t maxSegmentBytes, uint64_t layout)
    : _pool(pool), _maxChunk(maxSegmentBytes), _layout(layout) {
    _largeBytes = (_maxChunk < kMaxPayload ? _maxChunk : kMaxPayload) / 4;
    // A reference array that outgrows its segment costs a late entry for each element: large ones travel as targets.
    _largeReferenceBytes = _largeBytes < (16u << 10) ? _largeBytes : 16u << 10;
    _head = new Node();
    _tail.store(_head);
    sem_init(&_ready, 0, 0);
}

Writer::~Writer() {
    if (_slot >= 0) {
        _pool->release((uint32_t)_slot);
    }
    for (auto& l : _larges) {
        if (l->slot >= 0) {
            _pool->release((uint32_t)l->slot);
        }
    }
    dropQueue();
    delete _head;
    delete _narrow;
    delete _wide;
    sem_destroy(&_ready);
}

void Writer::dropQueue() {
    while (Node* next = _head->next.load(std::memory_order_acquire)) {
        _pool->release(next->f.slot);
        delete _head;
        _head = next;
    }
}

void Writer::setNamed(void* arrayHandle, uint32_t count, const char* const* names, const uint16_t* lengths) {
    _namedHandle = arrayHandle;
    _namedCount = count;
    _names = names;
    _nameLengths = lengths;
    _namedUse.resize(count);
}

void Writer::setHolders(void* const* slots, uint32_t count) {
    _holders = slots;
    _holderCount = count;
}

void Writer::begin(uint64_t imageId, void* rootHandle) {
    dropQueue();
    _stack.clear();
    _stack.shrink();
    while (sem_trywait(&_ready) == 0) {
    }
    _imageId = imageId;
    _root = rootHandle;
    _lastTaken = false;
    restart();
}

void Writer::restart() {
    _held = 0;
    if (_slot >= 0) {
        _pool->release((uint32_t)_slot);
        _slot = -1;
    }
    for (auto& l : _larges) {
        if (l->slot >= 0) {
            _pool->release((uint32_t)l->slot);
        }
    }
    _larges.clear();
    _piece = nullptr;
    _waitingBytes = 0;
    _payload = nullptr;
    _segment = ~0ull;
    _used = 0;
    _chunk = _segmentObjects = 0;
    _segments = _sequence = 0;
    _objects = _lateTotal = _imageBytes = _classes = 0;
    _namedTotal = _sentCount;
    _newNamed = 0;
    _sources.clear();
    _cross.clear();
    _late.clear();
    _newTypes.clear();
    _newNames.clear();
    resetRoom();
    _stack.clear();
    _queue.clear();
    _trouble = kDone;
    _stopAt = INT64_MAX;
    _found = 0;
    _foundKeys.clear();
    _smallSeen.clear();
    _small = true;
    if (_narrow != nullptr) {
        _narrow->clear();
        if (_wantWide) {
            delete _narrow;
            _narrow = nullptr;
        }
    }
    if (_wide != nullptr) {
        _wide->clear();
    }
    _attempt++;
    _currentAttempt.store(_attempt);
    _begun = false;
}

void Writer::seenPut(Address a, uint64_t value) {
    if (_small) {
        if (!_smallSeen.full()) {
            _smallSeen.put(a, value);
            return;
        }
        if (!spill()) {
            _trouble = kNoMemory;
            return;
        }
    }
    if (_narrow != nullptr) {
        if ((value & ~kNamed) > kNarrowMost) {
            _wantWide = true;
            _trouble = kWider;
            return;
        }
        _narrow->put(a, narrowed(value));
    } else {
        _wide->put(a, value);
    }
}

bool Writer::spill() {
    int shift = vm.klassMode == KlassMode::Compact ? 3 : 4;
    if (_wantWide) {
        if (_wide == nullptr) {
            _wide = new SideTable<uint64_t>(vm.heapStart, vm.heapBytes, shift);
        }
        if (!_wide->ready()) {
            return false;
        }
    } else {
        if (_narrow == nullptr) {
            _narrow = new SideTable<uint32_t>(vm.heapStart, vm.heapBytes, shift);
        }
        if (!_narrow->ready()) {
            return false;
        }
    }
    _small = false;
    _smallSeen.each([this](Address a, uint64_t v) {
        if (_narrow != nullptr) {
            _narrow->put(a, narrowed(v));
        } else {
            _wide->put(a, v);
        }
    });
    return true;
}

void Writer::report(Address a) {
    _trouble = _trouble == kDone ? kStopped : _trouble;
    if (_found < _holderCount) {
        *Vm::slotOf(_holders[_found++]) = a;
    }
}

inline __attribute__((always_inline)) void Writer::push(Address source, uint64_t t, Plan* plan, uint64_t index) {
    if (!_stack.push(source, t, plan, index)) {
        _trouble = kNoMemory;
    }
}

inline __attribute__((always_inline)) void Writer::useType(const Plan* plan) {
    if (plan->index >= _typeUse.size() || _typeUse[plan->index] != _attempt) {
        firstUse(plan);
    }
}

void Writer::firstUse(const Plan* plan) {
    if (plan->index >= _typeUse.size()) {
        _typeUse.resize(types.plans.count() + 64);
    }
    _typeUse[plan->index] = _attempt;
    _newTypes.push_back(plan->typeId);
    takeRoom(4);
    _classes++;
}

uint64_t Writer::namedTarget(Address a, uint32_t index) {
    auto& use = _namedUse[index];
    if (use.first != _attempt) {
        use.first = _attempt;
        use.second = _namedTotal++;
        uint16_t n = _nameLengths[index];
        _newNames.append((const char*)&n, sizeof n);
        _newNames.append(_names[index], n);
        _newNamed++;
        takeRoom(n + 2);
    }
    uint64_t t = kNamed | use.second;
    seenPut(a, t);
    return t;
}

bool Writer::openSegment() {
    int64_t s = _pool->acquire(true);
    if (s < 0) {
        _trouble = kNoMemory;
        return false;
    }
    _slot = s;
    _held++;
    _payload = _pool->at((uint32_t)s, _pool->slotBytes()) + sizeof(BlockHeader);
    _segment = _segments++;
    _used = 0;
    _chunk = 64;
    _segmentObjects = 0;
    return true;
}

template <typename Slot>
void Writer::punchHoles(uint8_t* at, const Plan* plan, uint64_t from, uint64_t length) {
    if (plan->kind == Kind::ReferenceArray) {
        Slot* s = (Slot*)(at + plan->arrayBase);
        for (uint64_t i = from; i < length; i++) {
            s[i] = SlotCode<Slot>::kHole;
        }
    } else {
        for (uint64_t i = from; i < plan->references.size(); i++) {
            *(Slot*)(at + plan->references[i].offset) = SlotCode<Slot>::kHole;
        }
    }
}

void Writer::closeSegment(bool last) {
    // What of this segment was not scanned yet will be told by late entries. Its entries are on top of the stack.
    for (size_t i = _stack.size(); i-- > 0;) {
        const Entry& e = _stack[i];
        if (segmentOf(e.target) != _segment) {
            // A large array may lie between them; what is below one that is older than the segment is older too.
            if (unitOf(e.target) == kLarge && segmentOf(e.target) > _segment) {
                continue;
            }
            break;
        }
        uint8_t* at = _payload + (unitOf(e.target) - 1) * 8;
        uint64_t length = e.plan->isArray() ? lengthOf((Address)at) : 0;
        if (vm.compressedOops) {
            punchHoles<uint32_t>(at, e.plan, e.index, length);
        } else {
            punchHoles<uint64_t>(at, e.plan, e.index, length);
        }
    }
    BlockHeader h = {};
    h.kind = BlockKind::Segment;
    h.segment = _segment;
    h.payloadBytes = (uint64_t)_used;
    h.objects = _segmentObjects;
    if (last) {
        h.flags =
            kLast | (_sequence == 0 && _late.empty() && !_keep ? kAlone : 0) | (_standInCount != 0 ? kEnvelope : 0);
        h.root = _rootTarget;
        h.totalObjects = (uint64_t)_objects;
    }
    uint32_t slot = (uint32_t)_slot;
    _slot = -1;
    _held--;
    _payload = nullptr;
    _segment = ~0ull;
    emit(slot, h, true);
}

void Writer::emit(uint32_t slot, BlockHeader& h, bool withLists) {
    uint8_t* base = _pool->at(slot, _pool->slotBytes());
    uint8_t* p = base + sizeof h + align8(h.payloadBytes);
    h.magic = kMagic;
    h.version = kVersion;
    h.headerBytes = sizeof h;
    h.imageId = _imageId;
    h.layout = _layout;
    h.attempt = _attempt;
    h.sequence = _sequence++;
    if (withLists) {
        h.crossCount = (uint32_t)_cross.size();
        h.lateCount = (uint32_t)_late.size() / 2;
        p = append(p, _cross.data(), _cross.size() * 8);
        p = append(p, _late.data(), _late.size() * 8);
        _lateTotal += h.lateCount;
        _cross.clear();
        _late.clear();
    }
    h.typeCount = (uint32_t)_newTypes.size();
    p = append(p, _newTypes.data(), 4 * _newTypes.size());
    h.namedCount = _newNamed;
    h.namedBytes = (uint32_t)_newNames.size();
    p = append(p, _newNames.data(), _newNames.size());
    _newTypes.clear();
    _newNames.clear();
    _newNamed = 0;
    resetRoom();
    takeRoom((int64_t)(8 * _cross.size() + 8 * _late.size()));
    h.blockBytes = (uint64_t)(p - base);
    if (_trouble != kDone) {
        _pool->release(slot);  // the walk only goes on to find more that Java must look at
        return;
    }
    *(BlockHeader*)base = h;
    ((BlockHeader*)base)->checksum = blockChecksum((BlockHeader*)base, h.blockBytes);
    _imageBytes += (int64_t)h.blockBytes;
    _pool->trim(slot, h.blockBytes);
    enqueue(Finished{slot, _attempt, (h.flags & kLast) != 0, h.blockBytes});
}

void Writer::enqueue(Finished f) {
    Node* n = new Node();
    n->f = f;
    Node* tail = _tail.load(std::memory_order_relaxed);
    _tail.store(n, std::memory_order_relaxed);
    tail->next.store(n, std::memory_order_release);
    sem_post(&_ready);
}

int Writer::take(int64_t timeoutMillis, Finished* out) {
    timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += timeoutMillis / 1000;
    until.tv_nsec += timeoutMillis % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    while (!_lastTaken && !_cancelled.load()) {
        Node* next = _head->next.load(std::memory_order_acquire);
        if (next == nullptr) {
            // With a time that has passed the thread would still be put to sleep and woken up.
            if ((timeoutMillis == 0 ? sem_trywait(&_ready) : sem_timedwait(&_ready, &until)) != 0 && errno != EINTR) {
                return 0;
            }
            continue;
        }
        delete _head;
        _head = next;
        if (next->f.attempt != _currentAttempt.load()) {
            _pool->release(next->f.slot);  // of an attempt that was given up before it was sent
            continue;
        }
        *out = next->f;
        _lastTaken = next->f.last;
        return 1;
    }
    return -1;
}

void Writer::cancel() {
    _cancelled.store(true);
    sem_post(&_ready);
}

void Writer::addLate(uint64_t slot, uint64_t target) {
    if (_trouble != kDone || target == kWaiting) {
        return;
    }
    if (_payload == nullptr && !openSegment()) {
        return;
    }
    if (tablesFull()) {
        closeSegment(false);
        if (!openSegment()) {
            return;
        }
    }
    _late.push_back(slot);
    _late.push_back(target);
    takeRoom(16);
}

// True when the slot has its value; false when its segment was closed on the way and a late entry is due.
template <typename Slot>
inline bool Writer::store(Slot* slot, uint64_t target) {
    if (segmentOf(target) == _segment) {
        *slot = (Slot)unitOf(target);
        return true;
    }
    if (target == kWaiting) {
        *slot = SlotCode<Slot>::kHole;
        return true;
    }
    if (target == kNoTarget) {
        *slot = 0;
        return true;
    }
    if (tablesFull()) {
        closeSegment(false);
        return false;
    }
    *slot = (Slot)(SlotCode<Slot>::kCross | _cross.size());
    _cross.push_back(target);
    takeRoom(8);
    return true;
}

uint64_t Writer::discoverLarge(Address a, Plan* plan, uint64_t length) {
    uint64_t segment = _segments++;
    auto l = std::make_unique<Large>();
    l->segment = segment;
    l->source = a;
    l->plan = plan;
    l->length = length;
    l->hash = hashOf(a);
    _larges.push_back(std::move(l));
    useType(plan);
    _objects++;
    if (_keep) {
        _sources.push_back(Source{a, target(segment, kLarge)});
    }
    seenPut(a, target(segment, kLarge));
    push(a, target(segment, kLarge), plan, _larges.size() - 1);
    return target(segment, kLarge);
}

// For an object and its entry, soon to be looked at. Asking for what is not there, null's for one, does no harm. Many
// small objects begin at the end of one cache line and go on in the next.
template <KlassMode Mode>
inline __attribute__((always_inline)) void Writer::ask(const Near& n, Address a) {
    __builtin_prefetch((void*)a);
    __builtin_prefetch((void*)(a + 48));
    if (n.side != nullptr) {
        __builtin_prefetch(n.entry<Mode>(a), 1);
    }
}

// A reference of an object in the open segment, at `slot`, or of one in a closed segment, where `slot` is null.
template <typename Slot, KlassMode Mode>
inline __attribute__((always_inline)) void Writer::meetReference(const Near& n, Slot raw, Slot* slot, uint64_t late) {
    if (raw == 0) {
        if (slot != nullptr) {
            *slot = 0;
        } else {
            addLate(late, kNoTarget);
        }
        return;
    }
    if (slot != nullptr) {
        *slot = SlotCode<Slot>::kHole;
    }
    Address child = n.decode(raw);
    ask<Mode>(n, child);
    _queue.put(child, late);
}

// The image of an object in the open segment, where there is room for it; its references are still to be filled in.
template <typename Slot, KlassMode Mode>
inline __attribute__((always_inline)) uint64_t Writer::copyImage(const Near& n, Address a, const Plan* plan,
                                                                 uint64_t length, uint64_t bytes) {
    uint64_t t = target(_segment, (uint32_t)_used / 8 + 1);
    uint8_t* d = _payload + _used;
    _used += (int64_t)bytes;
    _chunk += (uint32_t)(bytes + sizeof(Slot));
    _segmentObjects++;
    _objects++;
    uint64_t mark = *(const uint64_t*)a;
    copyWords(d, (const uint8_t*)a, bytes);
    mark = 1 | ((mark & 7) == 1 ? mark & n.hashMask : 0);
    switch (Mode) {
        case KlassMode::Narrow:
            *(uint64_t*)d = mark;
            *(uint32_t*)(d + 8) = plan->typeId;
            break;
        case KlassMode::Wide:
            *(uint64_t*)d = mark;
            *(uint64_t*)(d + 8) = plan->typeId;
            break;
        default:
            *(uint64_t*)d = mark | (uint64_t)plan->typeId << vm.compactKlassShift;
    }
    useType(plan);
    if (plan->isArray()) {
        // Bytes behind the last element are the VM's, not the graph's: less than a word, or with an object alignment
        // of more than 8 some words.
        uint64_t end = plan->arrayBase + (length << plan->elementShift);
        if (end % 8 != 0) {
            *(uint64_t*)(d + (end & ~7ull)) &= ~0ull >> (64 - end % 8 * 8);
        }
        for (uint64_t at = align8(end); at < bytes; at += 8) {
            *(uint64_t*)(d + at) = 0;
        }
    } else {
        plan->applyMasks(d);
    }
    return t;
}

// The array of primitives that a field refers to, as that of every String does: copied at once, so that the two lie
// together and nothing has to wait. False: it was met before, or there is no room.
template <typename Slot, KlassMode Mode>
inline __attribute__((always_inline)) bool Writer::fillLeaf(const Near& n, Address a, Slot* slot) {
    uint32_t* entry = n.entry<Mode>(a);
    const Plan* plan = n.plans.find(keyOf<Mode>(a));
    if (*entry != 0 || plan == nullptr || !plan->quick || plan->kind != Kind::PrimitiveArray) {
        return false;
    }
    const uint64_t length = lengthOf(a), bytes = plan->sizeOf(length);
    if (length == 0 || bytes > _largeBytes || !fits<Slot>(bytes)) {
        return false;
    }
    uint64_t t = copyImage<Slot, Mode>(n, a, plan, length, bytes);
    *entry = (uint32_t)t;
    _narrow->touch(entry);
    *slot = (Slot)unitOf(t);
    return true;
}

// Appends the object to the open segment, where there is room for it. The caller has made its entry in the seen table.
template <typename Slot, KlassMode Mode>
inline __attribute__((always_inline)) uint64_t Writer::fill(const Near& n, Address a, Plan* plan, uint64_t length,
                                                            uint64_t bytes) {
    const uint64_t t = copyImage<Slot, Mode>(n, a, plan, length, bytes);
    const bool array = plan->kind == Kind::ReferenceArray;
    const size_t count = array ? length : plan->references.size();
    if (count == 0) {
        return t;
    }
    if (count > kAtOnce || _queue.count() >= kDirect) {
        push(a, t, plan, 0);
        return t;
    }
    uint8_t* d = _payload + (unitOf(t) - 1) * 8;
    const uint64_t late = lateSlotOf(t, 0);
    if (array) {
        for (uint32_t at = plan->arrayBase; at < plan->arrayBase + count * sizeof(Slot); at += sizeof(Slot)) {
            meetReference<Slot, Mode>(n, *(const Slot*)(a + at), (Slot*)(d + at), late + at);
        }
        return t;
    }
    for (const Reference& r : plan->references) {
        // Not from the copy: it is still being written.
        const Slot raw = *(const Slot*)(a + r.offset);
        Slot* slot = (Slot*)(d + r.offset);
        if (r.leaf && raw != 0 && n.side != nullptr && fillLeaf<Slot, Mode>(n, n.decode(raw), slot)) {
            continue;
        }
        meetReference<Slot, Mode>(n, raw, slot, late + r.offset);
    }
    return t;
}

template <typename Slot, KlassMode Mode>
uint64_t Writer::copy(Address a, Plan* plan, uint64_t length, uint64_t bytes) {
    if (_payload == nullptr) {
        if (!openSegment()) {
            return kNoTarget;
        }
    } else if (!fits<Slot>(bytes)) {
        closeSegment(false);
        if (!openSegment()) {
            return kNoTarget;
        }
    }
    seenPut(a, target(_segment, (uint32_t)_used / 8 + 1));
    if (_keep) {
        _sources.push_back(Source{a, target(_segment, (uint32_t)_used / 8 + 1)});
    }
    return fill<Slot, Mode>(near(), a, plan, length, bytes);
}

template <typename Slot>
bool Writer::traceIsFetched(Address a, const Plan* plan) const {
    Slot backtrace = *(const Slot*)(a + plan->backtraceAt), trace = *(const Slot*)(a + plan->stackTraceAt);
    // The marker that it was not fetched is a constant of the platform: the empty array that has a name.
    return backtrace == 0 || (trace != 0 && _named.find(decode<Slot>(trace)) < 0);
}

// The way of nearly all objects, in one piece: new, of a class without peculiarities, with room in the open segment.
// Everything else goes by meet().
template <typename Slot, KlassMode Mode>
inline __attribute__((always_inline)) uint64_t Writer::discover(const Near& n, Address a) {
    if (n.side == nullptr) {
        uint64_t seen = seenGet(a);
        return seen != 0 ? seen : meet<Slot, Mode>(a);
    }
    uint32_t* entry = n.entry<Mode>(a);
    if (*entry != 0) {
        return widen(*entry);
    }
    Plan* plan = n.plans.find(keyOf<Mode>(a));
    if (plan == nullptr || !(plan->quick || isUncachedBox(plan, a)) || _payload == nullptr
        || _segment > kNarrowMost >> 16) {
        return meet<Slot, Mode>(a);
    }
    uint64_t length = 0, bytes = plan->bytes;
    if (plan->isArray()) {
        length = lengthOf(a);
        bytes = plan->sizeOf(length);
        if (length == 0 || (plan->kind == Kind::ReferenceArray && bytes > _largeReferenceBytes)) {
            return meet<Slot, Mode>(a);
        }
    }
    if (bytes > _largeBytes || !fits<Slot>(bytes)) {
        return meet<Slot, Mode>(a);
    }
    *entry = (uint32_t)target(_segment, (uint32_t)_used / 8 + 1);
    _narrow->touch(entry);
    return fill<Slot, Mode>(n, a, plan, length, bytes);
}

template <typename Slot, KlassMode Mode>
uint64_t Writer::meet(Address a) {
    if (_sentCount != 0 && a != _unshared) {
        int64_t i = _sent.find(a);
        if (i >= 0) {
            seenPut(a, kNamed | (uint64_t)i);
            return kNamed | (uint64_t)i;
        }
    }
    Plan* plan = types.plans.find(keyOf<Mode>(a));
    // No id: known so far only as a class that was received.
    if (plan == nullptr || (plan->typeId == 0 && plan->kind < Kind::Named)) {
        if (_foundKeys.insert(keyOf<Mode>(a)).second) {
            report(a);
        }
        return kNoTarget;
    }
    if (plan->mayBeNamed) {
        // Only empty arrays have names.
        bool look = !plan->isArray() || lengthOf(a) == 0;
        if (plan->boxWidth != 0) {
            const uint8_t* v = (const uint8_t*)(a + plan->boxOffset);
            int64_t value = 0;
            switch (plan->boxWidth) {
                case 1:
                    value = *(const int8_t*)v;
                    break;
                case 2:
                    value = *(const int16_t*)v;
                    break;
                case -2:
                    value = *(const uint16_t*)v;
                    break;
                case 4:
                    value = *(const int32_t*)v;
                    break;
                default:
                    value = *(const int64_t*)v;
            }
            look = value >= plan->boxLo && value <= plan->boxHi;
        }
        // A singleton that somebody wants to send is copied, as what it is; elsewhere it has its name.
        look = look && (_copied == nullptr || a != *Vm::slotOf(_copied) || plan->kind != Kind::Instance);
        if (look) {
            int64_t i = _named.find(a);
            if (i >= 0) {
                return namedTarget(a, (uint32_t)i);
            }
        }
    }
    uint64_t length = 0;
    switch (plan->kind) {
        case Kind::Cut:
            return kNoTarget;
        case Kind::StandIn: {
            int64_t i = _standInCount != 0 ? _standIns.find(a) : -1;
            if (i > 0) {
                return kStandIn | (uint64_t)i;
            }
        }
            [[fallthrough]];
        case Kind::Named:  // one that Java has not named yet
        case Kind::Refused:
            seenPut(a, target(0, 1));  // reported once; nothing of this attempt is used
            report(a);
            return kNoTarget;
        case Kind::Instance:
            if (plan->backtraceAt != 0 && !traceIsFetched<Slot>(a, plan)) {
                seenPut(a, target(0, 1));
                report(a);
                return kNoTarget;
            }
            if (plan->bytes > _largeBytes) {
                _trouble = kTooLarge;
                report(a);
                return kNoTarget;
            }
            break;
        case Kind::PrimitiveArray:
            length = lengthOf(a);
            if (plan->sizeOf(length) > _largeBytes) {
                return discoverLarge(a, plan, length);
            }
            break;
        case Kind::ReferenceArray:
            length = lengthOf(a);
            if (plan->sizeOf(length) > _largeReferenceBytes) {
                return discoverLarge(a, plan, length);
            }
            break;
    }
    return copy<Slot, Mode>(a, plan, length, plan->sizeOf(length));
}

// A large array is landed when its last piece has come: until then, references to it wait.
uint64_t Writer::settleLarge(uint64_t t, uint64_t lateSlot) {
    if ((t & (kNamed | kStandIn)) != 0) {
        return t;
    }
    Large* l = large(segmentOf(t));
    if (l == nullptr || l->complete) {
        return t;
    }
    addWaiting(l->waiting, lateSlot);
    return kWaiting;
}

void Writer::addWaiting(std::vector<uint64_t>& list, uint64_t value) {
    _waitingBytes -= list.capacity() * 8;
    list.push_back(value);
    _waitingBytes += list.capacity() * 8;
}

void Writer::dropWaiting(std::vector<uint64_t>& list) {
    _waitingBytes -= list.capacity() * 8;
    std::vector<uint64_t>().swap(list);
}

Writer::Large* Writer::large(uint64_t segment) {
    auto at = std::lower_bound(_larges.begin(), _larges.end(), segment,
                               [](const std::unique_ptr<Large>& l, uint64_t s) { return l->segment < s; });
    return at != _larges.end() && (*at)->segment == segment ? at->get() : nullptr;
}

// Fills the queue up with references of the object on top of the stack.
template <typename Slot, KlassMode Mode>
void Writer::meetReferences(const Near& n, size_t at) {
    Entry& e = _stack[at];
    const Plan* plan = e.plan;
    const bool array = plan->kind == Kind::ReferenceArray;
    const uint64_t count = array ? lengthOf(e.source) : plan->references.size();
    const uint64_t end = std::min<uint64_t>(count, e.index + (kAhead - std::min(_queue.count(), kAhead - 1)));
    // Late entries for nulls may close the open segment, but only where this object's is closed already.
    const bool open = segmentOf(e.target) == _segment;
    uint8_t* copied = open ? _payload + (unitOf(e.target) - 1) * 8 : nullptr;
    for (uint64_t i = e.index; i < end; i++) {
        uint32_t offset = array ? plan->arrayBase + (uint32_t)(i * sizeof(Slot)) : plan->references[i].offset;
        meetReference<Slot, Mode>(n, *(const Slot*)(e.source + offset), open ? (Slot*)(copied + offset) : nullptr,
                                  lateSlotOf(e.target, offset));
    }
    if (end == count) {
        _stack.pop();
    } else {
        e.index = end;
    }
}

template <typename Slot, KlassMode Mode>
inline __attribute__((always_inline)) void Writer::follow(const Near& n, Pending p) {
    uint64_t t = settle(discover<Slot, Mode>(n, p.child), p.slot);
    if (p.slot >> 32 == _segment) {
        Slot* slot = (Slot*)(_payload + (uint32_t)p.slot);
        if (!isStandIn(t) && store<Slot>(slot, t)) {
            return;
        }
    }
    // Its segment was closed, perhaps while the child was copied.
    addLate(p.slot, t);
}

template <typename Slot, KlassMode Mode>
void Writer::scanLarge(const Near& n, size_t at) {
    Large& l = *_larges[_stack[at].index];
    if (l.plan->kind == Kind::PrimitiveArray) {
        copyPiece(l);
    } else {
        const uint64_t sequence = _sequence;
        for (int steps = 0; l.done < l.length && _stack.size() == at + 1 && _trouble <= kStopped && steps < 4096
                            && _sequence == sequence;
             steps++) {
            const Slot* elements = (const Slot*)(l.source + l.plan->arrayBase);
            if (l.length - l.done > kAhead) {
                ask<Mode>(n, n.decode(elements[l.done + kAhead]));
            }
            Slot raw = elements[l.done];
            uint64_t t = kNoTarget;
            if (raw != 0) {
                t = discover<Slot, Mode>(n, n.decode(raw));
                if (_stack.size() > at + 1 && unitOf(t) == kLarge && (t & kNamed) == 0) {
                    return;  // a large array just met: complete it first, then look at this element again
                }
                t = settle(t, lateSlot(l.segment, (uint32_t)l.done));
                if (isStandIn(t)) {
                    addWaiting(l.standIns, lateSlot(l.segment, (uint32_t)l.done));
                    addWaiting(l.standIns, t);
                    t = kNoTarget;
                }
            }
            addToPiece(l, t == kWaiting ? kNoTarget : t);
        }
        if (l.done == l.length && l.pieceElements != 0 && _trouble == kDone) {
            shipTargets(l);
        }
    }
    if (l.done == l.length && _stack.size() == at + 1 && l.pieceElements == 0) {
        _stack.pop();
        l.complete = true;
        for (uint64_t slot : l.waiting) {
            addLate(slot, target(l.segment, kLarge));
        }
        dropWaiting(l.waiting);
        for (size_t i = 0; i < l.standIns.size(); i += 2) {
            addLate(l.standIns[i], l.standIns[i + 1]);
        }
        dropWaiting(l.standIns);
    } else if (l.done == l.length && _stack.size() == at + 1 && _trouble != kDone) {
        _stack.pop();
    }
}

bool Writer::openPiece(Large& l) {
    if (l.slot < 0) {
        if (_piece != nullptr) {
            shipTargets(*_piece);
        }
        l.slot = _pool->acquire(true);
        if (l.slot < 0) {
            _trouble = kNoMemory;
            return false;
        }
        _piece = &l;
        _held++;
    }
    return true;
}

void Writer::addToPiece(Large& l, uint64_t t) {
    if (_trouble != kDone || !openPiece(l)) {
        l.done++;
        return;
    }
    uint64_t* elements = (uint64_t*)(_pool->at((uint32_t)l.slot, _pool->slotBytes()) + sizeof(BlockHeader));
    elements[l.pieceElements++] = t;
    l.done++;
    if (l.pieceElements * 8 >= pieceBytes()) {
        shipTargets(l);
    }
}

// What the piece names must have been sent before it.
void Writer::shipTargets(Large& l) {
    if (_payload != nullptr) {
        closeSegment(false);
    }
    shipPiece(l, l.pieceElements, l.pieceElements * 8);
}

void Writer::copyPiece(Large& l) {
    if (_trouble != kDone) {
        l.done = l.length;
        return;
    }
    if (!openPiece(l)) {
        return;
    }
    uint64_t elements = std::min(l.length - l.done, pieceBytes() >> l.plan->elementShift);
    uint64_t bytes = elements << l.plan->elementShift;
    uint8_t* to = _pool->at((uint32_t)l.slot, _pool->slotBytes()) + sizeof(BlockHeader);
    memcpy(to, (const void*)(l.source + l.plan->arrayBase + (l.done << l.plan->elementShift)), bytes);
    memset(to + bytes, 0, align8(bytes) - bytes);
    l.done += elements;
    shipPiece(l, elements, bytes);
}

void Writer::shipPiece(Large& l, uint64_t elements, uint64_t bytes) {
    if (4 * _newTypes.size() + _newNames.size() > kPieceLists / 2) {
        if (_payload == nullptr && !openSegment()) {
            return;
        }
        closeSegment(false);
    }
    BlockHeader h = {};
    h.kind = BlockKind::Piece;
    h.segment = l.segment;
    h.payloadBytes = bytes;
    h.arrayType = l.plan->typeId;
    h.arrayLength = l.length;
    h.arrayOffset = l.done - elements;
    h.arrayHash = l.hash;
    uint32_t slot = (uint32_t)l.slot;
    l.slot = -1;
    l.pieceElements = 0;
    _piece = nullptr;
    _held--;
    emit(slot, h, false);
}

template <typename Slot, KlassMode Mode>
Writer::Result Writer::walk(int64_t deadline, Manner manner) {
    if (!_begun) {
        _begun = true;
        _rootTarget = discover<Slot, Mode>(near(), *Vm::slotOf(_root));
    }
    const int64_t since = manner.blockwise ? now() : 0;
    uint64_t sequence = ~0ull;
    uint32_t ticks = 0;
    Near n = near();
    while (!_stack.empty() || _queue.count() != 0) {
        // Only a block sent means that a slot is needed, and only after some work is it worth to look at the clock.
        if ((_trouble != kDone && !looksFurther()) || sequence != _sequence || ++ticks >= 128) {
            const bool worked = sequence != ~0ull;  // in this window: each one gets on, however short
            const bool finished = worked && sequence != _sequence;
            ticks = 0;
            sequence = _sequence;
            n = near();
            if (_trouble != kDone) {
                if (_trouble != kStopped) {
                    return _trouble;
                }
                // Look further, as far as the walk has come: one visit to Java should learn many classes, and each walk
                // gets twice as far as the one before, however far the next thing to learn is.
                if (_stopAt == INT64_MAX) {
                    _stopAt = _objects + std::max<int64_t>(_objects, 200000);
                }
                if (!looksFurther()) {
                    return kStopped;
                }
            }
            if (_cancelled.load(std::memory_order_relaxed)) {
                return kCancelled;
            }
            if (worked && (manner.blockwise || deadline != 0)) {
                const int64_t t = now();
                if ((deadline != 0 && t > deadline)
                    || (manner.blockwise && finished && (_sequence == 1 || t - since > kBlockwiseNanos))) {
                    return kYield;
                }
            }
            if (_pool->inUse() >= _pool->soft() + _held) {
                if (!manner.last) {
                    return kNeedSlot;
                }
                if (manner.shipped && _waited < _patience && _pool->inUse() >= _pool->soft() + _held + kBeyond) {
                    awaitSlot();
                }
            }
        }
        if (_queue.count() >= kAhead || _stack.empty()) {
            do {
                follow<Slot, Mode>(n, _queue.take());
            } while (_queue.count() >= kAhead && ++ticks < 128 && sequence == _sequence && _trouble == kDone);
            continue;
        }
        size_t top = _stack.size() - 1;
        if (unitOf(_stack[top].target) == kLarge) {
            scanLarge<Slot, Mode>(n, top);
        } else {
            meetReferences<Slot, Mode>(n, top);
        }
    }
    if (_trouble == kDone && _payload == nullptr) {
        openSegment();
    }
    if (_trouble != kDone) {
        return _trouble;
    }
    closeSegment(true);
    return kDone;
}

void Writer::awaitSlot() {
    const int64_t since = now();
    int64_t waited = _waited;
    while (_pool->inUse() >= _pool->soft() + _held + kBeyond && waited < _patience && !_cancelled.load()) {
        usleep(200);
        waited = _waited + (now() - since);
    }
    _waited = waited;
}

Writer::Result Writer::step(int64_t budgetNanos, const Manner manner) {
    if (_cancelled.load()) {
        return kCancelled;
    }
    _waited = 0;
    if (_begun && vm.collections() != _collections) {
        return kMoved;
    }
    if (_namedHandle != nullptr) {
        _named.refresh(_namedHandle, _namedCount);
    }
    if (_standInCount != 0) {
        _standIns.refresh(_standInHandle, _standInCount);
    }
    if (_sentCount != 0) {
        switch (_sent.fill(_sentHandle, _sentCount, manner.last ? _sentCount : kSentAtOnce)) {
            case SentTable::kMore:
                return kYield;
            case SentTable::kMovedBetween:
                return kMoved;
            default:
                break;
        }
    }
    _unshared = _unsharedHandle != nullptr ? *Vm::slotOf(_unsharedHandle) : 0;
    int64_t deadline = budgetNanos == 0 ? 0 : now() + budgetNanos;
    Result r;
    if (vm.compressedOops) {
        r = vm.klassMode == KlassMode::Narrow ? walk<uint32_t, KlassMode::Narrow>(deadline, manner)
            : vm.klassMode == KlassMode::Wide ? walk<uint32_t, KlassMode::Wide>(deadline, manner)
                                              : walk<uint32_t, KlassMode::Compact>(deadline, manner);
    } else {
        r = vm.klassMode == KlassMode::Narrow ? walk<uint64_t, KlassMode::Narrow>(deadline, manner)
            : vm.klassMode == KlassMode::Wide ? walk<uint64_t, KlassMode::Wide>(deadline, manner)
                                              : walk<uint64_t, KlassMode::Compact>(deadline, manner);
    }
    _collections = vm.collections();
    return r;
}

uint32_t Writer::sources() {
    // Receivers number objects by segment and place in it; large arrays have their segment's number earlier than others
    // that were begun before and went on.
    auto before = [](const Source& a, const Source& b) { return a.target < b.target; };
    if (!std::is_sorted(_sources.begin(), _sources.end(), before)) {
        std::sort(_sources.begin(), _sources.end(), before);
    }
    return (uint32_t)_sources.size();
}

namespace {

Address elementOf(Address array, uint64_t i) {
    Address at = array + vm.refArrayBase + i * vm.referenceBytes();
    return vm.compressedOops ? decode(*(const uint32_t*)at) : *(const Address*)at;
}

}  // namespace

Writer::Result Writer::note(void* partsHandle, uint32_t from) {
    if (vm.collections() != _collections) {
        return kMoved;
    }
    Address parts = *Vm::slotOf(partsHandle);
    size_t next = from;
    for (uint64_t p = 0; p < lengthOf(parts); p++) {
        Address part = elementOf(parts, p);
        if (!vm.isYoung(part)) {
            return kYield;
        }
        uint64_t n = std::min<uint64_t>(lengthOf(part), _sources.size() - next);
        for (uint64_t i = 0; i < n; i++) {
            // Alive, if only for a marking that has begun before the walk: a young array may hold it.
            Address a = _sources[next++].address;
            Address slot = part + vm.refArrayBase + i * vm.referenceBytes();
            if (vm.compressedOops) {
                *(volatile uint32_t*)slot = (uint32_t)((a - vm.oopBase) >> vm.oopShift);
            } else {
                *(volatile uint64_t*)slot = a;
            }
        }
    }
    return kDone;
}

Writer::Result Writer::walkAndNote(void* partsHandle) {
    Address parts = *Vm::slotOf(partsHandle);
    uint64_t room = 0;
    for (uint64_t p = 0; p < lengthOf(parts); p++) {
        Address part = elementOf(parts, p);
        if (!vm.isYoung(part)) {
            return kMoved;
        }
        room += lengthOf(part);
    }
    Result r = step(0, {true});
    if (r != kDone) {
        return r;
    }
    return sources() <= room && note(partsHandle, 0) == kDone ? kDone : kMoved;
}

WriterCounts Writer::counts() const {
    return WriterCounts{_objects, _classes, _imageBytes, (int64_t)_segments, _lateTotal, _attempt};
}

size_t Writer::nativeBytes() const {
    return _stack.bytes() + _sources.capacity() * sizeof(Source) + _sent.bytes()
           + (_cross.capacity() + _late.capacity()) * 8 + _waitingBytes + _larges.capacity() * sizeof(void*)
           + _larges.size() * (sizeof(Large) + 16) + (_narrow != nullptr ? _narrow->heldBytes() : 0)
           + (_wide != nullptr ? _wide->heldBytes() : 0);
}

}  // namespace skyway

#include "reader.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace skyway {

uint64_t Reader::objectArrayKey;

namespace {

template <typename Slot>
inline Slot encode(Address a) {
    return sizeof(Slot) == 4 ? (Slot)((a - vm.oopBase) >> vm.oopShift) : (Slot)a;
}

inline uint32_t headerBytes() {
    return vm.klassMode == KlassMode::Compact ? 8 : vm.klassMode == KlassMode::Narrow ? 12 : 16;
}

inline uint32_t typeIdOf(const uint8_t* object) {
    return vm.klassMode == KlassMode::Compact ? (uint32_t)(*(const uint64_t*)object >> vm.compactKlassShift)
                                              : *(const uint32_t*)(object + 8);
}

inline void writeHeader(uint8_t* object, const Plan* plan, uint64_t hash) {
    *(uint64_t*)object = plan->mark | hash;
    if (vm.klassMode == KlassMode::Narrow) {
        *(uint32_t*)(object + 8) = (uint32_t)plan->key;
    } else if (vm.klassMode == KlassMode::Wide) {
        *(uint64_t*)(object + 8) = plan->key;
    }
}

size_t exportsBytes(uint64_t objects) {
    size_t n = (size_t)vm.refArrayBase + objects * vm.referenceBytes();
    return (n + vm.alignment - 1) & ~(size_t)(vm.alignment - 1);
}

// Bytes between a chunk's element 0 and the first place where an object may start.
size_t padBytes() {
    return (size_t)((vm.alignment - vm.longArrayBase % vm.alignment) % vm.alignment);
}

uint64_t freshMark(uint64_t key) {
    return 1 | (vm.klassMode == KlassMode::Compact ? key << vm.compactKlassShift : 0);
}

}  // namespace

Reader::~Reader() {
    forgetPieces();
}

void Reader::forgetPieces() {
    for (auto& p : _pieces) {
        if (p.second.elements != nullptr) {
            munmap(p.second.elements, p.second.mapped);
        }
    }
    _pieces.clear();
    _pieceBytes = 0;
}

Reader::Result Reader::bad(const char* what, uint64_t detail) {
    _error = std::string(what) + " (block " + std::to_string(_h.sequence) + ", " + std::to_string(detail) + ")";
    return kBad;
}

void Reader::reset(uint32_t attempt) {
    _attempt = attempt;
    _sequence = 0;
    _objects = _lateTotal = 0;
    _ended = false;
    _landedSegments = 0;
    _segmentBytes = 0;
    _segments.clear();
    _holes.clear();
    _standIns.clear();
    _arrivals.clear();
    forgetPieces();
}

Reader::Found Reader::check(const uint8_t* block, uint64_t length) {
    Found f = {};
    f.result = kBad;
    _exports = false;
    if (length < sizeof(BlockHeader) || ((uintptr_t)block & 7) != 0) {
        bad("a block is shorter than its header", length);
        return f;
    }
    // From here on only this copy counts: the block may be memory that the peer can still write.
    memcpy(&_h, block, sizeof _h);
    if (_h.magic != kMagic) {
        bad("these bytes are not a Skyway image", _h.magic);
    } else if (_h.version != kVersion) {
        bad("the image has another version of the format", _h.version);
    } else if (_h.headerBytes != sizeof(BlockHeader) || _h.blockBytes != length || _h.payloadBytes > length
               || blockBytes(_h) != length) {
        bad("a block's lengths do not fit its size: it was cut short or altered", length);
    } else if (blockChecksum((const BlockHeader*)block, length) != _h.checksum) {
        bad("a block's checksum is wrong: it was altered on the way", _h.checksum);
    } else if (_h.layout != _layout) {
        bad("the image was written by a VM with another object layout", _h.layout);
    } else if (_h.imageId != _imageId) {
        bad("the block belongs to another image: replayed or misdirected", _h.imageId);
    } else if (_done || (_ended && _h.attempt == _attempt)) {
        bad("a block came after the image's last one", _h.sequence);
    } else if (_begun && _h.attempt < _attempt) {
        bad("the block belongs to an attempt that the sender gave up", _h.attempt);
    } else {
        if (!_begun || _h.attempt > _attempt) {
            f.restarted = _begun ? 1 : 0;
            _begun = true;
            reset(_h.attempt);
        }
        if (_h.sequence != _sequence) {
            bad("blocks are missing or out of order", _sequence);
            return f;
        }
        if ((_h.flags & ~(kLast | kAlone | kEnvelope)) != 0
            || ((_h.flags & kEnvelope) != 0 && (_h.flags & kLast) == 0)
            // Alone means that nothing will name the segment's objects: so nothing can be told late.
            || ((_h.flags & kAlone) != 0
                && (_sequence != 0 || (_h.flags & kLast) == 0 || _h.kind != BlockKind::Segment || _h.lateCount != 0))
            || (_h.kind != BlockKind::Segment && _h.kind != BlockKind::Piece)) {
            bad("a block has flags of no meaning", _h.flags);
            return f;
        }
        if (_h.namedCount > _h.namedBytes / 2) {
            bad("a block announces more names than it has bytes for", _h.namedCount);
            return f;
        }
        const uint64_t* lists = (const uint64_t*)(block + sizeof _h + align8(_h.payloadBytes));
        const uint32_t* ids = (const uint32_t*)(lists + _h.crossCount + 2ull * _h.lateCount);
        _missing.clear();
        for (uint32_t i = 0; i < _h.typeCount; i++) {
            if (_scope->find(ids[i]) == nullptr) {
                _missing.push_back(ids[i]);
            }
        }
        f.result = kOk;
        f.kind = (int64_t)_h.kind;
        f.flags = _h.flags;
        f.objects = _h.objects;
        f.segment = (int64_t)_h.segment;
        f.lateCount = _h.lateCount;
        f.namedCount = _h.namedCount;
        f.namedBytes = _h.namedBytes;
        f.missingTypes = (int64_t)_missing.size();
        if (_h.kind == BlockKind::Segment) {
            if (_h.payloadBytes > kMaxPayload || _h.payloadBytes % vm.alignment != 0 || _h.objects > _h.payloadBytes / 8
                || _h.segment >= 1ull << 47) {
                f.result = bad("a segment is larger than the format allows", _h.payloadBytes);
                return f;
            }
            f.fullWords = (int64_t)(padBytes() + _h.payloadBytes + exportsBytes(_h.objects)) / 8;
            f.chunkWords = alone() ? (int64_t)(padBytes() + _h.payloadBytes) / 8 : f.fullWords;
        } else {
            f.arrayLength = (int64_t)_h.arrayLength;
            f.arrayType = _h.arrayType;
            f.arrayHash = (int64_t)_h.arrayHash;
        }
        // Segment numbers are dense up to the open large arrays: a table by number never outgrows what has come. Not
        // the table's own size: with that, each block could push it further out.
        uint64_t known = _landedSegments + _pieces.size();
        if (_h.segment > known + (1u << 16)) {
            f.result = bad("a segment's number is far from those that came before", _h.segment);
            return f;
        }
        if (segment(_h.segment) != nullptr) {
            f.result = bad("a segment came twice", _h.segment);
            return f;
        }
        _sequence++;
        _ended = (_h.flags & kLast) != 0;
    }
    return f;
}

const uint8_t* Reader::names(const uint8_t* block) const {
    return block + sizeof _h + align8(_h.payloadBytes) + 8ull * _h.crossCount + 16ull * _h.lateCount
           + align8(4ull * _h.typeCount);
}

Reader::Result Reader::keepPiece(const uint8_t* block) {
    Plan* plan = _scope->find(_h.arrayType);
    if (plan == nullptr || !plan->isArray()) {
        return bad("a large array is of no array class", _h.arrayType);
    }
    bool references = plan->kind == Kind::ReferenceArray;
    int shift = references ? 3 : plan->elementShift;
    uint64_t elements = _h.payloadBytes >> shift;
    if (_h.arrayLength > INT32_MAX || elements << shift != _h.payloadBytes || elements == 0 || elements > _h.arrayLength
        || _h.arrayOffset > _h.arrayLength - elements) {
        return bad("a piece does not fit its array", _h.arrayLength);
    }
    Piece& p = _pieces[_h.segment];
    if (p.plan == nullptr) {
        p.typeId = _h.arrayType;
        p.plan = plan;
        p.length = _h.arrayLength;
        p.hash = _h.arrayHash & vm.hashMask;
    }
    if (p.typeId != _h.arrayType || p.length != _h.arrayLength || p.received != _h.arrayOffset) {
        return bad("pieces of a large array do not fit together", _h.arrayOffset);
    }
    // Grows with the bytes that come, not to the length that a header claims: a few thousand first pieces of arrays
    // of 16 GB each would be all the address space there is.
    uint64_t needed = (p.received + elements) << shift;
    if (needed > p.mapped) {
        uint64_t grown = p.mapped * 2 > needed ? p.mapped * 2 : needed;
        uint64_t whole = p.length << shift;
        grown = ((grown < whole ? grown : whole) + 4095) & ~(uint64_t)4095;
        void* m = p.elements == nullptr
                      ? mmap(nullptr, grown, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                      : mremap(p.elements, p.mapped, grown, MREMAP_MAYMOVE);
        if (m == MAP_FAILED) {
            return bad("there is no memory for a large array", _h.arrayLength);
        }
        p.elements = (uint8_t*)m;
        p.mapped = grown;
    }
    uint8_t* into = p.elements + (p.received << shift);
    memcpy(into, block + sizeof _h, _h.payloadBytes);
    _pieceBytes += _h.payloadBytes;
    _mostPieceBytes = std::max(_mostPieceBytes, _pieceBytes);
    if (!plan->trusted(nullptr, into, elements)) {
        return bad("a field has a value that the VM never gives it", _h.arrayType);
    }
    p.received += elements;
    return kOk;
}

const uint8_t* Reader::largeElements(uint64_t number, uint64_t* bytes) {
    auto at = _pieces.find(number);
    if (at == _pieces.end() || at->second.received != at->second.length) {
        return nullptr;
    }
    const Piece& p = at->second;
    *bytes = p.length << (p.plan->kind == Kind::ReferenceArray ? 3 : p.plan->elementShift);
    return p.elements;
}

void Reader::landedLarge(uint64_t number) {
    auto at = _pieces.find(number);
    if (at == _pieces.end()) {
        return;
    }
    if (number >= _segments.size()) {
        _segments.resize(number + 1);
    }
    Segment& s = _segments[number];
    s.landed = s.large = true;
    s.units = at->second.length;
    s.plan = at->second.plan;
    _landedSegments++;
    _objects++;
    munmap(at->second.elements, at->second.mapped);
    _pieceBytes -= at->second.length << (s.plan->kind == Kind::ReferenceArray ? 3 : s.plan->elementShift);
    _pieces.erase(at);
}

uint64_t Reader::Segment::startOf(uint64_t unit) const {
    uint64_t u = unit - 1, w = u >> 6;
    uint64_t m = bits[w] & (~0ull >> (63 - (u & 63)));
    while (m == 0) {
        m = bits[--w];
    }
    return w * 64 + 63 - (uint64_t)__builtin_clzll(m) + 1;
}

int Reader::assignablePair(uint32_t declared, uint64_t key) {
    const Plan* plan = types.plans.find(key);
    if (plan == nullptr) {
        return -1;
    }
    switch (types.assignable(declared)->of(plan->index)) {
        case Assignable::Yes:
            return 1;
        case Assignable::No:
            return -1;
        default:
            if (_pairs.size() < 256) {
                _pairs.push_back((uint64_t)declared << 32 | plan->index);
            }
            return 0;
    }
}

inline int Reader::assignable(const Reference& r, Address object) {
    if (r.declared == 0) {
        return 1;
    }
    uint64_t key = vm.keyOf(object);
    if (r.usual.load(std::memory_order_relaxed) == key) {
        return 1;
    }
    int a = assignablePair(r.declared, key);
    if (a > 0) {
        r.usual.store(key, std::memory_order_relaxed);
    }
    return a;
}

template <typename Slot>
inline Address Reader::element(Address array, uint64_t i) const {
    Slot raw = *((const Slot*)(array + vm.refArrayBase) + i);
    return raw == 0 ? 0 : decode<Slot>(raw);
}

// The object that a target names, or 0. Only objects of finished blocks. Where no collection came since the segment
// landed, its objects are where they were put; else its exports know.
template <typename Slot>
inline Address Reader::resolve(uint64_t t, uint32_t collections) {
    if ((t & kNamed) != 0) {
        uint64_t ordinal = t & ~kNamed;
        return ordinal < _namedLength ? element<Slot>(*Vm::slotOf(_named), ordinal) : 0;
    }
    const Segment* s = segment(segmentOf(t));
    if (s == nullptr || segmentOf(t) >= _spineLength) {
        return 0;
    }
    if (!s->large && s->collections == collections) {
        return unitOf(t) != kLarge && s->starts(unitOf(t)) ? s->base + 8 * (uint64_t)(unitOf(t) - 1) : 0;
    }
    Address in = element<Slot>(*Vm::slotOf(_spine), segmentOf(t));
    if (in == 0 || s->large != (unitOf(t) == kLarge)) {
        return 0;
    }
    if (s->large) {
        return in;
    }
    return s->starts(unitOf(t)) ? element<Slot>(in, s->ordinal(unitOf(t))) : 0;
}

template <typename Slot>
void Reader::resolveCross(const uint8_t* block) {
    const uint64_t* cross = (const uint64_t*)(block + sizeof _h + align8(_h.payloadBytes));
    const uint32_t collections = vm.collections();
    _cross.resize(_h.crossCount);
    for (uint32_t c = 0; c < _h.crossCount; c++) {
        _cross[c] = resolve<Slot>(cross[c], collections);
        // Its class will be looked at.
        __builtin_prefetch((const void*)_cross[c]);
    }
}

// One reference slot of the segment in hand.
template <typename Slot>
inline __attribute__((always_inline)) Reader::Result Reader::relocateSlot(const Here& here, Slot* slot,
                                                                          const Reference& ref) {
    const Slot v = *slot;
    Address to;
    if (v == 0) {
        return ref.required ? bad("a reference is null that its class cannot do without", ref.offset) : kOk;
    }
    if (v < SlotCode<Slot>::kCross) {
        if (v > here.units || (here.bits[(v - 1) >> 6] >> ((v - 1) & 63) & 1) == 0) {
            return bad("a reference points at no object", v);
        }
        to = here.base + 8 * (Address)v;
    } else if (v == SlotCode<Slot>::kHole) {
        *slot = 0;
        _newHoles.emplace_back(lateSlot(_h.segment, (uint32_t)((Address)slot - here.base - 8)),
                               ref.declared | (ref.required ? kRequired : 0));
        return kOk;
    } else {
        uint64_t c = v & ~SlotCode<Slot>::kCross;
        to = c < here.crossCount ? here.cross[c] : 0;
        if (to == 0) {
            return bad("a reference names no object that has arrived", c);
        }
    }
    *slot = sizeof(Slot) == 4 ? (Slot)((to - here.oopBase) >> here.oopShift) : (Slot)to;
    if (ref.declared == 0) {
        return kOk;
    }
    uint64_t key = vm.keyOf(to);
    if (ref.usual.load(std::memory_order_relaxed) == key) {
        return kOk;
    }
    int a = assignablePair(ref.declared, key);
    if (a < 0) {
        return bad("a reference points at an object of a class that its field cannot hold", ref.offset);
    }
    if (a == 0) {
        return kPairs;
    }
    ref.usual.store(key, std::memory_order_relaxed);
    return kOk;
}

template <typename Slot>
Reader::Result Reader::relocate(uint8_t* start) {
    const Here here = {(Address)start - 8, vm.oopBase,    vm.oopShift,  _landing.bits.data(),
                       _landing.units,     _cross.data(), _cross.size()};
    bool pairs = false;
    for (size_t o = 0; o < _holderCount; o++) {
        uint8_t* d = start + _holders[o].at;
        const Plan* plan = _holders[o].plan;
        const Reference* r = plan->references.data();
        if (plan->kind == Kind::Instance) {
            for (const Reference* end = r + plan->references.size(); r < end; r++) {
                Result one = relocateSlot<Slot>(here, (Slot*)(d + r->offset), *r);
                if (one == kBad) {
                    return kBad;
                }
                pairs |= one == kPairs;
            }
        } else {
            Slot* slot = (Slot*)(d + plan->arrayBase);
            for (Slot* end = slot + *(const uint32_t*)(d + vm.lengthOffset); slot < end; slot++) {
                Result one = relocateSlot<Slot>(here, slot, *r);
                if (one == kBad) {
                    return kBad;
                }
                pairs |= one == kPairs;
            }
        }
    }
    return pairs ? kPairs : kOk;
}

const Reader::Known* Reader::known(uint32_t typeId) {
    const Plan* plan = _scope->find(typeId);
    if (typeId == 0 || plan == nullptr || plan->kind > Kind::ReferenceArray) {
        return nullptr;
    }
    Known& k = _known[typeId % kKnown];
    k = Known{typeId, plan->isArray() ? 0 : plan->bytes, plan};
    return &k;
}

template <typename Slot>
Reader::Result Reader::landSegment(const uint8_t* block, uint8_t* elements) {
    _newHoles.clear();
    _newArrivals.clear();
    _pairs.clear();
    uint8_t* start = elements + padBytes();
    uint8_t* end = start + _h.payloadBytes;
    resolveCross<Slot>(block);
    memcpy(start, block + sizeof _h, _h.payloadBytes);

    Segment& s = _landing;
    s.landed = false;
    s.base = (Address)start;
    s.collections = vm.collections();
    s.objects = _h.objects;
    s.units = _h.payloadBytes / 8;
    s.bits.assign((s.units + 63) / 64, 0);
    s.rank.assign(s.bits.size(), 0);
    if (_holders.size() < _h.objects) {
        _holders.resize(_h.objects);
    }
    size_t holders = 0;

    uint8_t* exports = end;
    Slot* exported = (Slot*)(exports + vm.refArrayBase);
    const bool alone = this->alone();
    uint32_t n = 0;
    for (uint8_t* d = start; d < end;) {
        uint64_t left = (uint64_t)(end - d);
        if (left < 8 || left < headerBytes() || n == _h.objects) {
            return bad("a segment holds other objects than it says", n);
        }
        const uint32_t typeId = typeIdOf(d);
        const Known* k = &_known[typeId % kKnown];
        if (k->typeId != typeId || typeId == 0) {
            k = known(typeId);
            if (k == nullptr) {
                return bad("an object is of a class that was not announced", typeId);
            }
        }
        const Plan* plan = k->plan;
        uint64_t size = k->bytes, length = 0;
        if (size == 0) {
            if (left < plan->arrayBase || *(int32_t*)(d + vm.lengthOffset) < 0) {
                return bad("an array's length is not one", n);
            }
            length = *(uint32_t*)(d + vm.lengthOffset);
            size = plan->sizeOf(length);
        }
        if (size > left) {
            return bad("an object reaches beyond its segment", size);
        }
        if (!plan->trusted(d, d + plan->arrayBase, length)) {
            return bad("a field has a value that the VM never gives it", plan->typeId);
        }
        writeHeader(d, plan, *(uint64_t*)d & vm.hashMask);
        plan->applyMasks(d);
        if (plan->arrival) {
            if (alone) {
                _exports = true;
                return kExports;
            }
            _newArrivals.push_back(n);
        }
        uint64_t u = (uint64_t)(d - start) / 8;
        s.bits[u >> 6] |= 1ull << (u & 63);
        if (plan->kind != Kind::PrimitiveArray && !plan->references.empty()) {
            _holders[holders++] = Holder{plan, (uint32_t)(d - start)};
        }
        if (!alone) {
            exported[n] = encode<Slot>((Address)d);
        }
        n++;
        d += size;
    }
    if (n != _h.objects) {
        return bad("a segment holds other objects than it says", n);
    }
    uint32_t before = 0;
    for (size_t w = 0; w < s.bits.size(); w++) {
        s.rank[w] = before;
        before += (uint32_t)__builtin_popcountll(s.bits[w]);
    }
    _holderCount = holders;
    Result r = relocate<Slot>(start);
    if (r != kOk) {
        return r;
    }
    Address handOut = 0;
    if (alone) {
        uint64_t root = _h.root;
        if ((root & kNamed) == 0) {
            if (segmentOf(root) != _h.segment || !s.starts(unitOf(root))) {
                return bad("the graph's root is no object", root);
            }
            handOut = (Address)start + (unitOf(root) - 1) * 8;
        }
    } else {
        *(uint64_t*)exports = freshMark(objectArrayKey);
        if (vm.klassMode == KlassMode::Narrow) {
            *(uint32_t*)(exports + 8) = (uint32_t)objectArrayKey;
        } else if (vm.klassMode == KlassMode::Wide) {
            *(uint64_t*)(exports + 8) = objectArrayKey;
        }
        *(uint32_t*)(exports + vm.lengthOffset) = n;
        // Between the length and element 0 there may be a gap (24 - 20 bytes without compressed class pointers).
        memset(exports + vm.lengthOffset + 4, 0, (size_t)(vm.refArrayBase - vm.lengthOffset - 4));
        uint8_t* used = (uint8_t*)(exported + n);
        memset(used, 0, (size_t)(exports + exportsBytes(n) - used));
        handOut = (Address)exports;
    }
    // The chunk becomes a filler, and what follows it ordinary objects, with this one store.
    std::atomic_thread_fence(std::memory_order_release);
    *(volatile uint32_t*)(elements - vm.longArrayBase + vm.lengthOffset) = (uint32_t)(padBytes() / 8);
    if (handOut != 0) {
        *Vm::slotOf(_holder) = handOut;
    }
    return kOk;
}

Reader::Result Reader::land(const uint8_t* block, uint8_t* elements) {
    if (!vm.isYoung((Address)elements - (Address)vm.longArrayBase)) {
        return kNotYoung;
    }
    Result r = vm.compressedOops ? landSegment<uint32_t>(block, elements) : landSegment<uint64_t>(block, elements);
    if (r == kOk) {
        for (auto& h : _newHoles) {
            _holes.add(h.first, h.second);
        }
        if (_h.segment >= _segments.size()) {
            _segments.resize(_h.segment + 1);
        }
        for (uint32_t n : _newArrivals) {
            _arrivals.push_back((int64_t)(_h.segment << 32 | n));
        }
        _landing.landed = true;
        _landedSegments++;
        _objects += _h.objects;
        _segmentBytes += _landing.bits.capacity() * 8 + _landing.rank.capacity() * 4;
        std::swap(_segments[_h.segment], _landing);
        _lateNext = 0;
    }
    return r;
}

template <typename Slot>
Reader::Result Reader::lateSlots(const uint8_t* block) {
    // Volatile: a peer may write here meanwhile; what was checked is what is used.
    const volatile uint64_t* list = (const uint64_t*)(block + sizeof _h + align8(_h.payloadBytes)) + _h.crossCount;
    const uint64_t until = _lateNext + kLateAtOnce;
    for (; _lateNext < _h.lateCount; _lateNext++) {
        if (_lateNext == until) {
            return kAgain;
        }
        uint64_t slot = list[2 * _lateNext], t = list[2 * _lateNext + 1];
        uint64_t number = slot >> 32;
        uint32_t at = (uint32_t)slot;
        const Segment* s = segment(number);
        if (s == nullptr || number >= _spineLength) {
            return bad("a late reference belongs to no segment", number);
        }
        Address to = 0;
        if (t != kNoTarget && !isStandIn(t)) {
            to = resolve<Slot>(t, vm.collections());
            if (to == 0) {
                return bad("a late reference names no object that has arrived", t);
            }
        }
        Address in = element<Slot>(*Vm::slotOf(_spine), number);
        if (in == 0) {
            return bad("a late reference belongs to no segment", number);
        }
        Address holder;
        uint32_t declared;
        uint64_t offset, ordinal;
        if (s->large) {
            if (s->plan->kind != Kind::ReferenceArray || at >= s->units || element<Slot>(in, at) != 0) {
                return bad("a late reference belongs to no element that waits for one", at);
            }
            declared = s->plan->references[0].declared;
            holder = in;
            ordinal = at;
            offset = s->plan->arrayBase + (uint64_t)at * sizeof(Slot);
        } else {
            uint64_t unit = at / 8 + 1;
            if (unit > s->units || !_holes.take(slot, &declared)) {
                return bad("a late reference belongs to no field that waits for one", slot);
            }
            uint64_t first = s->startOf(unit);
            ordinal = s->ordinal(first);
            holder = element<Slot>(in, ordinal);
            offset = at - (first - 1) * 8;
        }
        if (isStandIn(t)) {
            _standIns.insert(_standIns.end(), {(int64_t)number, (int64_t)ordinal, s->large ? -1 : (int64_t)offset,
                                               (int64_t)(declared & ~kRequired), (int64_t)(t & ~kStandIn)});
            continue;
        }
        if (to == 0) {
            if (!s->large && (declared & kRequired) != 0) {
                return bad("a reference is null that its class cannot do without", slot);
            }
            continue;
        }
        const uint32_t as = declared & ~kRequired;
        if (as != 0) {
            int a = assignablePair(as, vm.keyOf(to));
            if (a < 0) {
                return bad("a late reference is of a class that its field cannot hold", t);
            }
            if (a == 0) {
                if (!s->large) {
                    _holes.add(slot, declared);
                }
                return kPairs;
            }
        }
        _lateTotal++;
        // Into a young object a raw store needs no barrier; any other one is Java's.
        if (vm.isYoung(holder)) {
            *(volatile Slot*)(holder + offset) = encode<Slot>(to);
        } else {
            bool named = (t & kNamed) != 0;
            const Segment* d = named ? nullptr : segment(segmentOf(t));
            _javaStores.push_back((int64_t)number);
            _javaStores.push_back((int64_t)ordinal);
            _javaStores.push_back(s->large ? -1 : (int64_t)offset);
            _javaStores.push_back(named ? -1 : (int64_t)segmentOf(t));
            _javaStores.push_back(named ? (int64_t)(t & ~kNamed) : d->large ? -1 : (int64_t)d->ordinal(unitOf(t)));
        }
    }
    return kOk;
}

Reader::Result Reader::late(const uint8_t* block) {
    _pairs.clear();
    return vm.compressedOops ? lateSlots<uint32_t>(block) : lateSlots<uint64_t>(block);
}

Reader::Result Reader::targets(uint64_t number, uint64_t from, uint64_t count, void* temporaryHandle) {
    auto at = _pieces.find(number);
    if (at == _pieces.end() || from + count > at->second.received) {
        return bad("a large array is not complete", number);
    }
    Address temporary = *Vm::slotOf(temporaryHandle);
    if (!vm.isYoung(temporary)) {
        return kNotYoung;
    }
    const Plan* plan = at->second.plan;
    const uint64_t* list = (const uint64_t*)at->second.elements + from;
    _pairs.clear();
    bool pairs = false;
    for (uint64_t i = 0; i < count; i++) {
        Address to = 0;
        if (list[i] != kNoTarget) {
            to = vm.compressedOops ? resolve<uint32_t>(list[i], vm.collections())
                                   : resolve<uint64_t>(list[i], vm.collections());
            if (to == 0) {
                return bad("an array element names no object that has arrived", from + i);
            }
            int a = assignable(plan->references[0], to);
            if (a < 0) {
                return bad("an array element is of a class that the array cannot hold", from + i);
            }
            pairs |= a == 0;
        }
        if (pairs) {
            continue;
        }
        Address slot = temporary + vm.refArrayBase + i * vm.referenceBytes();
        if (vm.compressedOops) {
            *(volatile uint32_t*)slot = to == 0 ? 0 : encode<uint32_t>(to);
        } else {
            *(volatile uint64_t*)slot = to;
        }
    }
    return pairs ? kPairs : kOk;
}

Reader::Result Reader::root(int64_t* number, int64_t* ordinal) {
    if ((_h.flags & kLast) == 0) {
        return bad("the image ends before its last block", _sequence);
    }
    if (_holes.count() != 0 || !_pieces.empty()) {
        return bad("the image ends with references that were never told", _holes.count());
    }
    if (_h.totalObjects != (uint64_t)_objects) {
        return bad("the image has another number of objects than it says", _h.totalObjects);
    }
    _done = true;
    uint64_t t = _h.root;
    if ((t & kNamed) != 0) {
        *number = -1;
        *ordinal = (int64_t)(t & ~kNamed);
        return (uint64_t)*ordinal < _namedLength ? kOk : bad("the graph's root is no object", t);
    }
    const Segment* s = segment(segmentOf(t));
    if (s == nullptr || s->large != (unitOf(t) == kLarge) || (!s->large && !s->starts(unitOf(t)))) {
        return bad("the graph's root is no object", t);
    }
    *number = (int64_t)segmentOf(t);
    *ordinal = s->large ? -1 : (int64_t)s->ordinal(unitOf(t));
    return kOk;
}

size_t Reader::nativeBytes() const {
    return _holes.bytes() + (_standIns.capacity() + _arrivals.capacity() + _javaStores.capacity()) * 8
           + _segments.capacity() * sizeof(Segment) + _segmentBytes + _pieceBytes + _landing.bits.capacity() * 8
           + _landing.rank.capacity() * 4 + _holders.capacity() * sizeof(Holder) + _cross.capacity() * sizeof(Address)
           + _newHoles.capacity() * sizeof(_newHoles[0]);
}

size_t Reader::takeMostBytes() {
    size_t most =
        nativeBytes() - _holes.bytes() + _holes.takeMost() - _pieceBytes + std::max(_mostPieceBytes, _pieceBytes);
    _mostPieceBytes = 0;
    return most;
}

}  // namespace skyway

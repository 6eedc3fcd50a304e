// Checks the blocks of an image and turns them into live objects.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "format.h"
#include "plan.h"

namespace skyway {

// Slots of landed segments that wait for a late entry: slot → index of the declared class's Assignable. Open
// addressing; a taken cell stays as a mark until the table is rebuilt.
class Holes {
  public:
    void add(uint64_t slot, uint32_t declared) {
        if ((_used + 1) * 2 > _cells.size()) {
            rebuild();
        }
        size_t i = find(slot);
        if (_cells[i].slot != slot + 1) {
            _cells[i].slot = slot + 1;
            _used++;
        }
        _open += _cells[i].open ? 0 : 1;
        _cells[i].open = true;
        _cells[i].declared = declared;
    }
    bool take(uint64_t slot, uint32_t* declared) {
        if (_cells.empty()) {
            return false;
        }
        Cell& c = _cells[find(slot)];
        if (c.slot != slot + 1 || !c.open) {
            return false;
        }
        *declared = c.declared;
        c.open = false;
        _open--;
        return true;
    }
    size_t count() const {
        return _open;
    }
    size_t bytes() const {
        return _cells.size() * sizeof(Cell);
    }
    // The most that it has held since the last call: while it is made anew there are two of them.
    size_t takeMost() {
        size_t most = _most > bytes() ? _most : bytes();
        _most = 0;
        return most;
    }
    void clear() {
        _cells.clear();
        _used = _open = 0;
    }

  private:
    struct Cell {
        uint64_t slot = 0;  // + 1; 0: free
        uint32_t declared = 0;
        bool open = false;
    };
    size_t find(uint64_t slot) const {
        size_t mask = _cells.size() - 1;
        size_t i = (slot * 0x9e3779b97f4a7c15ull >> 32) & mask;
        while (_cells[i].slot != 0 && _cells[i].slot != slot + 1) {
            i = (i + 1) & mask;
        }
        return i;
    }
    void rebuild() {
        std::vector<Cell> old;
        old.swap(_cells);
        size_t cells = 256;
        while (cells < _open * 4) {
            cells *= 2;
        }
        _cells.resize(cells);
        _most = old.size() * sizeof(Cell) + bytes();
        _used = _open;
        for (const Cell& c : old) {
            if (c.open) {
                _cells[find(c.slot - 1)] = c;
            }
        }
    }
    std::vector<Cell> _cells;
    size_t _used = 0, _open = 0, _most = 0;
};

class Reader {
  public:
    enum Result : int {
        kOk = 0,
        kNotYoung = 1,  // the chunk has left the young generation: allocate again
        kPairs = 2,     // Java must say which of pairs() are assignable, then the same again
        kBad = 3,       // error() says why
        kAgain = 4,     // there is more to do; the window has been open long enough
        kExports = 5,   // the only segment needs exports all the same: allocate Found::fullWords
    };

    Reader(Scope* scope, uint64_t imageId, uint64_t layout) : _scope(scope), _imageId(imageId), _layout(layout) {}
    ~Reader();

    // What check() found out about a block, for Java.
    struct Found {
        int64_t result, kind, flags, objects, chunkWords, segment, lateCount, namedCount, namedBytes, restarted,
            largeComplete, arrayLength, arrayType, arrayHash, missingTypes, fullWords;
    };
    // Outside of windows: header, lengths, checksum, order, types; nothing is allocated from what a block says
    // before its bytes are known to be there.
    Found check(const uint8_t* block, uint64_t length);
    const std::vector<uint32_t>& missing() const {
        return _missing;
    }
    const uint8_t* names(const uint8_t* block) const;
    // Outside of windows, for a piece: keeps its elements.
    Result keepPiece(const uint8_t* block);
    const uint8_t* largeElements(uint64_t segment, uint64_t* bytes);
    // The complete array stands in the spine now; what was kept of it goes.
    void landedLarge(uint64_t segment);

    // In a window. `elements` is element 0 of the chunk.
    Result land(const uint8_t* block, uint8_t* elements);
    // In a window, after land(): the late entries from lateNext() on.
    Result late(const uint8_t* block);
    // In a window: targets `from`, `from` + 1, ... of a large reference array into a young Object[].
    Result targets(uint64_t segment, uint64_t from, uint64_t count, void* temporaryHandle);

    // Late stores that Java must do, because the object has left the young generation: groups of five
    // (segment, ordinal or element, byte offset or -1 for an element, target's segment or -1, its ordinal).
    std::vector<int64_t>& javaStores() {
        return _javaStores;
    }
    // Late references to what Java makes of a stand-in: groups of five (segment, ordinal or element, byte offset or -1,
    // index of the declared class, place in the envelope).
    std::vector<int64_t>& standIns() {
        return _standIns;
    }
    // Objects that Java must look at, in the order of the image: segment << 32 | ordinal.
    std::vector<int64_t>& arrivals() {
        return _arrivals;
    }
    bool envelope() const {
        return (_h.flags & kEnvelope) != 0;
    }
    std::vector<uint64_t>& pairs() {
        return _pairs;
    }

    void setHandles(void* spine, uint32_t spineLength, void* named, uint32_t namedLength, void* holder) {
        _spine = spine;
        _spineLength = spineLength;
        _named = named;
        _namedLength = namedLength;
        _holder = holder;
    }
    bool alone() const {
        return (_h.flags & kAlone) != 0 && !_exports;
    }
    // After the last block: where the root is (segment or -1 for named; ordinal).
    Result root(int64_t* segment, int64_t* ordinal);
    const std::string& error() const {
        return _error;
    }
    int64_t objects() const {
        return _objects;
    }
    int64_t lateTotal() const {
        return _lateTotal;
    }
    size_t nativeBytes() const;
    // The most since the last call.
    size_t takeMostBytes();

    // Of exports.
    static uint64_t objectArrayKey;

  private:
    struct Segment {
        bool landed = false;
        bool large = false;
        uint32_t objects = 0;
        // Where it landed, which is where its objects are until the next collection.
        Address base = 0;
        uint32_t collections = 0;
        uint64_t units = 0;          // large: elements
        Plan* plan = nullptr;        // large
        std::vector<uint64_t> bits;  // starts of objects, by unit - 1
        std::vector<uint32_t> rank;  // objects before each word of bits

        bool starts(uint64_t unit) const {
            return unit - 1 < units && (bits[(unit - 1) >> 6] >> ((unit - 1) & 63) & 1) != 0;
        }
        uint32_t ordinal(uint64_t unit) const {
            uint64_t u = unit - 1;
            return rank[u >> 6] + (uint32_t)__builtin_popcountll(bits[u >> 6] & ((1ull << (u & 63)) - 1));
        }
        // Start of the object that covers this unit; the caller knows that there is one.
        uint64_t startOf(uint64_t unit) const;
    };
    struct Piece {
        uint32_t typeId = 0;
        Plan* plan = nullptr;
        uint64_t length = 0, received = 0, hash = 0;
        uint8_t* elements = nullptr;
        uint64_t mapped = 0;
    };

    Result bad(const char* what, uint64_t detail = 0);
    void reset(uint32_t attempt);
    void forgetPieces();
    template <typename Slot>
    Result landSegment(const uint8_t* block, uint8_t* elements);
    template <typename Slot>
    Result relocate(uint8_t* start);
    // What relocation keeps in registers.
    struct Here {
        Address base;  // of unit 0
        Address oopBase;
        int oopShift;
        const uint64_t* bits;
        uint64_t units;
        const Address* cross;
        uint64_t crossCount;
    };
    template <typename Slot>
    Result relocateSlot(const Here& here, Slot* slot, const Reference& ref);
    template <typename Slot>
    void resolveCross(const uint8_t* block);
    template <typename Slot>
    Address resolve(uint64_t target, uint32_t collections);
    template <typename Slot>
    Address element(Address array, uint64_t i) const;
    // 1: assignable, 0: a pair that Java must look at, -1: no
    int assignable(const Reference& r, Address object);
    int assignablePair(uint32_t declared, uint64_t key);
    template <typename Slot>
    Result lateSlots(const uint8_t* block);
    Segment* segment(uint64_t number) {
        return number < _segments.size() && _segments[number].landed ? &_segments[number] : nullptr;
    }

    Scope* const _scope;
    const uint64_t _imageId, _layout;
    BlockHeader _h = {};
    bool _begun = false, _done = false;
    bool _ended = false;    // the last block of this attempt was checked
    bool _exports = false;  // the only segment is landed with exports
    uint32_t _attempt = 0;
    uint64_t _sequence = 0;
    int64_t _objects = 0, _lateTotal = 0;
    std::vector<Segment> _segments;
    uint64_t _landedSegments = 0;
    size_t _segmentBytes = 0, _pieceBytes = 0;  // of what segments and large arrays hold
    size_t _mostPieceBytes = 0;
    std::map<uint64_t, Piece> _pieces;
    Holes _holes;
    std::vector<uint32_t> _missing;
    std::vector<uint64_t> _pairs;
    std::vector<int64_t> _javaStores, _standIns, _arrivals;
    std::vector<uint32_t> _newArrivals;  // ordinals in the segment in hand
    // Objects of the segment in hand that have references.
    struct Holder {
        const Plan* plan;
        uint32_t at;  // bytes from its start
    };
    std::vector<Holder> _holders;
    size_t _holderCount = 0;
    std::vector<Address> _cross;      // of the segment in hand, resolved; 0: names no object
    // What the scope says of the types met last, where one load finds it.
    struct Known {
        uint32_t typeId = 0;  // 0 is no type
        uint32_t bytes = 0;   // 0: an array
        const Plan* plan = nullptr;
    };
    static constexpr uint32_t kKnown = 256;
    Known _known[kKnown];
    const Known* known(uint32_t typeId);
    std::vector<std::pair<uint64_t, uint32_t>> _newHoles;
    static constexpr uint32_t kRequired = 1u << 31;  // with a hole's declared class: null is no answer
    Segment _landing;
    static constexpr uint64_t kLateAtOnce = 8192;
    uint64_t _lateNext = 0;
    void* _spine = nullptr;
    void* _named = nullptr;
    void* _holder = nullptr;
    uint32_t _spineLength = 0, _namedLength = 0;
    std::string _error;
};

}  // namespace skyway

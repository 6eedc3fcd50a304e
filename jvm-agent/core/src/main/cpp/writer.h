// Walks a graph and writes its image, block by block.
#pragma once

#include <semaphore.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "format.h"
#include "plan.h"
#include "seen.h"
#include "slots.h"

namespace skyway {

// Indices of the objects in an array of Java's, by address.
class AddressTable {
  public:
    // Index in the array, or -1.
    int64_t find(Address a) const {
        if (_cells.empty()) {
            return -1;
        }
        for (size_t i = hash(a) & _mask;; i = (i + 1) & _mask) {
            if (_cells[i].address == a) {
                return _cells[i].index;
            }
            if (_cells[i].address == 0) {
                return -1;
            }
        }
    }
    size_t bytes() const {
        return _cells.capacity() * sizeof(Cell);
    }

  protected:
    // Room for so many; keeps what is in.
    void reserve(uint32_t count);
    void clear();
    // In a window: takes in elements `from` to `end` of the array.
    void take(void* arrayHandle, uint32_t from, uint32_t end);

  private:
    struct Cell {
        Address address = 0;
        uint32_t index = 0;
    };
    static size_t hash(Address a) {
        return (size_t)(a * 0x9e3779b97f4a7c15ull >> 28);
    }
    void put(Address a, uint32_t index);

    std::vector<Cell> _cells;
    size_t _mask = 0;
};

// Named objects, rebuilt from Java's array of them when a collection may have moved them.
class NamedTable : public AddressTable {
  public:
    // In a window.
    void refresh(void* arrayHandle, uint32_t count);
    void forget() {
        _count = 0;
    }

  private:
    uint32_t _count = 0;
    uint32_t _collections = 0;
};

// Objects that earlier images of a stream have sent. Grows with the array, and is made anew when a collection may have
// moved them.
class SentTable : public AddressTable {
  public:
    enum Fill { kReady, kMore, kMovedBetween };

    // Outside of windows: room for so many.
    void prepare(uint32_t count);
    // In a window: takes up to `most` more objects in.
    Fill fill(void* arrayHandle, uint32_t count, uint32_t most);

  private:
    uint32_t _count = 0;  // objects of the array that are in, or were null
    uint32_t _collections = 0;
};

struct WriterCounts {
    int64_t objects, classes, imageBytes, segments, late, attempts;
};

class Writer {
  public:
    enum Result : int {
        kDone = 0,
        kYield = 1,      // the budget is used up
        kNeedSlot = 2,   // every slot of the pool is in use
        kMoved = 3,      // a collection has run since the last window: begin again
        kStopped = 4,    // objects that Java must look at: found() of them, in the holders
        kCancelled = 5,
        kNoMemory = 6,
        kWider = 7,      // more segments than the side table's entries can name: begin again with wide entries
        kTooLarge = 8,   // an instance that is larger than a segment
    };

    Writer(SlotPool* pool, uint32_t maxSegmentBytes, uint64_t layout);
    ~Writer();

    // Outside of windows: a new image.
    void begin(uint64_t imageId, void* rootHandle);
    // Outside of windows. Drops what was written and starts over.
    void restart();
    // Names of named objects, by index in Java's array; kept by Java for the writer's life.
    void setNamed(void* arrayHandle, uint32_t count, const char* const* names, const uint16_t* lengths);
    // Outside of windows: an object that is copied although it has a name, or null.
    void setCopied(void* handle) {
        _copied = handle;
    }
    // Outside of windows, before an attempt.
    void setRoot(void* rootHandle) {
        _root = rootHandle;
    }
    // Objects that have a stand-in in this image, in Java's array at 1, 2, ...; the root is the envelope then.
    void setStandIns(void* arrayHandle, uint32_t count) {
        _standInHandle = arrayHandle;
        _standInCount = count;
        _standIns.forget();
    }
    // Outside of windows, before every attempt of an image of a stream: the objects of its earlier images, in Java's
    // array, are named by their index there. `unsharedHandle`: one that is sent anew all the same, or null.
    void setSent(void* arrayHandle, uint32_t count, void* unsharedHandle) {
        _keep = true;
        _sentHandle = arrayHandle;
        _sentCount = count;
        _unsharedHandle = unsharedHandle;
        _sent.prepare(count);
        _namedTotal = count;
    }
    // Outside of windows, after kDone in such an image: how many objects it has.
    uint32_t sources();
    // In a window: sources from `from` on, in the image's order, into Object[]s that are the elements of another.
    // kYield: one of them is not young any more; kMoved: a collection has run since the walk, and where the objects are
    // is not known.
    Result note(void* partsHandle, uint32_t from);
    // In a window: the walk and the noting in one, for when collections leave no time in between. kMoved: what was
    // given to write to is not young any more, or too small.
    Result walkAndNote(void* partsHandle);
    void setHolders(void* const* slots, uint32_t count);

    struct Manner {
        bool last = false;       // the pool may grow: no waiting for slots without end
        bool blockwise = false;  // come back after some blocks (kYield), so that the caller can ship them
        bool shipped = false;    // another thread takes blocks meanwhile: with `last`, wait for it for a while
    };
    // In a window. A budget of 0 means no limit.
    Result step(int64_t budgetNanos, Manner manner);

    uint32_t found() const {
        return _found;
    }
    WriterCounts counts() const;
    int64_t objectsSoFar() const {
        return _objects;
    }
    // From any thread, and for good: it may come before the walk that it is meant for begins.
    void cancel();

    // The shipping thread's side.
    struct Finished {
        uint32_t slot;
        uint32_t attempt;
        bool last;
        uint64_t bytes;
    };
    // 1: a block; 0: none within the time; -1: never again.
    int take(int64_t timeoutMillis, Finished* out);

    SlotPool* pool() const {
        return _pool;
    }
    size_t nativeBytes() const;

    static size_t slotBytesFor(size_t maxSegmentBytes);
    static constexpr size_t kMostName = 4096;  // bytes of a named object's name
    // Slots that a walk's last window takes beyond the pool's without waiting for the receiver.
    static constexpr uint32_t kBeyond = 192;
    // Blockwise, a window goes on to the end of another block until it has lasted as long as this: each end costs the
    // sender a write and the receiver's threads a wake-up. The first block is not held back.
    static constexpr int64_t kBlockwiseNanos = 1500000;
    // How long it waits for the receiver in all: collections, and whoever needs one, wait for it.
    void setPatience(int64_t nanos) {
        _patience = nanos;
    }

  private:
    struct Entry {
        Address source;
        uint64_t target;
        Plan* plan;
        uint64_t index;  // arrays: next element
    };
    // The explicit stack of a walk: as large as memory allows. Entries are written field by field: building one and
    // copying it with wide moves stalls on the narrow stores just before.
    class Stack {
      public:
        ~Stack() {
            free(_entries);
        }
        bool push(Address source, uint64_t target, Plan* plan, uint64_t index) {
            if (_size == _capacity && !grow()) {
                return false;
            }
            Entry& e = _entries[_size++];
            e.source = source;
            e.target = target;
            e.plan = plan;
            e.index = index;
            return true;
        }
        void pop() {
            _size--;
        }
        void clear() {
            _size = 0;
        }
        // What one deep graph has needed is not kept for the next.
        void shrink() {
            if (_size == 0 && bytes() > kKeep) {
                free(_entries);
                _entries = nullptr;
                _capacity = 0;
            }
        }
        bool empty() const {
            return _size == 0;
        }
        size_t size() const {
            return _size;
        }
        size_t bytes() const {
            return _capacity * sizeof(Entry);
        }
        Entry& operator[](size_t i) const {
            return _entries[i];
        }

      private:
        static constexpr size_t kKeep = 1 << 20;

        bool grow() {
            size_t capacity = _capacity == 0 ? 256 : _capacity * 2;
            Entry* bigger = (Entry*)realloc(_entries, capacity * sizeof(Entry));
            if (bigger == nullptr) {
                return false;
            }
            _entries = bigger;
            _capacity = capacity;
            return true;
        }
        Entry* _entries = nullptr;
        size_t _size = 0, _capacity = 0;
    };
    struct Large {
        uint64_t segment;
        Address source;
        Plan* plan;
        uint64_t length;
        uint64_t hash;
        uint64_t done = 0;  // elements
        bool complete = false;
        int64_t slot = -1;  // reference arrays: the piece being filled
        uint64_t pieceElements = 0;
        std::vector<uint64_t> waiting;  // late slots that name this array
        std::vector<uint64_t> standIns;  // reference arrays: pairs of late slot and target
    };
    // References that were met and are not followed yet, oldest first. What each one refers to is asked for when it is
    // met, and has come into the cache when it is followed: a queue in front of the stack, as Cher, Hosking and
    // Vitek's for marking ("Software prefetching for mark-sweep garbage collection", ASPLOS 2004).
    struct Pending {
        Address child;
        uint64_t slot;  // as in a late list; it holds a hole
    };
    class Queue {
      public:
        static constexpr uint32_t kCells = 128;  // a power of two, at least kDirect + kAtOnce
        uint32_t count() const {
            return _end - _begin;
        }
        void put(Address child, uint64_t slot) {
            Pending& p = _cells[_end++ % kCells];
            p.child = child;
            p.slot = slot;
        }
        const Pending& take() {
            return _cells[_begin++ % kCells];
        }
        void clear() {
            _begin = _end = 0;
        }

      private:
        uint32_t _begin = 0, _end = 0;
        Pending _cells[kCells];
    };
    // References that wait so that what they refer to has the time to come.
    static constexpr uint32_t kAhead = 16;
    // An object with more references goes to the stack, and its references into the queue bit by bit.
    static constexpr uint32_t kAtOnce = 16;
    // Nor do those of any object go there directly while the queue is as long as that.
    static constexpr uint32_t kDirect = 100;
    static constexpr uint64_t kWaiting = kNoTarget - 1;
    static constexpr uint64_t kNarrowMost = 0x7fffffff;
    static constexpr size_t kPieceLists = 32 << 10;  // room for type ids and names in a piece's block

    // What the innermost loop keeps in registers: through `this` and `vm` it would be read again after each store.
    struct Near {
        Address oopBase;
        int oopShift;
        uint64_t hashMask;
        PlanTable::View plans;
        uint32_t* side;  // entry of address 0; null while the graph is small or the table wide

        template <typename Slot>
        Address decode(Slot raw) const {
            return sizeof(Slot) == 4 ? oopBase + ((Address)raw << oopShift) : (Address)raw;
        }
        template <KlassMode Mode>
        uint32_t* entry(Address a) const {
            return side + (a >> (Mode == KlassMode::Compact ? 3 : 4));
        }
    };
    Near near() const {
        return Near{vm.oopBase, vm.oopShift, vm.hashMask, types.plans.view(),
                    // What is kept goes by meet(), object by object.
                    _small || _keep || _narrow == nullptr ? nullptr : _narrow->biased()};
    }

    template <typename Slot, KlassMode Mode>
    Result walk(int64_t deadline, Manner manner);
    template <typename Slot, KlassMode Mode>
    uint64_t discover(const Near& n, Address a);
    // An object not seen before, whatever it is.
    template <typename Slot, KlassMode Mode>
    uint64_t meet(Address a);
    template <typename Slot, KlassMode Mode>
    uint64_t fill(const Near& n, Address a, Plan* plan, uint64_t length, uint64_t bytes);
    template <typename Slot, KlassMode Mode>
    uint64_t copyImage(const Near& n, Address a, const Plan* plan, uint64_t length, uint64_t bytes);
    template <typename Slot, KlassMode Mode>
    bool fillLeaf(const Near& n, Address a, Slot* slot);
    template <typename Slot, KlassMode Mode>
    uint64_t copy(Address a, Plan* plan, uint64_t length, uint64_t bytes);
    template <KlassMode Mode>
    static void ask(const Near& n, Address a);
    template <typename Slot, KlassMode Mode>
    void meetReference(const Near& n, Slot raw, Slot* slot, uint64_t late);
    template <typename Slot, KlassMode Mode>
    void meetReferences(const Near& n, size_t entry);
    template <typename Slot, KlassMode Mode>
    void follow(const Near& n, Pending p);
    template <typename Slot, KlassMode Mode>
    void scanLarge(const Near& n, size_t entry);
    template <typename Slot>
    bool store(Slot* slot, uint64_t target);
    template <typename Slot>
    void punchHoles(uint8_t* at, const Plan* plan, uint64_t from, uint64_t length);
    uint64_t settle(uint64_t t, uint64_t lateSlot) {
        return unitOf(t) != kLarge ? t : settleLarge(t, lateSlot);
    }
    uint64_t settleLarge(uint64_t t, uint64_t lateSlot);
    Large* large(uint64_t segment);
    // A place for pieces. Only one array holds one: what lies around it sends what it has so far.
    bool openPiece(Large& l);
    void addWaiting(std::vector<uint64_t>& list, uint64_t value);
    void dropWaiting(std::vector<uint64_t>& list);
    void addToPiece(Large& l, uint64_t t);
    void copyPiece(Large& l);
    void shipTargets(Large& l);
    void shipPiece(Large& l, uint64_t elements, uint64_t bytes);

    // Java must look at objects, and the walk is not yet as far as it goes to find more of them.
    bool looksFurther() const {
        return _trouble == kStopped && _stopAt != INT64_MAX && _objects <= _stopAt && _found < _holderCount;
    }

    uint64_t seenGet(Address a) const {
        return _small ? _smallSeen.get(a) : _narrow != nullptr ? widen(_narrow->get(a)) : _wide->get(a);
    }
    // A named target's bit 63 is bit 31 in a narrow entry, and back.
    static uint64_t narrowed(uint64_t target) {
        return (target & ~kNamed) | (target & kNamed) >> 32;
    }
    static uint64_t widen(uint64_t v) {
        return (v & kNarrowMost) | (v & ~kNarrowMost) << 32;
    }
    void seenPut(Address a, uint64_t value);
    bool spill();

    uint64_t namedTarget(Address a, uint32_t index);
    template <typename Slot>
    bool traceIsFetched(Address a, const Plan* plan) const;
    void report(Address a);
    void push(Address source, uint64_t t, Plan* plan, uint64_t index);
    void useType(const Plan* plan);
    void firstUse(const Plan* plan);
    uint64_t discoverLarge(Address a, Plan* plan, uint64_t length);
    void addLate(uint64_t slot, uint64_t target);
    uint64_t lateSlotOf(uint64_t objectTarget, uint32_t offset) const {
        return lateSlot(segmentOf(objectTarget), (unitOf(objectTarget) - 1) * 8 + offset);
    }
    bool openSegment();
    template <typename Slot>
    bool fits(uint64_t bytes) const {
        return _chunk + bytes + sizeof(Slot) <= _maxChunk
               && _used + (int64_t)bytes <= (_room < (int64_t)kMaxPayload ? _room : (int64_t)kMaxPayload);
    }
    void closeSegment(bool last);
    // Lists grow behind the payload of the open segment: each entry takes its bytes from `_room`, which starts low
    // enough for one more of everything, a longest name included.
    void takeRoom(int64_t bytes) {
        _room -= bytes;
    }
    bool tablesFull() const {
        return _used > _room;
    }
    void resetRoom() {
        _room = (int64_t)(_pool->slotBytes() - sizeof(BlockHeader) - 2 * kMostName - 64);
    }
    uint64_t pieceBytes() const {
        return (_pool->slotBytes() - sizeof(BlockHeader) - kPieceLists) & ~(uint64_t)7;
    }
    // In a walk's last window, when more slots are in use than it should take.
    void awaitSlot();
    // Writes tables and header behind the payload and hands the block to the shipping thread.
    void emit(uint32_t slot, BlockHeader& h, bool withTables);
    void enqueue(Finished f);
    void dropQueue();

    // The pieces that decide a walk's speed stand together.
    SlotPool* const _pool;
    uint8_t* _payload = nullptr;  // of the open segment
    uint64_t _segment = ~0ull;    // number of the open segment
    int64_t _used = 0;
    int64_t _room = 0;  // for payload, what the lists take already subtracted
    uint32_t _chunk = 0;  // bytes that the receiver will need for it, exports included
    uint32_t _maxChunk;
    uint32_t _largeBytes, _largeReferenceBytes;
    bool _small = true;
    SideTable<uint32_t>* _narrow = nullptr;
    SideTable<uint64_t>* _wide = nullptr;
    int64_t _objects = 0;
    int64_t _stopAt = INT64_MAX;  // objects, from the first that Java must look at on
    uint32_t _segmentObjects = 0;
    Result _trouble = kDone;
    Stack _stack;
    Queue _queue;

    int64_t _slot = -1;
    uint32_t _held = 0;  // slots that are being filled
    uint64_t _segments = 0;
    uint64_t _sequence = 0;
    uint32_t _attempt = 0;
    bool _begun = false, _wantWide = false;
    int64_t _patience = 1000000000, _waited = 0;
    uint32_t _collections = 0;
    void* _root = nullptr;
    void* _copied = nullptr;
    uint64_t _rootTarget = kNoTarget;
    int64_t _lateTotal = 0, _imageBytes = 0, _classes = 0;
    std::vector<uint64_t> _cross, _late;
    std::vector<uint32_t> _newTypes;
    std::string _newNames;
    uint32_t _newNamed = 0, _namedTotal = 0;
    std::vector<std::unique_ptr<Large>> _larges;
    Large* _piece = nullptr;    // the one that holds a slot
    size_t _waitingBytes = 0;   // of all lists of large arrays
    std::vector<uint32_t> _typeUse;   // by plan index: attempt that used it last
    std::vector<std::pair<uint32_t, uint32_t>> _namedUse;  // by index: attempt, ordinal
    SmallSeen _smallSeen;

    static constexpr uint32_t kSentAtOnce = 1 << 16;
    struct Source {
        Address address;
        uint64_t target;
    };
    bool _keep = false;
    std::vector<Source> _sources;
    SentTable _sent;
    void* _sentHandle = nullptr;
    void* _unsharedHandle = nullptr;
    Address _unshared = 0;
    uint32_t _sentCount = 0;

    NamedTable _named, _standIns;
    void* _standInHandle = nullptr;
    uint32_t _standInCount = 0;
    void* _namedHandle = nullptr;
    uint32_t _namedCount = 0;
    const char* const* _names = nullptr;
    const uint16_t* _nameLengths = nullptr;

    void* const* _holders = nullptr;
    uint32_t _holderCount = 0, _found = 0;
    std::unordered_set<uint64_t> _foundKeys;

    uint64_t _imageId = 0;
    const uint64_t _layout;

    // Finished blocks: one producer, one consumer, no lock that a window could wait for.
    struct Node {
        Finished f;
        std::atomic<Node*> next{nullptr};
    };
    Node* _head;
    std::atomic<Node*> _tail;
    sem_t _ready;
    std::atomic<bool> _cancelled{false};
    std::atomic<uint32_t> _currentAttempt{0};
    bool _lastTaken = false;
};

}  // namespace skyway

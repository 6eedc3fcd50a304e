// What the engine knows of the virtual machine it runs in. Everything here was asked of the VM when the
// library was loaded; nothing is assumed from a version. A question without an answer refuses the engine.
#pragma once

#include <cstdint>
#include <string>

namespace skyway {

using Address = uintptr_t;

enum class Collector { Unknown, Serial, Parallel, G1, Z, Shenandoah, Epsilon };

enum class KlassMode { Narrow, Wide, Compact };

class Vm {
    friend struct FakeVm;  // native unit tests

  public:
    // Reads the exported metadata. False when the raw engine cannot work here; refusal() then says why.
    bool learn();
    const char* refusal() const {
        return _refusal.c_str();
    }

    Collector collector = Collector::Unknown;
    bool compressedOops = false;
    Address oopBase = 0;
    int oopShift = 0;
    KlassMode klassMode = KlassMode::Narrow;
    Address klassBase = 0;
    int klassShift = 0;
    int compactKlassShift = 0;  // in the mark word, with compact headers
    int hashShift = 0;
    uint64_t hashMask = 0;  // in place
    int alignment = 8;
    int lengthOffset = 0;    // of arrays
    int longArrayBase = 0;   // set by Java, which knows it from Unsafe
    int refArrayBase = 0;
    int mirrorKlassOffset = 0;
    Address heapStart = 0;
    size_t heapBytes = 0;
    size_t regionBytes = 0;  // G1

    size_t referenceBytes() const {
        return compressedOops ? 4 : 8;
    }
    // Collections so far. Unchanged between two windows: no object has moved (HOTSPOT facts, docs/architecture.md).
    uint32_t collections() const {
        return *(volatile uint32_t*)(_heap + _collectionsOffset);
    }
    bool isYoung(Address a) const;

    // What a klass says of itself; false when it is of a kind that must not be copied by its bytes.
    struct KlassFacts {
        int32_t layoutHelper;
        bool special;  // Reference, Class, ClassLoader, StackChunk: not described by its oop map alone
        uint64_t key;  // as it stands in an object's header
        Address klass;
    };
    KlassFacts klassFacts(Address klass) const;
    // Offsets of the references in an instance by the VM's own oop map; -1 when there are more than `most`.
    int oopMap(Address klass, int32_t* offsets, int most) const;
    uint64_t keyOf(Address object) const {
        switch (klassMode) {
            case KlassMode::Narrow:
                return *(const uint32_t*)(object + 8);
            case KlassMode::Wide:
                return *(const uint64_t*)(object + 8);
            default:
                return *(const uint64_t*)object >> compactKlassShift;
        }
    }

    // Bit 0..1 of a JNI handle are tags; the slot holds a full address.
    static Address* slotOf(void* handle) {
        return (Address*)((Address)handle & ~(Address)3);
    }

  private:
    bool refuse(const std::string& why);
    bool learnHeap();
    bool learnYoung();

    std::string _refusal;
    Address _heap = 0;
    long _collectionsOffset = 0;
    // G1: region table; Serial and Parallel: where the young generation's reserved range is written down
    Address _regionTable = 0;
    int _regionShift = 0;
    long _regionTypeOffset = 0;
    int _tagEden = 0, _tagSurvivor = 0;
    Address _youngRange = 0;
    long _startOffset = 0, _wordsOffset = 0;
    // klass metadata
    long _layoutHelperOffset = 0, _referenceTypeOffset = -1, _kindOffset = -1;
    long _vtableLenOffset = 0, _itableLenOffset = 0, _oopMapSizeOffset = 0;
    long _instanceKlassBytes = 0;
};

extern Vm vm;

// The address that a reference slot holds; not for null.
template <typename Slot>
inline Address decode(Slot raw) {
    return sizeof(Slot) == 4 ? vm.oopBase + ((Address)raw << vm.oopShift) : (Address)raw;
}

}  // namespace skyway

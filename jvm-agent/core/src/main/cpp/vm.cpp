#include "vm.h"

#include <dlfcn.h>

#include <cstring>

namespace skyway {

Vm vm;

namespace {

// The tables that libjvm exports for the Serviceability Agent. Their own layout is exported with them.
class Metadata {
  public:
    bool open() {
        _jvm = dlopen("libjvm.so", RTLD_NOLOAD | RTLD_LAZY);
        return _jvm != nullptr && dlsym(_jvm, "gHotSpotVMStructs") != nullptr;
    }

    // Offset of a field, or -1.
    long offset(const char* type, const char* field) const {
        Address e = findField(type, field);
        return e == 0 ? -1 : (long)*(uint64_t*)(e + word("gHotSpotVMStructEntryOffsetOffset"));
    }
    // Address of a static field, or 0.
    Address where(const char* type, const char* field) const {
        Address e = findField(type, field);
        return e == 0 ? 0 : *(Address*)(e + word("gHotSpotVMStructEntryAddressOffset"));
    }
    long typeBytes(const char* type) const {
        Address stride = word("gHotSpotVMTypeEntryArrayStride");
        for (Address e = word("gHotSpotVMTypes");; e += stride) {
            const char* name = *(const char**)(e + word("gHotSpotVMTypeEntryTypeNameOffset"));
            if (name == nullptr) {
                return -1;
            }
            if (strcmp(name, type) == 0) {
                return (long)*(uint64_t*)(e + word("gHotSpotVMTypeEntrySizeOffset"));
            }
        }
    }
    bool intConstant(const char* name, long* value) const {
        Address stride = word("gHotSpotVMIntConstantEntryArrayStride");
        for (Address e = word("gHotSpotVMIntConstants");; e += stride) {
            const char* n = *(const char**)(e + word("gHotSpotVMIntConstantEntryNameOffset"));
            if (n == nullptr) {
                return false;
            }
            if (strcmp(n, name) == 0) {
                *value = *(int32_t*)(e + word("gHotSpotVMIntConstantEntryValueOffset"));
                return true;
            }
        }
    }
    bool longConstant(const char* name, long* value) const {
        Address stride = word("gHotSpotVMLongConstantEntryArrayStride");
        for (Address e = word("gHotSpotVMLongConstants");; e += stride) {
            const char* n = *(const char**)(e + word("gHotSpotVMLongConstantEntryNameOffset"));
            if (n == nullptr) {
                return false;
            }
            if (strcmp(n, name) == 0) {
                *value = (long)*(uint64_t*)(e + word("gHotSpotVMLongConstantEntryValueOffset"));
                return true;
            }
        }
    }
    // Where a command line flag's value is, or 0.
    Address flag(const char* name) const {
        Address flags = where("JVMFlag", "flags");
        Address count = where("JVMFlag", "numFlags");
        long nameAt = offset("JVMFlag", "_name"), addrAt = offset("JVMFlag", "_addr");
        long bytes = typeBytes("JVMFlag");
        if (flags == 0 || count == 0 || nameAt < 0 || addrAt < 0 || bytes <= 0) {
            return 0;
        }
        Address f = *(Address*)flags;
        for (size_t i = 0, n = *(size_t*)count; i < n; i++, f += bytes) {
            const char* s = *(const char**)(f + nameAt);
            if (s != nullptr && strcmp(s, name) == 0) {
                return *(Address*)(f + addrAt);
            }
        }
        return 0;
    }
    bool flagOn(const char* name) const {
        Address a = flag(name);
        return a != 0 && *(bool*)a;
    }

  private:
    Address word(const char* symbol) const {
        void* p = dlsym(_jvm, symbol);
        return p == nullptr ? 0 : *(Address*)p;
    }
    Address findField(const char* type, const char* field) const {
        Address stride = word("gHotSpotVMStructEntryArrayStride");
        Address typeAt = word("gHotSpotVMStructEntryTypeNameOffset");
        Address fieldAt = word("gHotSpotVMStructEntryFieldNameOffset");
        for (Address e = word("gHotSpotVMStructs");; e += stride) {
            const char* t = *(const char**)(e + typeAt);
            if (t == nullptr) {
                return 0;
            }
            if (strcmp(t, type) == 0 && strcmp(*(const char**)(e + fieldAt), field) == 0) {
                return e;
            }
        }
    }

    void* _jvm = nullptr;
};

Metadata metadata;

Address eitherStatic(const char* type, const char* a, const char* b) {
    Address p = metadata.where(type, a);
    return p != 0 ? p : metadata.where(type, b);
}

}  // namespace

bool Vm::refuse(const std::string& why) {
    _refusal = why;
    return false;
}

bool Vm::learn() {
    if (!metadata.open()) {
        return refuse("this VM does not export HotSpot's metadata (gHotSpotVMStructs); use a HotSpot-based OpenJDK");
    }
    struct {
        const char* flag;
        Collector collector;
    } known[] = {{"UseSerialGC", Collector::Serial},
                 {"UseParallelGC", Collector::Parallel},
                 {"UseG1GC", Collector::G1},
                 {"UseZGC", Collector::Z},
                 {"UseShenandoahGC", Collector::Shenandoah},
                 {"UseEpsilonGC", Collector::Epsilon}};
    for (auto& k : known) {
        if (metadata.flagOn(k.flag)) {
            collector = k.collector;
        }
    }
    if (collector == Collector::Z || collector == Collector::Shenandoah) {
        return refuse(
            "the collector moves objects while the application runs; run with -XX:+UseG1GC, "
            "-XX:+UseParallelGC or -XX:+UseSerialGC");
    }
    if (collector == Collector::Epsilon || collector == Collector::Unknown) {
        return refuse(
            "the collector is not supported; run with -XX:+UseG1GC, -XX:+UseParallelGC or "
            "-XX:+UseSerialGC");
    }

    compressedOops = metadata.flagOn("UseCompressedOops");
    if (compressedOops) {
        Address base = eitherStatic("CompressedOops", "_narrow_oop._base", "_base");
        Address shift = eitherStatic("CompressedOops", "_narrow_oop._shift", "_shift");
        if (base == 0 || shift == 0) {
            return refuse("the VM does not say how it compresses references (CompressedOops)");
        }
        oopBase = *(Address*)base;
        oopShift = *(int32_t*)shift;
    }

    bool compact = metadata.flagOn("UseCompactObjectHeaders");
    bool narrowKlass = metadata.flagOn("UseCompressedClassPointers");
    klassMode = compact ? KlassMode::Compact : narrowKlass ? KlassMode::Narrow : KlassMode::Wide;
    if (klassMode != KlassMode::Wide) {
        Address base = eitherStatic("CompressedKlassPointers", "_narrow_klass._base", "_base");
        Address shift = eitherStatic("CompressedKlassPointers", "_narrow_klass._shift", "_shift");
        if (base == 0 || shift == 0) {
            return refuse("the VM does not say how it compresses class pointers (CompressedKlassPointers)");
        }
        klassBase = *(Address*)base;
        klassShift = *(int32_t*)shift;
    }
    long value;
    if (!metadata.longConstant("markWord::hash_shift", &value)) {
        return refuse("the VM does not say where an object's identity hash is (markWord::hash_shift)");
    }
    hashShift = (int)value;
    if (!metadata.longConstant("markWord::hash_mask_in_place", &value)) {
        return refuse("the VM does not say where an object's identity hash is (markWord::hash_mask_in_place)");
    }
    hashMask = (uint64_t)value;
    if (compact) {
        if (!metadata.longConstant("markWord::klass_shift", &value)) {
            return refuse("the VM does not say where an object's class is (markWord::klass_shift)");
        }
        compactKlassShift = (int)value;
    }
    Address align = metadata.flag("ObjectAlignmentInBytes");
    if (align == 0) {
        return refuse("the VM does not say how it aligns objects (ObjectAlignmentInBytes)");
    }
    alignment = (int)*(int64_t*)align;
    Address mirror = metadata.where("java_lang_Class", "_klass_offset");
    if (mirror == 0) {
        return refuse("the VM does not say where a class object keeps its class (java_lang_Class::_klass_offset)");
    }
    mirrorKlassOffset = *(int32_t*)mirror;
    lengthOffset = compact ? 8 : narrowKlass ? 12 : 16;

    _layoutHelperOffset = metadata.offset("Klass", "_layout_helper");
    _vtableLenOffset = metadata.offset("Klass", "_vtable_len");
    _itableLenOffset = metadata.offset("InstanceKlass", "_itable_len");
    _oopMapSizeOffset = metadata.offset("InstanceKlass", "_nonstatic_oop_map_size");
    _referenceTypeOffset = metadata.offset("InstanceKlass", "_reference_type");
    _instanceKlassBytes = metadata.typeBytes("InstanceKlass");
    if (_layoutHelperOffset < 0 || _vtableLenOffset < 0 || _itableLenOffset < 0 || _oopMapSizeOffset < 0
        || _referenceTypeOffset < 0 || _instanceKlassBytes <= 0) {
        return refuse("the VM does not say how it describes a class (InstanceKlass)");
    }
    return learnHeap() && learnYoung();
}

bool Vm::learnHeap() {
    Address heap = metadata.where("Universe", "_collectedHeap");
    _collectionsOffset = metadata.offset("CollectedHeap", "_total_collections");
    long reserved = metadata.offset("CollectedHeap", "_reserved");
    _startOffset = metadata.offset("MemRegion", "_start");
    _wordsOffset = metadata.offset("MemRegion", "_word_size");
    if (heap == 0 || _collectionsOffset < 0 || reserved < 0 || _startOffset < 0 || _wordsOffset < 0) {
        return refuse("the VM does not say where its heap is (Universe::_collectedHeap)");
    }
    _heap = *(Address*)heap;
    heapStart = *(Address*)(_heap + reserved + _startOffset);
    heapBytes = *(size_t*)(_heap + reserved + _wordsOffset) * sizeof(void*);
    if (_heap == 0 || heapStart == 0 || heapBytes == 0) {
        return refuse("the VM does not say where its heap is (CollectedHeap::_reserved)");
    }
    return true;
}

bool Vm::learnYoung() {
    const char* why = "the VM does not say which part of its heap is young";
    if (collector == Collector::G1) {
        long hrm = metadata.offset("G1CollectedHeap", "_hrm");
        long regions = metadata.offset("HeapRegionManager", "_regions");
        if (regions < 0) {
            regions = metadata.offset("G1HeapRegionManager", "_regions");
        }
        long biased = metadata.offset("G1HeapRegionTable", "_biased_base");
        long shift = metadata.offset("G1HeapRegionTable", "_shift_by");
        long type = metadata.offset("HeapRegion", "_type");
        if (type < 0) {
            type = metadata.offset("G1HeapRegion", "_type");
        }
        long tag = metadata.offset("HeapRegionType", "_tag");
        if (tag < 0) {
            tag = metadata.offset("G1HeapRegionType", "_tag");
        }
        long eden = 0, survivor = 0;
        bool tags = (metadata.intConstant("HeapRegionType::EdenTag", &eden)
                     && metadata.intConstant("HeapRegionType::SurvTag", &survivor))
                    || (metadata.intConstant("G1HeapRegionType::EdenTag", &eden)
                        && metadata.intConstant("G1HeapRegionType::SurvTag", &survivor));
        if (hrm < 0 || regions < 0 || biased < 0 || shift < 0 || type < 0 || tag < 0 || !tags) {
            return refuse(why);
        }
        Address table = _heap + hrm + regions;
        _regionTable = *(Address*)(table + biased);
        _regionShift = (int)*(uint32_t*)(table + shift);
        _regionTypeOffset = type + tag;
        _tagEden = (int)eden;
        _tagSurvivor = (int)survivor;
        regionBytes = (size_t)1 << _regionShift;
        return true;
    }
    long reserved;
    Address young;
    if (collector == Collector::Parallel) {
        Address p = metadata.where("ParallelScavengeHeap", "_young_gen");
        reserved = metadata.offset("PSYoungGen", "_reserved");
        young = p == 0 ? 0 : *(Address*)p;
    } else {
        long at = metadata.offset("SerialHeap", "_young_gen");
        if (at < 0) {
            at = metadata.offset("GenCollectedHeap", "_young_gen");
        }
        reserved = metadata.offset("Generation", "_reserved");
        young = at < 0 ? 0 : *(Address*)(_heap + at);
    }
    if (young == 0 || reserved < 0) {
        return refuse(why);
    }
    _youngRange = young + reserved;
    return true;
}

bool Vm::isYoung(Address a) const {
    if (a - heapStart >= heapBytes) {
        return false;
    }
    if (collector == Collector::G1) {
        Address region = *(Address*)(_regionTable + (a >> _regionShift) * sizeof(Address));
        if (region == 0) {
            return false;
        }
        int tag = *(volatile int32_t*)(region + _regionTypeOffset);
        return tag == _tagEden || tag == _tagSurvivor;
    }
    Address start = *(volatile Address*)(_youngRange + _startOffset);
    size_t words = *(volatile size_t*)(_youngRange + _wordsOffset);
    return a - start < words * sizeof(void*);
}

Vm::KlassFacts Vm::klassFacts(Address klass) const {
    KlassFacts f;
    f.klass = klass;
    f.layoutHelper = *(int32_t*)(klass + _layoutHelperOffset);
    f.special = f.layoutHelper > 0 && *(uint8_t*)(klass + _referenceTypeOffset) != 0;
    f.key = klassMode == KlassMode::Wide ? klass : (klass - klassBase) >> klassShift;
    return f;
}

int Vm::oopMap(Address klass, int32_t* offsets, int most) const {
    Address map = klass + _instanceKlassBytes + 8 * (Address) * (int32_t*)(klass + _vtableLenOffset)
                  + 8 * (Address) * (int32_t*)(klass + _itableLenOffset);
    // The size is in words; a block is one word: int offset, uint count.
    int blocks = *(int32_t*)(klass + _oopMapSizeOffset);
    int n = 0;
    for (int b = 0; b < blocks; b++) {
        int32_t at = *(int32_t*)(map + 8 * (Address)b);
        uint32_t count = *(uint32_t*)(map + 8 * (Address)b + 4);
        for (uint32_t i = 0; i < count; i++) {
            if (n == most) {
                return -1;
            }
            offsets[n++] = at + (int32_t)(i * referenceBytes());
        }
    }
    return n;
}

}  // namespace skyway

// Where Java meets the engine: io.skyway.core.Native.
#include <jni.h>
#include <jvmti.h>

#include <mutex>

#include "reader.h"
#include "writer.h"

using namespace skyway;

namespace {

// Named objects of this process, by index; Java appends.
struct NamedObjects {
    std::mutex lock;
    jobject array = nullptr;  // global reference to Java's Object[]
    uint32_t count = 0;
    std::vector<std::string*> texts;
    const char** names = nullptr;  // replaced by larger copies; a running walk may still read an older one
    uint16_t* lengths = nullptr;
    uint32_t capacity = 0;
};
NamedObjects named;

struct JWriter {
    Writer writer;
    jobject root = nullptr;
    jobject standIns = nullptr;
    jobject copied = nullptr;
    jobject sent = nullptr, unshared = nullptr, parts = nullptr;
    std::vector<void*> holders;
    JWriter(SlotPool* p, uint32_t max, uint64_t layout) : writer(p, max, layout) {}
};

struct JReader {
    Reader reader;
    jobject spine = nullptr, names = nullptr, holder = nullptr, temporary = nullptr;
    JReader(Scope* s, uint64_t image, uint64_t layout) : reader(s, image, layout) {}
};

enum Op { kStep = 1, kLand = 2, kLate = 3, kTargets = 4, kStamp = 5, kNote = 6, kWalkAndNote = 7 };

// One operation, inside a window. `array` is element 0 of the array that the window was opened with.
int run(int op, int64_t self, int64_t a, int64_t b, void* array) {
    switch (op) {
        case kStep:
            return ((JWriter*)self)->writer.step(a, {(b & 1) != 0, (b & 2) != 0, (b & 4) != 0});
        case kNote:
            return ((JWriter*)self)->writer.note(((JWriter*)self)->parts, (uint32_t)a);
        case kWalkAndNote:
            return ((JWriter*)self)->writer.walkAndNote(((JWriter*)self)->parts);
        case kLand:
            return ((JReader*)self)->reader.land((const uint8_t*)a, (uint8_t*)array);
        case kLate:
            return ((JReader*)self)->reader.late((const uint8_t*)a);
        case kTargets:
            return ((JReader*)self)
                ->reader.targets((uint64_t)a, (uint64_t)b >> 32, (uint32_t)b, ((JReader*)self)->temporary);
        case kStamp: {
            uint64_t* mark = (uint64_t*)*Vm::slotOf((void*)self);
            uint64_t m = *(volatile uint64_t*)mark;
            while ((m & 7) == 1 && (m & vm.hashMask) == 0) {
                if (__atomic_compare_exchange_n(mark, &m, m | ((uint64_t)a & vm.hashMask), false, __ATOMIC_SEQ_CST,
                                                __ATOMIC_SEQ_CST)) {
                    break;
                }
            }
            return 0;
        }
        default:
            return -1;
    }
}

void fail(JNIEnv* env, const std::string& what) {
    jclass c = env->FindClass("java/lang/IllegalStateException");
    if (c != nullptr) {
        env->ThrowNew(c, what.c_str());
    }
}

void setReference(JNIEnv* env, jobject* where, jobject value) {
    if (*where != nullptr) {
        env->DeleteGlobalRef(*where);
    }
    *where = value == nullptr ? nullptr : env->NewGlobalRef(value);
}

void moreHolders(JNIEnv* env, JWriter* w, size_t count, jobject filler) {
    while (w->holders.size() < count) {
        w->holders.push_back(env->NewGlobalRef(filler));
    }
    w->writer.setHolders(w->holders.data(), (uint32_t)w->holders.size());
}

jlongArray longs(JNIEnv* env, const void* from, size_t n) {
    jlongArray a = env->NewLongArray((jsize)n);
    if (a != nullptr) {
        env->SetLongArrayRegion(a, 0, (jsize)n, (const jlong*)from);
    }
    return a;
}

const char* collectorName() {
    switch (vm.collector) {
        case Collector::Serial:
            return "Serial";
        case Collector::Parallel:
            return "Parallel";
        case Collector::G1:
            return "G1";
        case Collector::Z:
            return "ZGC";
        case Collector::Shenandoah:
            return "Shenandoah";
        case Collector::Epsilon:
            return "Epsilon";
        default:
            return "unknown";
    }
}

}  // namespace

#define NATIVE(type, name) extern "C" JNIEXPORT type JNICALL Java_io_skyway_core_Native_##name

// ---- windows

// Since 22: called through the foreign function interface with Linker.Option.critical, which keeps the thread "in
// Java", so that no safepoint can complete while it runs.
extern "C" __attribute__((visibility("default"))) int32_t skyway_op(int32_t op, int64_t self, int64_t a, int64_t b,
                                                                    void* array) {
    return run(op, self, a, b, array);
}

// Before 22: a JNI critical section, which holds up moving collections. Bit 16 of the result says that one was
// held up and has run when the section was left.
NATIVE(jint, critical)(JNIEnv* env, jclass, jint op, jlong self, jlong a, jlong b, jlongArray array) {
    void* p = env->GetPrimitiveArrayCritical(array, nullptr);
    if (p == nullptr) {
        return -1;
    }
    int r = run(op, self, a, b, p);
    uint32_t before = vm.collections();
    env->ReleasePrimitiveArrayCritical(array, p, JNI_ABORT);
    return r | (vm.collections() != before ? 1 << 16 : 0);
}

// ---- the VM

NATIVE(jstring, learn)(JNIEnv* env, jclass) {
    return vm.learn() ? nullptr : env->NewStringUTF(vm.refusal());
}

NATIVE(jstring, collector)(JNIEnv* env, jclass) {
    return env->NewStringUTF(collectorName());
}

NATIVE(jlongArray, facts)(JNIEnv* env, jclass) {
    jlong f[] = {vm.compressedOops,    (jlong)vm.klassMode,  vm.hashShift,        vm.alignment,
                 vm.lengthOffset,      vm.mirrorKlassOffset, (jlong)vm.heapBytes, (jlong)vm.regionBytes,
                 vm.compactKlassShift, vm.oopShift};
    return longs(env, f, sizeof f / sizeof *f);
}

NATIVE(void, bases)(JNIEnv*, jclass, jint longArray, jint refArray, jlong objectArrayKey) {
    vm.longArrayBase = longArray;
    vm.refArrayBase = refArray;
    Reader::objectArrayKey = (uint64_t)objectArrayKey;
}

NATIVE(jlongArray, klass)(JNIEnv* env, jclass, jlong klass) {
    Vm::KlassFacts f = vm.klassFacts((Address)klass);
    jlong r[] = {f.layoutHelper, f.special, (jlong)f.key};
    return longs(env, r, 3);
}

NATIVE(jintArray, oopMap)(JNIEnv* env, jclass, jlong klass) {
    std::vector<int32_t> offsets(1 << 16);
    int n = vm.oopMap((Address)klass, offsets.data(), (int)offsets.size());
    if (n < 0) {
        return nullptr;
    }
    jintArray a = env->NewIntArray(n);
    if (a != nullptr) {
        env->SetIntArrayRegion(a, 0, n, offsets.data());
    }
    return a;
}

NATIVE(jint, collections)(JNIEnv*, jclass) {
    return (jint)vm.collections();
}

// The whole walk at a safepoint, so that the image is of one moment: JVMTI walks the heap there, and its first object
// calls us. -1: the VM does not let us.
namespace {

struct AtSafepoint {
    Writer* writer;
    int result = -1;
};

jint JNICALL firstObject(jlong, jlong, jlong*, jint, void* user) {
    AtSafepoint* at = (AtSafepoint*)user;
    at->result = at->writer->step(0, {true});
    return JVMTI_VISIT_ABORT;
}

jvmtiEnv* heapWalker(JNIEnv* env) {
    static std::mutex lock;
    static jvmtiEnv* walker = nullptr;
    std::lock_guard<std::mutex> hold(lock);
    JavaVM* java;
    if (walker == nullptr && env->GetJavaVM(&java) == JNI_OK) {
        jvmtiEnv* fresh = nullptr;
        jvmtiCapabilities want = {};
        want.can_tag_objects = 1;  // what walking the heap is called
        if (java->GetEnv((void**)&fresh, JVMTI_VERSION_11) == JNI_OK
            && fresh->AddCapabilities(&want) == JVMTI_ERROR_NONE) {
            walker = fresh;
        }
    }
    return walker;
}

}  // namespace

NATIVE(jint, stepAtSafepoint)(JNIEnv* env, jclass, jlong writer) {
    AtSafepoint at = {&((JWriter*)writer)->writer};
    jvmtiHeapCallbacks calls = {};
    calls.heap_iteration_callback = firstObject;
    jvmtiEnv* walker = heapWalker(env);
    if (walker != nullptr) {
        walker->IterateThroughHeap(0, nullptr, &calls, &at);
    }
    return at.result;
}

// ---- plans

// With the index of a reference's declared class: null is no value of it.
constexpr uint32_t kRequired = 1u << 30;
// The declared class is an array of primitives.
constexpr uint32_t kLeaf = 1u << 29;

NATIVE(jint, addPlan)(JNIEnv* env, jclass, jlong key, jint kind, jint elementShift, jint bytes, jint arrayBase,
                      jintArray offsets, jintArray declared, jintArray cleared, jintArray limits, jint traits) {
    Plan* p = new Plan();
    p->key = (uint64_t)key;
    p->kind = (Kind)kind;
    p->elementShift = (uint8_t)elementShift;
    p->bytes = (uint32_t)bytes;
    p->arrayBase = (uint32_t)arrayBase;
    p->mark = 1 | (vm.klassMode == KlassMode::Compact ? p->key << vm.compactKlassShift : 0);
    jsize n = env->GetArrayLength(offsets);
    std::vector<jint> o(n), d(n);
    env->GetIntArrayRegion(offsets, 0, n, o.data());
    env->GetIntArrayRegion(declared, 0, n, d.data());
    for (jsize i = 0; i < n; i++) {
        const uint32_t declared = (uint32_t)d[i];
        p->references.emplace_back((uint32_t)o[i], declared & ~(kRequired | kLeaf), (declared & kRequired) != 0,
                                   (declared & kLeaf) != 0);
    }
    jsize l = env->GetArrayLength(limits);
    std::vector<jint> bounds(l);
    env->GetIntArrayRegion(limits, 0, l, bounds.data());
    for (jsize i = 0; i + 1 < l; i += 2) {
        p->limits.push_back(Plan::Limit{(uint32_t)bounds[i], (uint8_t)bounds[i + 1]});
    }
    p->booleans = (traits & 1) != 0;
    jsize c = env->GetArrayLength(cleared);
    std::vector<jint> ranges(c);
    env->GetIntArrayRegion(cleared, 0, c, ranges.data());
    for (jsize i = 0; i + 1 < c; i += 2) {
        p->clear((uint32_t)ranges[i], (uint32_t)ranges[i + 1]);
    }
    if (types.plans.add(p) == nullptr) {
        delete p;
        return -1;
    }
    return (jint)p->index;
}

NATIVE(void, setTypeId)(JNIEnv*, jclass, jint plan, jint typeId) {
    Plan* p = types.plans.byIndex((uint32_t)plan);
    p->typeId = (uint32_t)typeId;
    p->ready();
}

NATIVE(void, setMayBeNamed)(JNIEnv*, jclass, jint plan, jint boxWidth, jint boxOffset, jlong lo, jlong hi) {
    Plan* p = types.plans.byIndex((uint32_t)plan);
    p->boxWidth = (int8_t)boxWidth;
    p->boxOffset = (uint16_t)boxOffset;
    p->boxLo = lo;
    p->boxHi = hi;
    p->mayBeNamed = true;
    p->ready();
}

// Before the plan has an id.
NATIVE(void, setTrace)(JNIEnv*, jclass, jint plan, jint backtraceAt, jint stackTraceAt) {
    Plan* p = types.plans.byIndex((uint32_t)plan);
    p->backtraceAt = (uint32_t)backtraceAt;
    p->stackTraceAt = (uint32_t)stackTraceAt;
    p->ready();
}

NATIVE(void, setArrival)(JNIEnv*, jclass, jint plan, jboolean arrival) {
    types.plans.byIndex((uint32_t)plan)->arrival = arrival;
}

NATIVE(jint, addDeclared)(JNIEnv*, jclass) {
    return (jint)types.addDeclared();
}

NATIVE(jboolean, setAssignable)(JNIEnv*, jclass, jint declared, jint plan, jboolean yes) {
    return types.assignable((uint32_t)declared)->set((uint32_t)plan, yes ? Assignable::Yes : Assignable::No);
}

NATIVE(jlong, newScope)(JNIEnv*, jclass) {
    return (jlong) new Scope();
}

NATIVE(void, freeScope)(JNIEnv*, jclass, jlong scope) {
    delete (Scope*)scope;
}

NATIVE(jboolean, bindType)(JNIEnv*, jclass, jlong scope, jint typeId, jint plan) {
    return ((Scope*)scope)->bind((uint32_t)typeId, types.plans.byIndex((uint32_t)plan));
}

// Appends to the named objects; `array` is Java's array, which holds them already.
NATIVE(void, addNamed)(JNIEnv* env, jclass, jobjectArray array, jobjectArray names) {
    std::lock_guard<std::mutex> hold(named.lock);
    jsize n = env->GetArrayLength(names);
    for (jsize i = 0; i < n; i++) {
        jbyteArray a = (jbyteArray)env->GetObjectArrayElement(names, i);
        jsize len = env->GetArrayLength(a);
        std::string* s = new std::string((size_t)len, 0);
        env->GetByteArrayRegion(a, 0, len, (jbyte*)&(*s)[0]);
        env->DeleteLocalRef(a);
        named.texts.push_back(s);
    }
    uint32_t count = (uint32_t)named.texts.size();
    if (count > named.capacity) {
        named.capacity = count * 2;
        const char** texts = new const char*[named.capacity];
        uint16_t* lengths = new uint16_t[named.capacity];
        for (uint32_t i = 0; i < named.count; i++) {
            texts[i] = named.names[i];
            lengths[i] = named.lengths[i];
        }
        named.names = texts;
        named.lengths = lengths;
    }
    for (uint32_t i = named.count; i < count; i++) {
        named.names[i] = named.texts[i]->data();
        named.lengths[i] = (uint16_t)named.texts[i]->size();
    }
    named.count = count;
    // The older global reference stays: a running walk may still read through it. Java's array grows by doubling.
    if (named.array == nullptr || !env->IsSameObject(named.array, array)) {
        named.array = env->NewGlobalRef(array);
    }
}

// ---- slots

NATIVE(jlong, poolCreate)(JNIEnv* env, jclass, jlong slotBytes, jint slots, jboolean shared) {
    std::string error;
    SlotPool* p = SlotPool::create((size_t)slotBytes, (uint32_t)slots, shared, &error);
    if (p == nullptr) {
        fail(env, error);
    }
    return (jlong)p;
}

NATIVE(jlong, poolOpen)(JNIEnv* env, jclass, jlong pid, jint fd, jlong slotBytes) {
    std::string error;
    SlotPool* p = SlotPool::open((int)pid, fd, (size_t)slotBytes, &error);
    if (p == nullptr) {
        fail(env, error);
    }
    return (jlong)p;
}

NATIVE(void, poolClose)(JNIEnv*, jclass, jlong pool) {
    delete (SlotPool*)pool;
}

NATIVE(jlong, poolAcquire)(JNIEnv*, jclass, jlong pool) {
    return ((SlotPool*)pool)->acquire(false);
}

NATIVE(void, poolRelease)(JNIEnv*, jclass, jlong pool, jint slot) {
    ((SlotPool*)pool)->release((uint32_t)slot);
}

NATIVE(jlong, poolAddress)(JNIEnv*, jclass, jlong pool, jint slot, jlong length) {
    return slot < 0 || length < 0 ? 0 : (jlong)((SlotPool*)pool)->at((uint32_t)slot, (size_t)length);
}

NATIVE(jint, poolFd)(JNIEnv*, jclass, jlong pool) {
    return ((SlotPool*)pool)->fd();
}

NATIVE(jint, poolInUse)(JNIEnv*, jclass, jlong pool) {
    return (jint)((SlotPool*)pool)->inUse();
}

// ---- writers

NATIVE(jlong, slotBytesFor)(JNIEnv*, jclass, jlong maxSegmentBytes) {
    return (jlong)Writer::slotBytesFor((size_t)maxSegmentBytes);
}

NATIVE(jlong, writerNew)(JNIEnv* env, jclass, jlong pool, jint maxSegmentBytes, jlong layout, jobject filler) {
    JWriter* w = new JWriter((SlotPool*)pool, (uint32_t)maxSegmentBytes, (uint64_t)layout);
    moreHolders(env, w, 64, filler);
    return (jlong)w;
}

// Outside of windows: so many objects can be found at once.
NATIVE(void, writerHolders)(JNIEnv* env, jclass, jlong writer, jint count, jobject filler) {
    moreHolders(env, (JWriter*)writer, (size_t)count, filler);
}

NATIVE(void, writerFree)(JNIEnv* env, jclass, jlong writer) {
    JWriter* w = (JWriter*)writer;
    for (void* h : w->holders) {
        env->DeleteGlobalRef((jobject)h);
    }
    setReference(env, &w->root, nullptr);
    setReference(env, &w->standIns, nullptr);
    setReference(env, &w->copied, nullptr);
    setReference(env, &w->sent, nullptr);
    setReference(env, &w->unshared, nullptr);
    setReference(env, &w->parts, nullptr);
    delete w;
}

NATIVE(void, writerBegin)(JNIEnv* env, jclass, jlong writer, jlong imageId, jobject root) {
    JWriter* w = (JWriter*)writer;
    setReference(env, &w->root, root);
    w->writer.begin((uint64_t)imageId, w->root);
}

// Another root for the next attempt, and the objects that its elements from 1 on stand for; null: none.
NATIVE(void, writerStandIns)(JNIEnv* env, jclass, jlong writer, jobject root, jobjectArray originals) {
    JWriter* w = (JWriter*)writer;
    setReference(env, &w->root, root);
    setReference(env, &w->standIns, originals);
    w->writer.setRoot(w->root);
    w->writer.setStandIns(w->standIns, originals == nullptr ? 0 : (uint32_t)env->GetArrayLength(originals));
}

// Before every attempt of an image of a stream: see Writer::setSent.
NATIVE(void, writerSent)(JNIEnv* env, jclass, jlong writer, jobjectArray sent, jint count, jobject unshared) {
    JWriter* w = (JWriter*)writer;
    setReference(env, &w->sent, sent);
    setReference(env, &w->unshared, unshared);
    w->writer.setSent(w->sent, (uint32_t)count, w->unshared);
}

NATIVE(jint, writerSources)(JNIEnv*, jclass, jlong writer) {
    return (jint)((JWriter*)writer)->writer.sources();
}

// Where ops kNote and kWalkAndNote write: an array of arrays.
NATIVE(void, writerParts)(JNIEnv* env, jclass, jlong writer, jobjectArray parts) {
    setReference(env, &((JWriter*)writer)->parts, parts);
}

NATIVE(void, writerCopied)(JNIEnv* env, jclass, jlong writer, jobject object) {
    JWriter* w = (JWriter*)writer;
    setReference(env, &w->copied, object);
    w->writer.setCopied(w->copied);
}

NATIVE(void, writerRestart)(JNIEnv*, jclass, jlong writer) {
    JWriter* w = (JWriter*)writer;
    w->writer.restart();
}

// Before the first step of every attempt: what has a name by now.
NATIVE(void, writerNamed)(JNIEnv*, jclass, jlong writer) {
    std::lock_guard<std::mutex> hold(named.lock);
    if (named.array != nullptr) {
        ((JWriter*)writer)->writer.setNamed(named.array, named.count, named.names, named.lengths);
    }
}

NATIVE(jobjectArray, writerFound)(JNIEnv* env, jclass, jlong writer) {
    JWriter* w = (JWriter*)writer;
    uint32_t n = w->writer.found();
    jobjectArray a = env->NewObjectArray((jsize)n, env->FindClass("java/lang/Object"), nullptr);
    for (uint32_t i = 0; a != nullptr && i < n; i++) {
        jobject o = env->NewLocalRef((jobject)w->holders[i]);
        env->SetObjectArrayElement(a, (jsize)i, o);
        env->DeleteLocalRef(o);
    }
    return a;
}

NATIVE(void, writerCounts)(JNIEnv* env, jclass, jlong writer, jlongArray out) {
    WriterCounts c = ((JWriter*)writer)->writer.counts();
    env->SetLongArrayRegion(out, 0, 6, (const jlong*)&c);
}

NATIVE(jlong, writerObjects)(JNIEnv*, jclass, jlong writer) {
    return ((JWriter*)writer)->writer.objectsSoFar();
}

NATIVE(void, writerCancel)(JNIEnv*, jclass, jlong writer) {
    ((JWriter*)writer)->writer.cancel();
}

// out: slot, bytes, last. 1, 0 or -1 as Writer::take.
NATIVE(jint, writerTake)(JNIEnv* env, jclass, jlong writer, jlong timeoutMillis, jlongArray out) {
    Writer::Finished f;
    int r = ((JWriter*)writer)->writer.take(timeoutMillis, &f);
    if (r == 1) {
        jlong v[] = {f.slot, (jlong)f.bytes, f.last};
        env->SetLongArrayRegion(out, 0, 3, v);
    }
    return r;
}

NATIVE(jlong, writerNativeBytes)(JNIEnv*, jclass, jlong writer) {
    return (jlong)((JWriter*)writer)->writer.nativeBytes();
}

// ---- readers

NATIVE(jlong, readerNew)(JNIEnv* env, jclass, jlong scope, jlong imageId, jlong layout, jobject filler) {
    JReader* r = new JReader((Scope*)scope, (uint64_t)imageId, (uint64_t)layout);
    setReference(env, &r->holder, filler);
    return (jlong)r;
}

NATIVE(void, readerFree)(JNIEnv* env, jclass, jlong reader) {
    JReader* r = (JReader*)reader;
    setReference(env, &r->spine, nullptr);
    setReference(env, &r->names, nullptr);
    setReference(env, &r->holder, nullptr);
    setReference(env, &r->temporary, nullptr);
    delete r;
}

NATIVE(void, readerCheck)(JNIEnv* env, jclass, jlong reader, jlong block, jlong length, jlongArray out) {
    Reader::Found f = ((JReader*)reader)->reader.check((const uint8_t*)block, (uint64_t)length);
    env->SetLongArrayRegion(out, 0, sizeof f / sizeof(jlong), (const jlong*)&f);
}

NATIVE(jintArray, readerMissing)(JNIEnv* env, jclass, jlong reader) {
    auto& m = ((JReader*)reader)->reader.missing();
    jintArray a = env->NewIntArray((jsize)m.size());
    if (a != nullptr) {
        env->SetIntArrayRegion(a, 0, (jsize)m.size(), (const jint*)m.data());
    }
    return a;
}

NATIVE(jbyteArray, readerNames)(JNIEnv* env, jclass, jlong reader, jlong block, jint bytes) {
    jbyteArray a = env->NewByteArray(bytes);
    if (a != nullptr) {
        env->SetByteArrayRegion(a, 0, bytes, (const jbyte*)((JReader*)reader)->reader.names((const uint8_t*)block));
    }
    return a;
}

NATIVE(void, readerHandles)(JNIEnv* env, jclass, jlong reader, jobjectArray spine, jobjectArray names) {
    JReader* r = (JReader*)reader;
    setReference(env, &r->spine, spine);
    setReference(env, &r->names, names);
    r->reader.setHandles(r->spine, (uint32_t)env->GetArrayLength(spine), r->names, (uint32_t)env->GetArrayLength(names),
                         r->holder);
}

NATIVE(jobject, readerHolder)(JNIEnv* env, jclass, jlong reader) {
    return env->NewLocalRef(((JReader*)reader)->holder);
}

NATIVE(void, readerTemporary)(JNIEnv* env, jclass, jlong reader, jobjectArray temporary) {
    setReference(env, &((JReader*)reader)->temporary, temporary);
}

NATIVE(jint, readerKeepPiece)(JNIEnv*, jclass, jlong reader, jlong block) {
    return ((JReader*)reader)->reader.keepPiece((const uint8_t*)block);
}

// Address of a complete large array's elements, or 0.
NATIVE(jlong, readerLarge)(JNIEnv*, jclass, jlong reader, jlong segment) {
    uint64_t bytes;
    return (jlong)((JReader*)reader)->reader.largeElements((uint64_t)segment, &bytes);
}

NATIVE(void, readerLandedLarge)(JNIEnv*, jclass, jlong reader, jlong segment) {
    ((JReader*)reader)->reader.landedLarge((uint64_t)segment);
}

NATIVE(jlongArray, readerPairs)(JNIEnv* env, jclass, jlong reader) {
    auto& p = ((JReader*)reader)->reader.pairs();
    return longs(env, p.data(), p.size());
}

NATIVE(jlongArray, readerStores)(JNIEnv* env, jclass, jlong reader) {
    auto& s = ((JReader*)reader)->reader.javaStores();
    if (s.empty()) {
        return nullptr;
    }
    jlongArray a = longs(env, s.data(), s.size());
    s.clear();
    return a;
}

// What it has collected since the last call, or null.
NATIVE(jlongArray, readerStandIns)(JNIEnv* env, jclass, jlong reader) {
    auto& s = ((JReader*)reader)->reader.standIns();
    jlongArray a = s.empty() ? nullptr : longs(env, s.data(), s.size());
    s.clear();
    return a;
}

NATIVE(jlongArray, readerArrivals)(JNIEnv* env, jclass, jlong reader) {
    auto& s = ((JReader*)reader)->reader.arrivals();
    return longs(env, s.data(), s.size());
}

NATIVE(jboolean, readerEnvelope)(JNIEnv*, jclass, jlong reader) {
    return ((JReader*)reader)->reader.envelope();
}

NATIVE(jboolean, readerRoot)(JNIEnv* env, jclass, jlong reader, jlongArray out) {
    int64_t v[2] = {0, 0};
    bool ok = ((JReader*)reader)->reader.root(&v[0], &v[1]) == Reader::kOk;
    env->SetLongArrayRegion(out, 0, 2, (const jlong*)v);
    return ok;
}

NATIVE(jstring, readerError)(JNIEnv* env, jclass, jlong reader) {
    return env->NewStringUTF(((JReader*)reader)->reader.error().c_str());
}

NATIVE(jlong, readerObjects)(JNIEnv*, jclass, jlong reader) {
    return ((JReader*)reader)->reader.objects();
}

NATIVE(jlong, readerLateTotal)(JNIEnv*, jclass, jlong reader) {
    return ((JReader*)reader)->reader.lateTotal();
}

NATIVE(jlong, readerNativeBytes)(JNIEnv*, jclass, jlong reader) {
    return (jlong)((JReader*)reader)->reader.nativeBytes();
}

// The most since the last call.
NATIVE(jlong, readerMostBytes)(JNIEnv*, jclass, jlong reader) {
    return (jlong)((JReader*)reader)->reader.takeMostBytes();
}

// The owner's reference for op kStamp.
NATIVE(jlong, hold)(JNIEnv* env, jclass, jobject o) {
    return (jlong)env->NewGlobalRef(o);
}

NATIVE(void, unhold)(JNIEnv* env, jclass, jlong reference) {
    env->DeleteGlobalRef((jobject)reference);
}

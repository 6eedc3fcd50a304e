// The image format; docs/image-format.md describes it for readers of images.
#pragma once

#include <cstddef>
#include <cstdint>

namespace skyway {

constexpr uint32_t kMagic = 0x59574b53;  // "SKWY"
constexpr uint16_t kVersion = 1;

enum class BlockKind : uint32_t { Segment = 0, Piece = 1 };

constexpr uint32_t kLast = 1;   // the image's last block
constexpr uint32_t kAlone = 2;  // with kLast: the image's only segment, which needs no exports
// With kLast: the root is an Object[] whose element 0 is the graph's root, and the others its stand-ins.
constexpr uint32_t kEnvelope = 4;

// First thing in every block. Little-endian, as the objects themselves.
struct BlockHeader {
    uint32_t magic;
    uint16_t version;
    uint16_t headerBytes;
    uint64_t checksum;  // over the whole block, this field taken as zero
    uint64_t imageId;
    uint64_t layout;  // of the sender's VM
    uint32_t attempt;
    BlockKind kind;
    uint64_t sequence;  // of the block, from 0 in each attempt
    uint64_t blockBytes;
    uint64_t segment;
    uint32_t flags;
    uint32_t objects;       // segment: objects in the payload
    uint64_t payloadBytes;  // object images; piece: elements (references: 8 bytes each, as targets)
    uint32_t crossCount;    // uint64 targets, named by the payload's slots
    uint32_t lateCount;     // pairs of uint64: slot, target
    uint32_t typeCount;     // uint32 ids, first used in this block
    uint32_t namedCount;    // named objects first used in this block
    uint32_t namedBytes;    // their names: uint16 length, UTF-8
    uint32_t arrayType;     // piece: the type of the large array
    uint64_t arrayLength;   // piece: elements of the whole array
    uint64_t arrayOffset;   // piece: elements that came before
    uint64_t arrayHash;     // piece: identity hash, in place as in a mark word, or 0
    uint64_t root;          // last block: target that is the graph's root
    uint64_t totalObjects;  // last block
};
static_assert(sizeof(BlockHeader) == 144, "no padding");

// Values of a reference slot in a payload; slots are as wide as the VM's references.
//   0             null
//   all ones      hole: a later block's late list says what goes here
//   high bit set  index into the block's cross targets
//   else          unit of an object of the same segment: 1 + its offset in 8 bytes
template <typename Slot>
struct SlotCode {
    static constexpr Slot kHole = ~(Slot)0;
    static constexpr Slot kCross = (Slot)1 << (sizeof(Slot) * 8 - 1);
};

// Targets: who is meant, anywhere in the image.
//   bit 63 set    named object, by ordinal in the image
//   bit 62 set    only in late lists: what the receiver makes of a stand-in, by its place in the envelope
//   else          segment << 16 | unit; a large array is alone in its segment, at unit kLarge
constexpr uint64_t kNamed = (uint64_t)1 << 63;
constexpr uint32_t kLarge = 0xffff;
constexpr uint64_t kNoTarget = ~(uint64_t)0;  // null, in a late list
constexpr uint64_t kStandIn = (uint64_t)1 << 62;

inline bool isStandIn(uint64_t target) {
    return target >> 62 == 1;
}

inline uint64_t target(uint64_t segment, uint32_t unit) {
    return segment << 16 | unit;
}
inline uint64_t segmentOf(uint64_t target) {
    return target >> 16;
}
inline uint32_t unitOf(uint64_t target) {
    return (uint32_t)(target & 0xffff);
}

// Slots in a late list: segment << 32 | byte offset in the payload, or element index of a large array.
inline uint64_t lateSlot(uint64_t segment, uint32_t at) {
    return segment << 32 | at;
}

constexpr uint32_t kMaxPayload = 0xfff0 * 8u;  // units stay below kLarge

inline size_t align8(size_t n) {
    return (n + 7) & ~(size_t)7;
}

// Bytes of a block with these counts.
inline uint64_t blockBytes(const BlockHeader& h) {
    return sizeof(BlockHeader) + align8(h.payloadBytes) + 8ull * h.crossCount + 16ull * h.lateCount
           + align8(4ull * h.typeCount) + align8(h.namedBytes);
}

// CRC-32C over four interleaved lanes of 8 byte words, folded; `bytes` is a multiple of 8.
uint64_t checksum(const void* data, size_t bytes, uint64_t seed);

// Of a whole block, its checksum field taken as zero.
uint64_t blockChecksum(const BlockHeader* block, size_t bytes);

}  // namespace skyway

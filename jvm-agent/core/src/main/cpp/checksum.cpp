#include <cstring>

#include "format.h"

namespace skyway {

namespace {

// CRC-32C (Castagnoli), reflected polynomial 0x82f63b78.
struct Table {
    uint32_t entry[256];
    Table() {
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t c = i;
            for (int k = 0; k < 8; k++) {
                c = c & 1 ? c >> 1 ^ 0x82f63b78u : c >> 1;
            }
            entry[i] = c;
        }
    }
};

uint32_t softStep(uint32_t crc, uint64_t word) {
    static const Table table;
    for (int i = 0; i < 8; i++) {
        crc = table.entry[(crc ^ word) & 0xff] ^ crc >> 8;
        word >>= 8;
    }
    return crc;
}

template <typename Step>
inline uint64_t lanes(const uint64_t* w, size_t words, uint64_t seed, Step step) {
    uint64_t a = (uint32_t)seed, b = (uint32_t)(seed >> 32), c = 0x9e3779b9u, d = 0x7f4a7c15u;
    size_t i = 0;
    for (; i + 4 <= words; i += 4) {
        a = step(a, w[i]);
        b = step(b, w[i + 1]);
        c = step(c, w[i + 2]);
        d = step(d, w[i + 3]);
    }
    for (; i < words; i++) {
        a = step(a, w[i]);
    }
    return step(a, c | b << 32) | (uint64_t)step(d, a | words << 32) << 32;
}

#if defined(__x86_64__)
// 8 bytes a cycle with four lanes: the instruction has a latency of three.
__attribute__((target("sse4.2"))) uint64_t hardLanes(const uint64_t* w, size_t words, uint64_t seed) {
    uint64_t a = (uint32_t)seed, b = (uint32_t)(seed >> 32), c = 0x9e3779b9u, d = 0x7f4a7c15u;
    size_t i = 0;
    for (; i + 4 <= words; i += 4) {
        a = __builtin_ia32_crc32di(a, w[i]);
        b = __builtin_ia32_crc32di(b, w[i + 1]);
        c = __builtin_ia32_crc32di(c, w[i + 2]);
        d = __builtin_ia32_crc32di(d, w[i + 3]);
    }
    for (; i < words; i++) {
        a = __builtin_ia32_crc32di(a, w[i]);
    }
    return __builtin_ia32_crc32di(a, c | b << 32) | __builtin_ia32_crc32di(d, a | (uint64_t)words << 32) << 32;
}
#endif

}  // namespace

uint64_t softChecksum(const void* data, size_t bytes, uint64_t seed) {
    return lanes((const uint64_t*)data, bytes / 8, seed, softStep);
}

uint64_t checksum(const void* data, size_t bytes, uint64_t seed) {
#if defined(__x86_64__)
    static const bool hard = __builtin_cpu_supports("sse4.2");
    if (hard) {
        return hardLanes((const uint64_t*)data, bytes / 8, seed);
    }
#endif
    return softChecksum(data, bytes, seed);
}

uint64_t blockChecksum(const BlockHeader* block, size_t bytes) {
    BlockHeader h = *block;
    h.checksum = 0;
    return checksum(block + 1, bytes - sizeof h, checksum(&h, sizeof h, 0x5357));
}

}  // namespace skyway

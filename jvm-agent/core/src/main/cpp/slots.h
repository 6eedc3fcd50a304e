// Slots of native memory for blocks: private, or shared with one peer through a sealed memory file.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace skyway {

class SlotPool {
  public:
    static SlotPool* create(size_t slotBytes, uint32_t slots, bool shared, std::string* error);
    // The peer's memory, read-only. The file must be the same user's and sealed against shrinking: a page that
    // vanishes under a reader is a SIGBUS.
    static SlotPool* open(int pid, int fd, size_t slotBytes, std::string* error);
    ~SlotPool();

    // A free slot, or -1. With `force` the pool grows beyond its slots; -1 then means out of memory.
    int64_t acquire(bool force);
    void release(uint32_t slot);
    // A slot above the pool's size needs no more than so many bytes.
    void trim(uint32_t slot, size_t bytes);
    // Bytes of a slot that lie inside the memory, or null.
    uint8_t* at(uint32_t slot, size_t length);

    size_t slotBytes() const {
        return _slotBytes;
    }
    int fd() const {
        return _fd;
    }
    uint32_t inUse() const {
        return _inUse.load(std::memory_order_relaxed);
    }
    uint32_t soft() const {
        return _soft;
    }
    bool overdrawn() const {
        return inUse() >= _soft;
    }

  private:
    SlotPool() = default;

    // Pages of slots above the pool's size go back to the system when they are released.
    void giveBack(uint32_t slot, size_t from);
    // In the memory file: what is not there is a SIGBUS at the first touch.
    bool reserve(uint32_t slot);
    void push(uint32_t slot);

    uint8_t* _base = nullptr;
    size_t _slotBytes = 0;
    size_t _mapped = 0;
    uint32_t _soft = 0, _most = 0;
    int _fd = -1;
    bool _reader = false;
    std::atomic<size_t> _known{0};       // reader: bytes that the file is known to have
    std::atomic<uint32_t> _created{0};   // slots handed out at least once
    std::atomic<uint32_t> _inUse{0};
    std::atomic<uint64_t> _free{0};      // stack of free slots: tag << 32 | slot + 1
    std::atomic<uint32_t>* _next = nullptr;
};

}  // namespace skyway

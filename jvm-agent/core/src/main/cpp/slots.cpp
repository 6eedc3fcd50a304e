#include "slots.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace skyway {

namespace {

// Address space, not memory: as many slots as the machine could ever fill.
size_t mostBytes() {
    size_t ram = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGE_SIZE);
    return ram * 4;
}

std::string failed(const char* what) {
    return std::string(what) + ": " + strerror(errno);
}

}  // namespace

SlotPool* SlotPool::create(size_t slotBytes, uint32_t slots, bool shared, std::string* error) {
    SlotPool* p = new SlotPool();
    p->_slotBytes = slotBytes;
    p->_soft = slots;
    size_t most = mostBytes() / slotBytes;
    p->_most = (uint32_t)(most < 1u << 30 ? most : 1u << 30);
    if (p->_most < slots) {
        p->_most = slots;
    }
    p->_mapped = (size_t)p->_most * slotBytes;
    int flags = MAP_NORESERVE | (shared ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS);
    if (shared) {
        p->_fd = memfd_create("skyway-link", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        // Each slot adds its own length when it is first used; the file never shrinks.
        if (p->_fd < 0 || fchmod(p->_fd, 0600) != 0 || fcntl(p->_fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
            *error = failed("shared memory cannot be created");
            delete p;
            return nullptr;
        }
    }
    void* m = mmap(nullptr, p->_mapped, PROT_READ | PROT_WRITE, flags, p->_fd, 0);
    void* next =
        mmap(nullptr, (size_t)p->_most * 4, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m == MAP_FAILED || next == MAP_FAILED) {
        *error = failed("memory for blocks cannot be mapped");
        if (m != MAP_FAILED) {
            munmap(m, p->_mapped);
        }
        delete p;
        return nullptr;
    }
    p->_base = (uint8_t*)m;
    p->_next = (std::atomic<uint32_t>*)next;
    return p;
}

SlotPool* SlotPool::open(int pid, int fd, size_t slotBytes, std::string* error) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
    // Without waiting: the descriptor could be a pipe that nobody writes to.
    int f = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    if (f < 0 || fstat(f, &st) != 0) {
        *error = failed("the peer's shared memory cannot be opened");
        if (f >= 0) {
            close(f);
        }
        return nullptr;
    }
    int seals = fcntl(f, F_GET_SEALS);
    if (st.st_uid != geteuid() || (st.st_mode & 077) != 0 || seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
        *error = "the peer's shared memory is not its own or not sealed against shrinking";
        close(f);
        return nullptr;
    }
    SlotPool* p = new SlotPool();
    p->_reader = true;
    p->_fd = f;
    p->_slotBytes = slotBytes;
    p->_mapped = mostBytes() / slotBytes * slotBytes;
    p->_most = (uint32_t)(p->_mapped / slotBytes);
    void* m = mmap(nullptr, p->_mapped, PROT_READ, MAP_SHARED | MAP_NORESERVE, f, 0);
    if (m == MAP_FAILED) {
        *error = failed("the peer's shared memory cannot be mapped");
        delete p;
        return nullptr;
    }
    p->_base = (uint8_t*)m;
    return p;
}

SlotPool::~SlotPool() {
    if (_base != nullptr) {
        munmap(_base, _mapped);
    }
    if (_next != nullptr) {
        munmap((void*)_next, (size_t)_most * 4);
    }
    if (_fd >= 0) {
        close(_fd);
    }
}

int64_t SlotPool::acquire(bool force) {
    if (!force && overdrawn()) {
        return -1;
    }
    uint64_t head = _free.load(std::memory_order_acquire);
    while ((uint32_t)head != 0) {
        uint32_t slot = (uint32_t)head - 1;
        uint64_t next = ((head >> 32) + 1) << 32 | _next[slot].load(std::memory_order_relaxed);
        if (_free.compare_exchange_weak(head, next, std::memory_order_acq_rel)) {
            if (slot >= _soft && !reserve(slot)) {
                push(slot);
                return -1;
            }
            _inUse.fetch_add(1, std::memory_order_relaxed);
            return slot;
        }
    }
    uint32_t slot = _created.fetch_add(1, std::memory_order_relaxed);
    if (slot >= _most) {
        _created.fetch_sub(1, std::memory_order_relaxed);
        return -1;
    }
    if (!reserve(slot)) {
        // Back, unless another thread has taken the next one meanwhile: a retry must not use up the numbers.
        uint32_t created = slot + 1;
        _created.compare_exchange_strong(created, slot, std::memory_order_relaxed);
        return -1;
    }
    _inUse.fetch_add(1, std::memory_order_relaxed);
    return slot;
}

void SlotPool::release(uint32_t slot) {
    if (_reader || slot >= _created.load(std::memory_order_relaxed)) {
        return;
    }
    _inUse.fetch_sub(1, std::memory_order_relaxed);
    if (slot >= _soft) {
        giveBack(slot, 0);
    }
    push(slot);
}

void SlotPool::trim(uint32_t slot, size_t bytes) {
    const size_t page = 4096, from = (bytes + page - 1) & ~(page - 1);
    if (slot >= _soft && from < _slotBytes) {
        giveBack(slot, from);
    }
}

// A plain ftruncate would race with another thread's larger one; growing by fallocate cannot shrink.
bool SlotPool::reserve(uint32_t slot) {
    return _fd < 0 || fallocate(_fd, 0, (off_t)slot * (off_t)_slotBytes, (off_t)_slotBytes) == 0;
}

void SlotPool::push(uint32_t slot) {
    uint64_t head = _free.load(std::memory_order_acquire);
    uint64_t mine;
    do {
        _next[slot].store((uint32_t)head, std::memory_order_relaxed);
        mine = ((head >> 32) + 1) << 32 | (slot + 1);
    } while (!_free.compare_exchange_weak(head, mine, std::memory_order_acq_rel));
}

void SlotPool::giveBack(uint32_t slot, size_t from) {
    const size_t at = (size_t)slot * _slotBytes + from, bytes = _slotBytes - from;
    if (_fd >= 0) {
        fallocate(_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)bytes);
    } else {
        madvise(_base + at, bytes, MADV_DONTNEED);
    }
}

uint8_t* SlotPool::at(uint32_t slot, size_t length) {
    size_t from = (size_t)slot * _slotBytes;
    if (slot >= _most || length > _slotBytes) {
        return nullptr;
    }
    if (_reader && from + length > _known.load(std::memory_order_relaxed)) {
        struct stat st;
        if (fstat(_fd, &st) != 0) {
            return nullptr;
        }
        _known.store((size_t)st.st_size, std::memory_order_relaxed);
        if (from + length > (size_t)st.st_size) {
            return nullptr;
        }
    }
    return _base + from;
}

}  // namespace skyway

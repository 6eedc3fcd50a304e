#include "plan.h"

namespace skyway {

Types types;

bool Plan::withinLimits(const uint8_t* object, const uint8_t* elements, uint64_t n) const {
    for (const Limit& l : limits) {
        if (object[l.offset] > l.most) {
            return false;
        }
    }
    if (booleans) {
        uint8_t all = 0;
        for (uint64_t i = 0; i < n; i++) {
            all |= elements[i];
        }
        return all <= 1;
    }
    return true;
}

void Plan::clear(uint32_t from, uint32_t to) {
    for (uint32_t b = from; b < to; b++) {
        if (masks.empty() || masks.back().at != b / 8 * 8) {
            masks.push_back(Mask{b / 8 * 8, ~(uint64_t)0});
        }
        masks.back().keep &= ~((uint64_t)0xff << b % 8 * 8);
    }
}

PlanTable::PlanTable() : _table(makeTable(1 << 12)) {
    _plans.reserve(1 << 18);
    _plans.push_back(nullptr);
}

PlanTable::Table* PlanTable::makeTable(uint64_t cells) {
    return new Table{cells - 1, new Cell[cells]};
}

void PlanTable::put(Table* t, Plan* plan) {
    uint64_t i = hash(plan->key) & t->mask;
    while (t->cells[i].plan.load(std::memory_order_relaxed) != nullptr && t->cells[i].key != plan->key) {
        i = (i + 1) & t->mask;
    }
    t->cells[i].key = plan->key;
    t->cells[i].plan.store(plan, std::memory_order_release);
}

Plan* PlanTable::add(Plan* plan) {
    if (_plans.size() == _plans.capacity()) {
        return nullptr;
    }
    plan->index = (uint32_t)_plans.size();
    _plans.push_back(plan);
    Table* t = _table.load(std::memory_order_relaxed);
    if (_plans.size() * 2 > t->mask) {
        Table* bigger = makeTable((t->mask + 1) * 4);
        for (Plan* p : _plans) {
            if (p != nullptr) {
                put(bigger, p);
            }
        }
        // The old table stays: a window of another thread may be reading it. All old ones together are
        // smaller than the new one.
        _table.store(bigger, std::memory_order_release);
    } else {
        put(t, plan);
    }
    return plan;
}

bool Assignable::set(uint32_t planIndex, Answer a) {
    if (planIndex / 4 >= _size) {
        return false;
    }
    _bits[planIndex / 4].fetch_or((uint8_t)(a << planIndex % 4 * 2), std::memory_order_relaxed);
    return true;
}

uint32_t Types::addDeclared() {
    if (_declared == kMost) {
        return UINT32_MAX;
    }
    _assignable[_declared] = new Assignable();
    return _declared++;
}

Scope::~Scope() {
    for (auto& c : _chunks) {
        delete c.load();
    }
}

bool Scope::bind(uint32_t typeId, Plan* plan) {
    if (typeId >> kShift >= kChunks) {
        return false;
    }
    auto& chunk = _chunks[typeId >> kShift];
    if (chunk.load() == nullptr) {
        chunk.store(new Chunk(), std::memory_order_release);
    }
    chunk.load()->plans[typeId & (kPerChunk - 1)].store(plan, std::memory_order_release);
    return true;
}

}  // namespace skyway

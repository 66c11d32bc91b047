"""src/schemes/bucl.c as a Python scheme: the same decisions, counters and storage.

    import sluice, bucl
    sluice.run("kmeans", scheme=bucl.Bucl, size="small")
    sluice.run("kmeans", scheme="bucl-py:tucd=8", size="small")
"""
import sluice
from sluice import Counter, Param

HIT, PENDING, NO_MERGE = int(sluice.L1.HIT), int(sluice.L1.PENDING), int(sluice.L1.NO_MERGE)


class Bucl(sluice.Scheme):
    """bypassing for un-coalesced loads, adaptive threshold (BUCL-Dyn)"""

    name = "bucl-py"
    paper = "Zhao, Wang, Lin, Zhou, Zheng: Selectively GPU Cache Bypassing for Un-Coalesced Loads. ICPADS 2016"
    params = [
        Param("period", "core cycle", "sampling period (Table II)", 1, 1e9, 1000, True),
        Param("l1dhr", "", "hit rate below which a refused access may bypass; at 0 none does (Table II)", 0, 1, 0.8),
        Param("uib", "", "input-buffer fill below which a refused access may bypass (Table II)", 0, 1, 0.7),
        Param("tucd", "access", "initial threshold of un-coalescing degree (Table II)", 1, 32, 5, True),
        Param("min", "access", "lowest threshold (section V)", 1, 32, 2, True),
        Param("max", "access", "highest threshold (section V)", 1, 32, 25, True),
        Param("pending", "", "1: an access to a pending line counts as a hit; 0: as a miss", 0, 1, 1, True),
        Param("merge", "", "refused accesses to a pending line: 0 wait; 1 bypass; 2 wait if it is full", 0, 2, 0, True),
    ]
    counters = [
        Counter("bypassed_loads", "load", "loads whose degree exceeded the threshold"),
        Counter("bypassed_on_stall", "access", "refused accesses that bypassed the L1"),
        Counter("kept_hit_rate", "access", "refused accesses kept at first because the hit rate was high"),
        Counter("kept_full", "access", "refused accesses kept at first because the sub-partition's buffer was full"),
        Counter("kept_merge", "access", "refused accesses kept at first because their line was pending"),
        Counter("periods", "period", "sampling periods"),
        Counter("tucd_sum", "access", "threshold summed over periods: divide by periods for its mean"),
    ]
    storage = {
        "TUCD, 5 bits": 5,
        "hit and access counters of one SM, 2 x 10 bits": 20,
        "hit rate of the last period, 7 bits": 7,
        "input-buffer fill, 14 + 7 bits per sub-partition": "21 * memory.channels * memory.subpartitions",
        "degree counter of the load bypass logic, 6 bits per SM": "6 * sms",
    }
    positional = "tucd"
    epoch_param = "period"

    def start(self):
        if self.param.min > self.param.max:
            raise sluice.InputError(f"scheme bucl-py: min={self.param.min} is above max={self.param.max}", 2)
        self.tucd = self.param.tucd
        self.hits = self.accesses = 0
        self.hit_rate = 0.0
        parts = int(self.knobs["memory.channels"]) * int(self.knobs["memory.subpartitions"])
        self.fill, self.area = [0.0] * parts, [0.0] * parts

    def on_epoch(self):
        self.hit_rate = self.hits / self.accesses if self.accesses else 0.0
        self.hits = self.accesses = 0
        for part, before in enumerate(self.area):
            self.area[part] = area = self.gpu.subpart_fill_cycles(part)
            self.fill[part] = (area - before) / self.param.period
        up = self.hit_rate > self.param.l1dhr
        if up and self.tucd < self.param.max:
            self.tucd += 1
        if not up and self.tucd > self.param.min:
            self.tucd -= 1
        if self.param.min == self.param.max:
            return
        self.count.periods += 1
        self.count.tucd_sum += self.tucd

    def bypass_load(self, e):
        if e.degree <= self.tucd:
            return False
        self.count.bypassed_loads += 1
        return True

    def on_stall(self, e, why):
        if self.hit_rate >= self.param.l1dhr:
            if self.param.l1dhr > 0 and not e.retry:
                self.count.kept_hit_rate += 1
            return False
        merge = self.param.merge
        if e.pending if merge == 0 else merge == 2 and why == NO_MERGE:
            if not e.retry:
                self.count.kept_merge += 1
            return False
        if self.fill[e.subpart] >= self.param.uib:
            if not e.retry:
                self.count.kept_full += 1
            return False
        self.count.bypassed_on_stall += 1
        return True

    def on_access(self, e, out):
        if e.sm or e.local:
            return
        self.accesses += 1
        if out == HIT or out == PENDING and self.param.pending == 1:
            self.hits += 1

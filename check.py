import json, sys
r, whole = json.load(open(sys.argv[1])), json.load(open("whole.json"))
e, t = r["estimate"], r["totals"]
c = e["totals"]["cycles"]
assert e["reached"] and c["low"] <= whole["totals"]["cycles"] <= c["high"], (c, whole["totals"]["cycles"])
assert (c["high"] - c["low"]) / 2 <= e["error_bound"] * c["estimate"]
for k in ("kernels", "warp_insts", "thread_insts", "ctas"):
    assert t[k] == whole["totals"][k] and e["totals"][k]["low"] == e["totals"][k]["high"], k
assert abs(t["cycles"] - c["estimate"]) <= 1 and sum(k["launches"] for k in r["kernels"]) == e["launches"]
assert 0 < e["timed_launches"] < e["launches"] and 0 < e["detailed_warp_insts"] < e["warp_insts"]
print("holds", e["confidence"])

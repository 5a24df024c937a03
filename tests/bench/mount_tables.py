# SPDX-License-Identifier: BSD-2-Clause
"""Tables of what `make bench-mount` measured."""
import statistics


def number(x):
    return "" if x is None else \
        f"{x:.2g}" if x < 1 else f"{x:.1f}" if x < 100 else f"{x:.0f}"


class Medians:
    def __init__(self, rows):
        self.rows = rows

    def of(self, set_, fs, case, key):
        found = [r[key] for r in self.rows if
                 (r["set"], r["fs"], r["case"]) == (set_, fs, case) and
                 key in r]
        return statistics.median(found) if found else None

    def pair(self, set_, fs, case, keys, scale=1):
        values = [self.of(set_, fs, case, k) for k in keys]
        return " / ".join(number(v * scale) for v in values if v is not None)


def table(title, head, rows):
    print(f"\n{title}\n\n| | {' | '.join(head)} |")
    print("|---" * (len(head) + 1) + "|")
    for name, cells in rows:
        print(f"| {name} | {' | '.join(cells)} |")


def reads(m, set_, targets, cases):
    passes = "first_us", "second_us"
    rows = []
    for t in targets:
        cells = [m.pair(set_.label, t.name, c, passes) for c in cases]
        rows.append((t.name, [t.why] + [""] * (len(cases) - 1)
                     if t.why and not any(cells) else cells))
    table(f"{set_.label} records ({set_.count} files of {set_.file_bytes} "
          "bytes): microseconds per file, first pass / second pass.",
          cases, rows)


def others(m, set_, targets, streams):
    rate = "first_mib_s", "second_mib_s"
    listing = "first_us_a_name", "second_us_a_name"
    rows = []
    for t in targets:
        a = t.name
        first = m.of(set_.label, a, "in order", "list_s")
        count = t.count or set_.count
        rows.append((a, [
            number(first and first * 1e6 / count),
            m.pair(set_.label, a, "ls -l", listing),
            *(m.pair(set_.label, a, c, rate) for c in streams)]))
    table(f"{set_.label} records: listing (`ls -f`) and `ls -l` in "
          "microseconds per name; all.npy "
          f"({set_.large_bytes / 2**20:.0f} MiB) in MiB/s; first / second.",
          ["ls -f", "ls -l", *(c.replace("stream", "all.npy")
                               for c in streams)],
          [r for r in rows if any(r[1])])


def requests(m, set_, targets):
    kinds = "lookup", "getattr", "read", "pushed"
    rows = []
    for t in targets:
        cells = [" / ".join(number(m.of(set_.label, t.name, c, k) or 0)
                            for k in kinds)
                 for c in ("requests in order", "requests random")]
        if t.ours and not t.why:
            rows.append((t.name, cells))
    if rows:
        table(f"{set_.label} records: requests for each file in a first pass, "
              f"{' / '.join(kinds)}.", ["in order", "random"], rows)


def names(m, set_, targets):
    keys = [("mounted, ms", "mount_s", 1e3), ("VmRSS, MiB", "mounted_MiB", 1),
            ("VmHWM after listing, MiB", "VmHWM_MiB", 1),
            ("first listing, s", "list_s", 1),
            ("second, s", "list_again_s", 1), ("`ls -f`, s", "ls_f_s", 1),
            ("`ls -l`, s", "ls_l_s", 1), ("`find -size`, s", "find_s", 1),
            ("unmounted, s", "unmount_s", 1)]
    table(f"{set_.count} records.", [k[0] for k in keys],
          [(t.name, [t.why or number((m.of(set_.label, t.name, "names", k)
                                      or 0) * f) for _, k, f in keys])
           for t in targets])


def ls_l(m, set_, targets):
    table(f"`ls -l` of {set_.count} records: seconds, first / second.",
          ["s"], [(t.name, [t.why or m.pair(
              set_.label, t.name, "ls -l",
              ("first_us_a_name", "second_us_a_name"), set_.count / 1e6)])
              for t in targets])

# SPDX-License-Identifier: MIT
"""wengert-gdb - how gdb prints the types of Wengert.

In gdb:  source <includedir>/wengert-gdb.py   (or the same line in .gdbinit). Then

    (gdb) print x          $1 = 3 (slot 5)
    (gdb) print d          $2 = 3 [1, 0, 0, 0]
    (gdb) print *tape      $3 = tape of 12 slots, room for 480 records
    (gdb) print a          $4 = 2-by-3 (from slot 1), and its elements

`print/r` shows the fields as they are.
"""

import gdb
import gdb.printing


def plural(n, noun):
    return "%d %s%s" % (n, noun, "" if n == 1 else "s")


class Real:
    """A value, and where it lives."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        slot = int(self.value["at"]["slot"])
        where = "slot %d" % slot if slot else "constant"
        return "%s (%s)" % (self.value["value"], where)


class Handle:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        slot = int(self.value["slot"])
        if not slot:
            return "constant"
        return "slot %d, stamp %#x" % (slot, int(self.value["stamp"]))


class Dual:
    """A value and its row of tangents: in memory, the tangents and then the value."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        row = []
        for field in self.value.type.strip_typedefs().fields()[:-1]:
            pack = self.value[field]
            kind = pack.type.strip_typedefs()
            if kind.code == gdb.TYPE_CODE_FLT:
                row.append(pack)
            else:
                low, high = kind.range()
                row.extend(pack[i] for i in range(low, high + 1))
        return "%s [%s]" % (self.value["value"], ", ".join(str(t) for t in row))


class Matrix:
    """Shape and place, then a line for each row."""

    MOST = 8

    def __init__(self, value):
        self.value = value

    def to_string(self):
        m = self.value
        rows, cols, ld = int(m["rows"]), int(m["cols"]), int(m["ld"])
        slot, turned = int(m["at"]["slot"]), int(m["trans"])
        where = "from slot %d" % slot if slot else "constant"
        text = "%d-by-%d (%s)" % (rows, cols, where)
        if not int(m["value"]):
            return text + ", failed"
        for i in range(min(rows, self.MOST)):
            step = [(j + i * ld) if turned else (i + j * ld) for j in range(min(cols, self.MOST))]
            line = "\n  " + "  ".join("%.6g" % float(m["value"][k]) for k in step)
            text += line + ("  ..." if cols > self.MOST else "")
        return text + ("\n  ..." if rows > self.MOST else "")


class Mark:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        text = "mark before slot %d and record %d" % (
            int(self.value["slot"]),
            int(self.value["record"]),
        )
        return text + (", tape in failure" if int(self.value["failed"]) else "")


class Stats:
    """A line of the counts, then every field."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return "%s, %s, %s, %d bytes committed" % (
            plural(int(self.value["statements"]), "statement"),
            plural(int(self.value["records"]), "record"),
            plural(int(self.value["slots"]), "slot"),
            int(self.value["committed_bytes"]),
        )

    def children(self):
        for field in self.value.type.strip_typedefs().fields():
            yield field.name, self.value[field]


class Tape:
    """What recorders see; with the debug information of the library also its status."""

    def __init__(self, value):
        self.value = value

    def core(self):
        try:
            kind = gdb.lookup_type("wgi_core")
            return self.value.address.cast(kind.pointer()).dereference()
        except (gdb.error, AttributeError):
            return None

    def to_string(self):
        top, limit = int(self.value["top"]), int(self.value["limit"])
        size = gdb.lookup_type("wgi_record").sizeof
        text = "tape of %s, room for %s" % (
            plural(max(int(self.value["slots"]) - 1, 0), "slot"),
            plural(max(limit - top, 0) // size, "record"),
        )
        core = self.core()
        if core is not None:
            text += ", %s" % core["status"]
            message = core["message"].string()
            if message:
                text += ": " + message
        return text


def printer():
    types = gdb.printing.RegexpCollectionPrettyPrinter("wengert")
    for name, kind in (
        ("wg_real", Real),
        ("wg_handle", Handle),
        ("wg_dual", Dual),
        ("wg_mat", Matrix),
        ("wg_mark", Mark),
        ("wg_stats", Stats),
        ("wg_tape", Tape),
    ):
        types.add_printer(name, "^%s$" % name, kind)
    return types


gdb.printing.register_pretty_printer(gdb.current_objfile(), printer(), replace=True)

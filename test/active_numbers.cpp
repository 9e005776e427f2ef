// SPDX-License-Identifier: MIT
// active_numbers.cpp - statements some of whose operands are numbers: whichever they are, they
// leave the records that a checked tape gets, which takes none of the short ways. Prints what
// fails, and succeeds when nothing does.
#include <cstdio>
#include <limits>
#include <string>
#include <wengert/active.hpp>

namespace {

using wg::active;

const double infinity = std::numeric_limits<double>::infinity();
int failures = 0;

// Up to eight operands, pairs that come again, and partials that are products.
void statements(const active *x, active *y) {
    y[0] = exp(x[0]);
    y[1] = x[0] * x[1];
    y[2] = x[0] * x[1] + x[2];
    y[3] = x[0] * x[1] * x[2];
    y[4] = x[0] * x[1] - x[2] / x[3];
    y[5] = x[0] * x[1] + x[0] * x[1];
    y[6] = x[0] * x[1] * (x[0] + x[1]) - x[2];
    y[7] = (x[0] + x[1] * x[2]) * (x[3] - x[4]);
    y[8] = x[0] * x[1] + x[0] * x[1] + x[0] * x[1];
    y[9] = x[0] * x[1] * x[2] + x[3] * x[4] * x[5] - x[6];
    y[10] = (x[0] * x[1] + x[2] * x[3]) * (x[4] * x[5] + x[6] * x[7]);
    y[11] = sqrt(x[0]) * y[10] + 2.0 * x[1];
}
enum { operands = 8, results = 12 };

int append(void *to, const char *text, size_t length) {
    static_cast<std::string *>(to)->append(text, length);
    return 0;
}

// What stands on a tape of these flags; the bits of `inputs` say which operands are no numbers.
std::string recorded(unsigned flags, const double *value, unsigned inputs) {
    wg::tape tape(flags);
    const wg::scope scope(tape);
    active x[operands], y[results];
    for (int i = 0; i < operands; i++)
        x[i] = (inputs >> i & 1) != 0 ? tape.input(value[i]) : active(value[i]);
    statements(x, y);
    std::string text;
    if (wg_tape_dump(tape, append, &text) != WG_OK) text = wg_tape_message(tape);
    for (const active &e : y) text += e.at.slot != 0 ? 'v' : 'n';
    return text;
}

// A variable of another tape among them is refused.
void strangers_are_refused() {
    wg::tape other, tape(0, wg::on_failure::returns);
    const wg::scope scope(tape);
    const active stranger = other.input(2), x = tape.input(3);
    const active y = active(4) * stranger + x;
    if (wg_tape_status(tape) == WG_ESTALE && y.at.slot == 0) return;
    std::fprintf(stderr, "active_numbers.cpp: a stranger was taken\n");
    failures++;
}

} // namespace

int main() {
    const double values[][operands] = {{2, 3, 5, 7, 11, 13, 17, 19},
                                       {0, infinity, 0, 1, infinity, 0, -1, 2},
                                       {1, 0, -infinity, 0, 3, infinity, 0, infinity}};
    for (const double *value : values)
        for (unsigned inputs = 0; inputs < 1u << operands; inputs++) {
            if (recorded(0, value, inputs) == recorded(WG_CHECKED, value, inputs)) continue;
            std::fprintf(stderr, "active_numbers.cpp: of operands %x other records\n", inputs);
            failures++;
        }
    strangers_are_refused();
    return failures != 0;
}

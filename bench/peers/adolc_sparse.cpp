// SPDX-License-Identifier: MIT
// ADOL-C and ColPack: the problems of ../sparsity.h as ADOL-C's sparse drivers do them, step by
// step: Debian's ADOL-C is built without ColPack, and its sparse drivers only say so. Patterns are
// ADOL-C's, colourings ColPack's (columns by distance 2, smallest last; stars), values from
// fov_forward and hess_mat along the colours.
#include "../sparsity.h"

#include <adolc/adolc.h>
#include <adolc/adolc_sparse.h>
#include <ColPack/ColPackHeaders.h>
#include <cstdlib>
#include <memory>
#include <vector>

namespace {

constexpr short tag = 40;
void record(const sparsity_case *c) {
    const size_t n = c->n, k = c->side;
    std::vector<adouble> x(n);
    double out;
    trace_on(tag);
    for (size_t i = 0; i < n; i++) x[i] <<= c->x[i];
    if (c->problem == SPARSITY_ROSENBROCK) {
        adouble f = 0;
        for (size_t i = 0; i + 1 < n; i++) {
            const adouble r = x[i + 1] - x[i] * x[i], s = 1 - x[i];
            f += 100 * r * r + s * s;
        }
        f >>= out;
    } else {
        for (size_t j = 0; j < k; j++)
            for (size_t i = 0; i < k; i++) {
                const size_t at = j * k + i;
                adouble y = c->source * exp(x[at]) - 4 * x[at];
                if (i > 0) y += x[at - 1];
                if (i + 1 < k) y += x[at + 1];
                if (j > 0) y += x[at - k];
                if (j + 1 < k) y += x[at + k];
                y >>= out;
            }
    }
    trace_off();
}

// Rows of doubles.
struct rows {
    std::vector<double> all;
    std::vector<double *> row;
    void open(size_t n, size_t width) {
        all.assign(n * width, 0);
        row.resize(n);
        for (size_t i = 0; i < n; i++) row[i] = &all[i * width];
    }
};

unsigned **pattern;
size_t lines;
std::vector<unsigned> row, col, from, lane;
std::vector<double> value, point, out;
rows seed, product;
int colours;

void forget() {
    for (size_t i = 0; pattern != nullptr && i < lines; i++) std::free(pattern[i]);
    std::free(pattern);
    pattern = nullptr;
}

void find(const sparsity_case *c) {
    int of_jacobian[3] = {0, 0, 0};
    forget();
    lines = c->n;
    pattern = static_cast<unsigned **>(std::calloc(lines, sizeof *pattern));
    if (c->problem == SPARSITY_ROSENBROCK) hess_pat(tag, int(lines), c->x, pattern, 0);
    else jac_pat(tag, int(lines), int(lines), c->x, pattern, of_jacobian);
}

std::vector<int> colour(const sparsity_case *c) {
    std::vector<int> of;
    if (c->problem == SPARSITY_ROSENBROCK) {
        ColPack::GraphColoringInterface g(SRC_MEM_ADOLC, pattern, int(lines));
        g.Coloring("SMALLEST_LAST", "STAR");
        g.GetVertexColors(of);
    } else {
        ColPack::BipartiteGraphPartialColoringInterface g(SRC_MEM_ADOLC, pattern, int(lines),
                                                          int(lines));
        g.PartialDistanceTwoColoring("SMALLEST_LAST", "COLUMN_PARTIAL_DISTANCE_TWO");
        g.GetRightVertexColors(of);
    }
    return of;
}

// Where each entry is read: of a Hessian, the lower triangle, in whichever of its two rows it is
// alone with its colour.
void plan(const sparsity_case *c, const std::vector<int> &of) {
    const bool hessian = c->problem == SPARSITY_ROSENBROCK;
    row.clear(), col.clear(), from.clear(), lane.clear();
    for (unsigned i = 0; i < lines; i++)
        for (unsigned k = 1; k <= pattern[i][0]; k++) {
            const unsigned j = pattern[i][k];
            int alike = 0;
            if (hessian && j > i) continue;
            for (unsigned l = 1; hessian && l <= pattern[i][0]; l++)
                alike += of[pattern[i][l]] == of[j];
            row.push_back(i), col.push_back(j);
            from.push_back(alike > 1 ? j : i);
            lane.push_back(unsigned(of[alike > 1 ? i : j]));
        }
    value.resize(row.size());
}

int entries(const sparsity_case *c, sparsity_entries *e) {
    const int n = int(c->n);
    point.assign(c->x, c->x + c->n);
    out.resize(c->n);
    const int status =
        c->problem == SPARSITY_ROSENBROCK
            ? hess_mat(tag, n, colours, point.data(), seed.row.data(), product.row.data())
            : fov_forward(tag, n, n, colours, point.data(), seed.row.data(), out.data(),
                          product.row.data());
    for (size_t k = 0; k < value.size(); k++) value[k] = product.row[from[k]][lane[k]];
    *e = {value.size(), row.data(), col.data(), value.data()};
    return status < 0 ? -1 : 0;
}

int first(const sparsity_case *c, sparsity_entries *e) {
    record(c);
    find(c);
    const std::vector<int> of = colour(c);
    colours = 0;
    for (const int k : of) colours = k >= colours ? k + 1 : colours;
    plan(c, of);
    seed.open(lines, size_t(colours));
    product.open(lines, size_t(colours));
    for (size_t i = 0; i < lines; i++) seed.row[i][of[i]] = 1;
    return entries(c, e);
}

int again(const sparsity_case *c, int anew, sparsity_entries *e) {
    if (anew) record(c);
    return entries(c, e);
}

void close() { forget(); }

} // namespace

extern "C" {
extern const sparsity_peer sparsity_peer_adolc;
const sparsity_peer sparsity_peer_adolc = {
    "ADOL-C and ColPack", "versions unknown", first, again, close, 100000};
}

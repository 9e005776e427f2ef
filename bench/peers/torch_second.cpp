// SPDX-License-Identifier: MIT
// PyTorch's C++ library, double precision, one thread: the products of ../second_order.c as its
// users write them, by a gradient that is differentiated again along v. Inputs are leaves that live
// from `open` to `close`, in column-major order, which saves LAPACK the copy.
#include "../second_order.h"

#include <functional>
#include <map>
#include <string>
#include <torch/torch.h>
#include <torch/version.h>
#include <vector>

using at::Tensor;

namespace {

using tensors = std::vector<Tensor>;
constexpr double log_2pi = 1.83787706640934548356;

tensors x, v, data;
std::function<Tensor()> function;

Tensor matrix(const double *a, size_t rows, size_t cols) {
    const auto r = int64_t(rows), c = int64_t(cols);
    return torch::from_blob(const_cast<double *>(a), {r, c}, {1, r}, torch::kFloat64).clone();
}

Tensor sines(const Tensor &a) { return a.sin().sum(); }

// Squares of the distances of all pairs, by coordinate: known before the hyperparameters are.
Tensor process() {
    const Tensor k = (data[0].matmul(-0.5 / x[0].square())).reshape({SECOND_POINTS, -1}).exp() *
                         x[1].square() +
                     x[2].square() * data[2];
    const Tensor l = torch::linalg_cholesky(k);
    const Tensor z = torch::linalg_solve_triangular(l, data[1], false);
    return -0.5 * (z.square().sum() + SECOND_POINTS * log_2pi) - l.diagonal().log().sum();
}
Tensor qr() {
    const auto [q, r] = torch::linalg_qr(x[0]);
    return sines(q) + sines(r);
}
Tensor least_squares() { return sines(std::get<0>(torch::linalg_lstsq(x[0], data[0]))); }
Tensor eigen() {
    const auto [w, u] = torch::linalg_eigh(x[0]);
    return sines(w) + sines(u);
}
Tensor singular() {
    const auto [u, d, w] = torch::linalg_svd(x[0], false);
    return sines(u) + sines(d);
}
Tensor attention() {
    const Tensor s = x[0].mm(x[1].t()) * (1 / std::sqrt(double(SECOND_WIDTH)));
    return sines(s.softmax(1).mm(x[2]));
}

void input(const double *a, const double *direction, size_t rows, size_t cols) {
    x.push_back(matrix(a, rows, cols).requires_grad_(true));
    v.push_back(matrix(direction, rows, cols));
}
void number(const double *a, const double *direction) {
    x.push_back(torch::tensor(*a, torch::kFloat64).requires_grad_(true));
    v.push_back(torch::tensor(*direction, torch::kFloat64));
}

int open(const char *name, size_t n, const double *a, const double *b, const double *given) {
    const std::string f = name;
    at::set_num_threads(1);
    struct one {
        size_t cols;
        std::function<Tensor()> of;
    };
    const std::map<std::string, one> matrices = {
        {"logdet_10", {10, [] { return std::get<1>(torch::linalg_slogdet(x[0])); }}},
        {"logdet_100", {100, [] { return std::get<1>(torch::linalg_slogdet(x[0])); }}},
        {"logdet_500", {500, [] { return std::get<1>(torch::linalg_slogdet(x[0])); }}},
        {"expm", {50, [] { return sines(torch::linalg_matrix_exp(x[0])); }}},
        {"softmax", {256, [] { return sines(x[0].softmax(0)); }}},
        {"qr", {50, qr}},
        {"lstsq", {20, least_squares}},
        {"eigh", {100, eigen}},
        {"svd", {40, singular}}};
    const auto it = matrices.find(f);
    if (it != matrices.end()) {
        input(a, b, n / it->second.cols, it->second.cols);
        function = it->second.of;
        if (f == "lstsq")
            data = {torch::ones({int64_t(n / it->second.cols), 1}, torch::kFloat64)};
    } else if (f == "process") {
        input(a, b, SECOND_DIM, 1);
        number(a + SECOND_DIM, b + SECOND_DIM);
        number(a + SECOND_DIM + 1, b + SECOND_DIM + 1);
        const Tensor p = matrix(given, SECOND_POINTS, SECOND_DIM);
        data = {(p.unsqueeze(1) - p.unsqueeze(0)).square().reshape({-1, SECOND_DIM}),
                matrix(given + SECOND_POINTS * SECOND_DIM, SECOND_POINTS, 1),
                torch::eye(SECOND_POINTS, torch::kFloat64)};
        function = process;
    } else if (f == "attention") {
        for (size_t i = 0; i < 3; i++)
            input(a + i * n / 3, b + i * n / 3, SECOND_TOKENS, SECOND_WIDTH);
        function = attention;
    } else return 1;
    return 0;
}

void close() {
    x.clear();
    v.clear();
    data.clear();
    function = nullptr;
}

void copy(const tensors &from, double *to) {
    for (const Tensor &a : from) {
        const int64_t rows = a.dim() == 0 ? 1 : a.size(0), cols = a.dim() == 0 ? 1 : a.size(1);
        if (to == nullptr) continue;
        torch::from_blob(to, {rows, cols}, {1, rows}, torch::kFloat64)
            .copy_(a.detach().reshape({rows, cols}));
        to += rows * cols;
    }
}

int gradient(double *g) {
    try {
        copy(torch::autograd::grad({function()}, x), g);
        return 0;
    } catch (const std::exception &) {
        return 1;
    }
}

int product(double *hv) {
    try {
        const tensors g = torch::autograd::grad({function()}, x, {}, true, true);
        copy(torch::autograd::grad(g, x, v), hv);
        return 0;
    } catch (const std::exception &) {
        return 1;
    }
}

} // namespace

extern "C" const second_peer second_peer_torch = {"PyTorch", TORCH_VERSION, open,
                                                  gradient,  product,       close};

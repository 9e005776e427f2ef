// SPDX-License-Identifier: MIT
// PyTorch's C++ library, double precision, one thread: the operations of ../matrix_case.h as
// its users write them. Inputs are leaves that live from `open` to `close`; matrices for LAPACK
// stand in column-major order, which saves it the copy, those of the network in its own.
#include "../matrix_case.h"

#include <torch/torch.h>
#include <torch/version.h>
#include <vector>

using at::Tensor;

namespace {

constexpr double log_2pi = 1.83787706640934548356;

std::vector<Tensor> x, data, seed;
std::vector<std::array<size_t, 2>> shape;

Tensor matrix(const double *a, size_t rows, size_t cols) {
    const auto r = int64_t(rows), c = int64_t(cols);
    return torch::from_blob(const_cast<double *>(a), {r, c}, {1, r}, torch::kFloat64).clone();
}

void input(const double *&at, size_t rows, size_t cols, bool own_order = false) {
    Tensor a = matrix(at, rows, cols);
    if (own_order) a = a.contiguous();
    x.push_back(a.requires_grad_(true));
    shape.push_back({rows, cols});
    at += rows * cols;
}

void vector(const double *&at, size_t n) {
    input(at, n, 1);
    x.back() = x.back().detach().reshape({int64_t(n)}).requires_grad_(true);
}

// r^2 of all pairs of points: known before the hyperparameters are.
Tensor distances(const double *points, size_t n, size_t d) {
    const Tensor p = matrix(points, n, d);
    return (p.unsqueeze(1) - p.unsqueeze(0)).square().sum(2);
}

int open(const matrix_case *c) {
    const size_t n = c->dim[0], k = c->dim[1], s = n * n;
    const double *at = c->x;
    at::set_num_threads(1);
    switch (c->kind) {
    case MATRIX_products:
        input(at, n, n);
        input(at, n, n);
        input(at, n, n);
        break;
    case MATRIX_solve:
        input(at, n, n);
        if (k == 1) vector(at, n);
        else input(at, n, k);
        seed.push_back(matrix(c->seed, n, k));
        if (k == 1) seed[0] = seed[0].reshape({int64_t(n)});
        break;
    case MATRIX_gp:
        for (int i = 0; i < 3; i++) {
            input(at, 1, 1);
            x.back() = x.back().detach().reshape({}).requires_grad_(true);
        }
        data = {distances(c->data, n, k), matrix(c->data + n * k, n, 1)};
        break;
    case MATRIX_mlp: {
        std::vector<int64_t> label(c->label, c->label + c->dim[3]);
        input(at, k, n, true);
        vector(at, k);
        input(at, c->dim[2], k, true);
        vector(at, c->dim[2]);
        data = {matrix(c->data, n, c->dim[3]).t(), torch::tensor(label)};
        break;
    }
    case MATRIX_vectors:
        for (int i = 0; i < 3; i++) vector(at, n);
        seed.push_back(matrix(c->seed, n, 1).reshape({int64_t(n)}));
        break;
    case MATRIX_map_exp:
    case MATRIX_map_tanh:
    case MATRIX_map_log:
        vector(at, n);
        seed.push_back(matrix(c->seed, n, 1).reshape({int64_t(n)}));
        break;
    default: // one square matrix
        input(at, n, n);
        if (c->kind == MATRIX_eigen || c->kind == MATRIX_singular)
            seed.push_back(matrix(c->seed, n, 1).reshape({int64_t(n)}));
        if (c->kind == MATRIX_eigen) seed.push_back(matrix(c->seed + n, n, n));
        if (c->kind == MATRIX_qr) seed = {matrix(c->seed, n, n), matrix(c->seed + s, n, n)};
        break;
    }
    return 0;
}

void close() {
    x.clear();
    data.clear();
    seed.clear();
    shape.clear();
}

void sweep(const matrix_case *c) {
    using torch::autograd::backward;
    switch (c->kind) {
    case MATRIX_logdet:
        (2 * torch::linalg_cholesky(x[0]).diagonal().log().sum()).backward();
        break;
    case MATRIX_solve:
        backward({torch::linalg_solve(x[0], x[1])}, {seed[0]});
        break;
    case MATRIX_products:
        x[0].mm(x[1]).tanh().mm(x[2]).sum().backward();
        break;
    case MATRIX_eigen: {
        const auto [w, v] = torch::linalg_eigh(x[0]);
        backward({w, v}, {seed[0], seed[1] * v.detach()});
        break;
    }
    case MATRIX_singular:
        backward({torch::linalg_svdvals(x[0])}, {seed[0]});
        break;
    case MATRIX_qr: {
        const auto [q, r] = torch::linalg_qr(x[0]);
        backward({q, r}, {seed[0], seed[1]});
        break;
    }
    case MATRIX_gp: {
        Tensor k = (data[0] * (-0.5 / x[1].square())).exp() * x[0].square();
        k.diagonal().add_(x[2].square());
        const Tensor l = torch::linalg_cholesky(k);
        const Tensor z = torch::linalg_solve_triangular(l, data[1], false);
        const Tensor y =
            -0.5 * (z.square().sum() + double(c->dim[0]) * log_2pi) - l.diagonal().log().sum();
        y.backward();
        break;
    }
    case MATRIX_mlp: {
        const Tensor hidden = torch::linear(data[0], x[0], x[1]).tanh();
        torch::cross_entropy_loss(torch::linear(hidden, x[2], x[3]), data[1]).backward();
        break;
    }
    case MATRIX_vectors: {
        Tensor u = x[0];
        for (size_t k = 0; k < c->dim[1]; k += 2) u = u * x[1] + x[2];
        backward({u}, {seed[0]});
        break;
    }
    case MATRIX_map_exp:
        backward({x[0].exp()}, {seed[0]});
        break;
    case MATRIX_map_tanh:
        backward({x[0].tanh()}, {seed[0]});
        break;
    case MATRIX_map_log:
        backward({x[0].log()}, {seed[0]});
        break;
    case MATRIX_KINDS:
        break;
    }
}

int derivative(const matrix_case *c, double *g) {
    try {
        for (Tensor &a : x) a.mutable_grad() = Tensor();
        sweep(c);
        for (size_t i = 0; g && i < x.size(); i++) {
            const auto rows = int64_t(shape[i][0]), cols = int64_t(shape[i][1]);
            torch::from_blob(g, {rows, cols}, {1, rows}, torch::kFloat64)
                .copy_(x[i].grad().reshape({rows, cols}));
            g += rows * cols;
        }
        return 0;
    } catch (const std::exception &) {
        return 1;
    }
}

} // namespace

extern "C" const matrix_peer matrix_peer_torch = {"PyTorch", TORCH_VERSION, open, derivative,
                                                  close};

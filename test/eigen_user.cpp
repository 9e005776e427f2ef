// SPDX-License-Identifier: MIT
// eigen_user.cpp - wg::active as a scalar of Eigen: values against doubles, derivatives along a direction
// against differences of fourth order, and how much is recorded. Prints what fails, and succeeds when
// nothing does. With WG_OWN_ONLY: what wengert/eigen.hpp computes, and one factorisation of Eigen's own.
#include <wengert/eigen.hpp>

#include <Eigen/QR>
#include <cmath>
#include <cstdio>

namespace {

using wg::active;
using matrix = Eigen::Matrix<active, Eigen::Dynamic, Eigen::Dynamic>;
using rows = Eigen::Matrix<active, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using vector = Eigen::Matrix<active, Eigen::Dynamic, 1>;
using Eigen::MatrixXd;

int failures = 0;
void check(bool good, const char *name, const char *what) {
    if (good) return;
    std::fprintf(stderr, "eigen_user.cpp: %s: %s\n", name, what);
    failures++;
}

double next() {
    static unsigned long long state = 7;
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<double>(state >> 33) / 4294967296.0 * 2 - 0.5;
}
MatrixXd some(Eigen::Index m, Eigen::Index n) {
    MatrixXd a(m, n);
    for (Eigen::Index k = 0; k < m * n; k++) a.data()[k] = next();
    return a;
}

// records: at most so many; 0: any.
template <class F>
void differentiate(const char *name, const MatrixXd &at, std::size_t records, F f) {
    const Eigen::Index m = at.rows(), n = at.cols();
    const MatrixXd along = some(m, n);
    wg::tape t;
    const wg::scope here(t);
    matrix x(m, n);
    for (Eigen::Index k = 0; k < m * n; k++) x.data()[k] = t.input(at.data()[k]);
    const active y = f(x);
    t.reverse(y);
    double slope = 0;
    for (Eigen::Index k = 0; k < m * n; k++) slope += t.adjoint(x.data()[k]) * along.data()[k];
    wg_stats s;
    check(wg_tape_stats(t, &s) == WG_OK && (records == 0 || s.records <= records), name, "records");
    const wg::scope none(nullptr);
    const auto value_at = [&](double h) {
        return wg::value(f(MatrixXd(at + h * along).cast<active>()));
    };
    const double v = value_at(0), h = 1e-3;
    const double judge = (8 * (value_at(h) - value_at(-h)) - (value_at(2 * h) - value_at(-2 * h))) / (12 * h);
    check(std::fabs(v - wg::value(y)) <= 1e-12 * (1 + std::fabs(v)), name, "the value of numbers");
    if (!(std::fabs(slope - judge) <= 1e-7 * (1 + std::fabs(judge)))) {
        std::fprintf(stderr, "%s: %.12g, differences %.12g\n", name, slope, judge);
        check(false, name, "the derivative");
    }
}

void products_and_systems() {
    const MatrixXd a = some(9, 9) + 4 * MatrixXd::Identity(9, 9), b = some(9, 6);
    differentiate("product", some(9, 7), 500, [&](const matrix &x) {
        matrix y = x * x.transpose();
        y.noalias() += active(2) * (y * b.leftCols(6).rowwise().sum().asDiagonal());
        return active((y * y.transpose()).sum());
    });
    differentiate("product, by rows", some(9, 7), 400, [&](const matrix &x) {
        const rows r = x, p = r * r.transpose();
        rows q = p;
        q.noalias() -= x(0, 0) * p * p;
        return active((q * x).cwiseAbs2().sum());
    });
    differentiate("matrix and vector", some(12, 8), 200, [&](const matrix &x) {
        const vector u = x.col(2), v = x.transpose() * u, w = rows(x) * v;
        return active(w.squaredNorm() + (w.transpose() * x).sum());
    });
    differentiate("small, and with doubles", some(3, 3), 0, [&](const matrix &x) {
        const Eigen::Matrix<active, 3, 3> y = x;
        return active((2.0 * y * y + y / 3).trace() + y.determinant() * 4 + y.inverse()(0, 1));
    });
    differentiate("triangular", a, 400, [&](const matrix &x) {
        const matrix c = b.cast<active>();
        const matrix u = x.triangularView<Eigen::Upper>().solve(c);
        const matrix l = x.triangularView<Eigen::UnitLower>().solve<Eigen::OnTheRight>(u.transpose());
        const rows r = x;
        const vector v = r.triangularView<Eigen::Lower>().solve(vector(c.col(0)));
        return active(u.sum() + l.squaredNorm() + v.sum());
    });
}

// What is given by an expression is computed first: compilers make sums and norms of each type of expression
// anew, for half a second apiece. Those of expressions are asked for among the products.
active sum(const vector &v) { return v.sum(); }

void factorisations() {
    const Eigen::Index n = 8;
    const MatrixXd a = some(n, n) + 2 * MatrixXd::Identity(n, n);
    const vector one = vector::Constant(n, 1.0);
    differentiate("LLT", a, 600, [&](const matrix &x) {
        const matrix b = x * x.transpose();
        const Eigen::LLT<matrix> lower(b);
        const Eigen::LLT<matrix, Eigen::Upper> upper(b);
        const matrix l = lower.matrixL(), u = upper.matrixU();
        return active(sum(lower.solve(one)) + l.diagonal().array().log().sum() + u.sum());
    });
    differentiate("PartialPivLU", a, 600, [&](const matrix &x) {
        const Eigen::PartialPivLU<matrix> lu(x);
        const Eigen::PartialPivLU<rows> by_rows{rows(x)};
        return active(sum(lu.solve(one)) * 2 + vector(by_rows.solve(one)).squaredNorm() + lu.determinant());
    });
    differentiate("inverse", a, 300, [](const matrix &x) { return active(matrix(x.inverse()).squaredNorm()); });
    differentiate("ColPivHouseholderQR", a, 0, [&](const matrix &x) {
        return sum(Eigen::ColPivHouseholderQR<matrix>(x).solve(one));
    });
#ifndef WG_OWN_ONLY
    differentiate("LDLT", a, 0, [&](const matrix &x) {
        const matrix b = x * x.transpose();
        return sum(Eigen::LDLT<matrix>(b).solve(one));
    });
    differentiate("FullPivLU", a, 0, [&](const matrix &x) {
        return sum(Eigen::FullPivLU<matrix>(x).solve(one));
    });
    differentiate("HouseholderQR", a, 0, [&](const matrix &x) {
        return sum(Eigen::HouseholderQR<matrix>(x).solve(one));
    });
#endif
}

void spectra() {
    const Eigen::Index n = 9;
    differentiate("SelfAdjointEigenSolver", some(n, n), 200, [&](const matrix &x) {
        const Eigen::SelfAdjointEigenSolver<matrix> e(x + x.transpose());
        const vector v = e.eigenvectors().col(2);
        return active(e.eigenvalues()(1) * 3 + v(0) * v(1) + e.eigenvalues().array().exp().sum());
    });
    differentiate("BDCSVD", some(n, 5), 300, [&](const matrix &x) {
        const Eigen::BDCSVD<matrix> s(x, Eigen::ComputeThinU | Eigen::ComputeThinV);
        return active(sum(s.solve(vector(vector::Constant(n, 1.0)))) + s.singularValues()(0));
    });
#ifndef WG_OWN_ONLY
    using unaligned = Eigen::Matrix<active, Eigen::Dynamic, Eigen::Dynamic, Eigen::DontAlign>;
    const MatrixXd at = some(4, 3);
    const vector by_turns = Eigen::JacobiSVD<matrix>(at.cast<active>()).singularValues();
    const vector all = Eigen::BDCSVD<unaligned>(at.cast<active>()).singularValues();
    for (Eigen::Index k = 0; k < 3; k++)
        check(std::fabs(wg::value(all(k) - by_turns(k))) <= 1e-12 && wg::value(all(k)) > 0, "BDCSVD",
              "a matrix that is not aligned");
    differentiate("JacobiSVD", some(6, 4), 0, [](const matrix &x) {
        const Eigen::JacobiSVD<matrix> s(x, Eigen::ComputeThinU | Eigen::ComputeThinV);
        return active(sum(s.solve(vector(vector::Constant(6, 1.0)))) + s.singularValues()(0));
    });
    differentiate("Tridiagonalization", some(6, 6), 0, [](const matrix &x) {
        const matrix b = x + x.transpose();
        const Eigen::Tridiagonalization<matrix> t(b);
        return active(t.diagonal()(1) * t.subDiagonal()(2) * t.subDiagonal()(2));
    });
#endif
}

// What is no good for a factorisation is told by info(), and leaves the tape as it is.
void what_has_no_factor() {
    wg::tape t;
    const wg::scope here(t);
    matrix x = matrix::Identity(6, 6) * t.input(-1);
    const Eigen::LLT<matrix> l(x);
    check(l.info() == Eigen::NumericalIssue && wg_tape_status(t) == WG_OK, "LLT", "of a negative matrix");
    for (Eigen::Index k = 0; k < 36; k++) // what is not of a triangle may be anything
        if (k % 6 < k / 6) x.data()[k] = wg_real{7, {1234, 5678}};
    const vector v = x.triangularView<Eigen::Lower>().solve(vector::Constant(6, 1.0));
    check(wg::value(v(2)) == -1 && wg_tape_status(t) == WG_OK, "triangular", "beside garbage");
    x = matrix::Identity(6, 6);
    x.row(3).setZero();
    const Eigen::PartialPivLU<matrix> lu(x);
    check(lu.determinant() == 0 && wg_tape_status(t) == WG_OK, "PartialPivLU", "of a singular matrix");
    x(0, 0) = NAN;
    const Eigen::SelfAdjointEigenSolver<matrix> e(x);
    check(e.info() == Eigen::NoConvergence && wg_tape_status(t) == WG_OK, "SelfAdjointEigenSolver", "of a NaN");
}

// Outside of every scope what is computed of variables has its value, and is refused where it comes back.
void what_is_computed_outside_is_no_constant() {
    wg::tape t;
    matrix x(6, 6);
    {
        const wg::scope here(t);
        const MatrixXd a = some(6, 6);
        const MatrixXd at = a * a.transpose() + MatrixXd::Identity(6, 6);
        for (Eigen::Index k = 0; k < 36; k++) x.data()[k] = t.input(at.data()[k]);
    }
    const auto refused = [&](const char *name, const active &y) {
        const wg::scope here(t);
        const active z = y * 2;
        check(wg::value(y) == wg::value(y) && wg_tape_status(t) == WG_ESTALE, name, "computed outside");
        t.reset();
    };
    const Eigen::SelfAdjointEigenSolver<matrix> e(x);
    const Eigen::BDCSVD<matrix> s(x, Eigen::ComputeThinU | Eigen::ComputeThinV);
    refused("product", (x * x)(2, 3));
    refused("LLT", Eigen::LLT<matrix>(x).matrixLLT()(3, 1));
    refused("PartialPivLU", Eigen::PartialPivLU<matrix>(x).determinant());
    refused("eigenvalues", e.eigenvalues()(0));
    refused("eigenvectors", e.eigenvectors()(2, 1));
    refused("singular values", s.singularValues()(1));
    refused("U", s.matrixU()(1, 0));
}

} // namespace

int main() {
    products_and_systems();
    factorisations();
    spectra();
    what_has_no_factor();
    what_is_computed_outside_is_no_constant();
    return failures != 0;
}

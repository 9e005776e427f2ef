/* SPDX-License-Identifier: MIT */
/* wg::active as a scalar of Eigen (3.4): matrices of any kind, all decompositions and solvers.
 *
 *     using matrix = Eigen::Matrix<wg::active, Eigen::Dynamic, Eigen::Dynamic>;
 *
 * What Eigen does coefficient by coefficient is recorded so. Products, triangular solves,
 * Cholesky and LU factorisations, eigenvalues of symmetric matrices and BDCSVD are one record
 * each, by the operations of this library (BLAS and LAPACK), in the places where Eigen itself
 * calls those for doubles: so are what is made of them, as inverses, determinants and LDL' of
 * blocks. Small ones, and what of numbers alone is computed, are not.
 *
 * Signs of eigenvectors and singular vectors are LAPACK's, and a sweep through those of equal
 * values is refused (WG_EDEGENERATE). A matrix that is no good for a factorisation leaves the
 * tape as it is, and is told by info() as with doubles. Eigen's products by several threads are
 * off, as a scope is of one thread: this header comes before all others of Eigen. */
#ifndef WENGERT_EIGEN_HPP
#define WENGERT_EIGEN_HPP

#ifdef EIGEN_CORE_H
#ifdef EIGEN_HAS_OPENMP
#error "wengert: include <wengert/eigen.hpp> before <Eigen/...>, which computes with several threads"
#endif
#else
#define EIGEN_DONT_PARALLELIZE
#endif

#include <wengert/active.hpp>
#include <wengert/elementwise.h>
#include <wengert/matrix.h>
#include <wengert/products.h>
#include <wengert/solve.h>
#include <wengert/spectral.h>

#include <vector>

#pragma GCC system_header

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/SVD>

namespace Eigen {

template <> struct NumTraits<wg::active> : NumTraits<double> {
    using Real = wg::active;
    using NonInteger = wg::active;
    using Nested = wg::active;
    using Literal = wg::active;
    enum { RequireInitialization = 0, ReadCost = 2, AddCost = 8, MulCost = 8 };
    static Real epsilon() { return NumTraits<double>::epsilon(); }
    static Real dummy_precision() { return NumTraits<double>::dummy_precision(); }
    static Real highest() { return NumTraits<double>::highest(); }
    static Real lowest() { return NumTraits<double>::lowest(); }
    static Real infinity() { return NumTraits<double>::infinity(); }
    static Real quiet_NaN() { return NumTraits<double>::quiet_NaN(); }
};
template <class Operation> struct ScalarBinaryOpTraits<wg::active, double, Operation> {
    using ReturnType = wg::active;
};
template <class Operation> struct ScalarBinaryOpTraits<double, wg::active, Operation> {
    using ReturnType = wg::active;
};

} // namespace Eigen

namespace wg {
namespace detail {

inline void scatter(const wg_mat &y, wg::active *to, std::ptrdiff_t down, std::ptrdiff_t across) {
    for (std::size_t j = 0; j < y.cols; j++)
        for (std::size_t i = 0; i < y.rows; i++)
            to[static_cast<std::ptrdiff_t>(i) * down + static_cast<std::ptrdiff_t>(j) * across] =
                wg_mat_at(y, i, j);
}

/* Elements at from[i * down + j * across], column after column, and whether one is a
 * variable. */
struct gathered {
    std::size_t rows, cols;
    std::vector<wg_real> x;
    bool active;

    gathered(std::ptrdiff_t m, std::ptrdiff_t n, const wg::active *from, std::ptrdiff_t down,
             std::ptrdiff_t across)
        : rows(static_cast<std::size_t>(m)), cols(static_cast<std::size_t>(n)), active(false) {
        x.reserve(rows * cols);
        for (std::ptrdiff_t j = 0; j < n; j++)
            for (std::ptrdiff_t i = 0; i < m; i++) {
                x.push_back(from[i * down + j * across]);
                active |= x.back().at.slot != 0;
            }
    }
    /* Are all elements the number 0? */
    bool is_zero() const {
        for (const wg_real &e : x)
            if (e.at.slot != 0 || e.value != 0) return false;
        return true;
    }
    /* Of a triangle nothing else is looked at, as it may hold anything. */
    void keep_triangle(bool lower, bool unit) {
        active = false;
        for (std::size_t j = 0; j < cols; j++)
            for (std::size_t i = 0; i < rows; i++) {
                wg_real &e = x[i + j * rows];
                if (i == j && unit) e = wg_constant(1);
                else if (i != j && (i > j) != lower) e = wg_constant(0);
                active |= e.at.slot != 0;
            }
    }
    bool is_finite() const {
        for (const wg_real &e : x)
            if (!std::isfinite(e.value)) return false;
        return true;
    }
    /* That of this thread; where there is none, `other`, on which all are numbers. */
    wg_tape *tape_for(wg_tape *other) {
        if (has_tape()) return tape_here();
        for (wg_real &e : x) e = wg_constant(e.value);
        return other;
    }
    /* What has been made of them where there is no tape. */
    void scatter(const wg_mat &y, wg::active *to, std::ptrdiff_t down, std::ptrdiff_t across) const {
        wg::detail::scatter(y, to, down, across);
        if (has_tape() || !active) return;
        for (std::size_t j = 0; j < y.cols; j++)
            for (std::size_t i = 0; i < y.rows; i++) {
                to[static_cast<std::ptrdiff_t>(i) * down + static_cast<std::ptrdiff_t>(j) * across] =
                    untaped(wg_value(wg_mat_at(y, i, j)), 1);
            }
    }
    wg_mat on(wg_tape *t) const { return wg_mat_gather(t, rows, cols, x.data()); }
    Eigen::MatrixXd numbers() const {
        const Eigen::Index m = static_cast<Eigen::Index>(rows);
        Eigen::MatrixXd y(m, static_cast<Eigen::Index>(cols));
        for (std::size_t k = 0; k < x.size(); k++)
            y(static_cast<Eigen::Index>(k) % m, static_cast<Eigen::Index>(k) / m) = x[k].value;
        return y;
    }
};

/* Is there a tape, and is it worth a record of its own? */
inline bool is_block(std::ptrdiff_t m, std::ptrdiff_t n) {
    return has_tape() && m * n >= 16;
}

/* C += alpha A B. Gives false where it is left to be done by coefficients. */
inline bool add_product(const gathered &a, const gathered &b, const wg::active &alpha,
                        wg::active *c, std::ptrdiff_t down, std::ptrdiff_t across) {
    if (!a.active && !b.active) return false;
    wg_tape *const t = tape_here();
    const gathered was(static_cast<std::ptrdiff_t>(a.rows), static_cast<std::ptrdiff_t>(b.cols),
                       c, down, across);
    wg_mat y;
    if (alpha.at.slot == 0 && !was.is_zero()) {
        y = wg_gemm(t, 'N', 'N', value(alpha), a.on(t), b.on(t), 1, was.on(t));
    } else {
        y = wg_gemm(t, 'N', 'N', alpha.at.slot == 0 ? value(alpha) : 1.0, a.on(t), b.on(t), 0,
                    wg_mat());
        if (alpha.at.slot != 0) y = wg_mat_mul(t, wg_mat_from_real(t, alpha), y);
        if (!was.is_zero()) y = wg_mat_add(t, y, was.on(t));
    }
    scatter(y, c, down, across);
    return true;
}

/* op(A) X = B, or X op(A) = B, in the place of B. */
inline void solve_triangular(char side, bool lower, bool unit, const gathered &a, wg::active *b,
                             std::ptrdiff_t rows, std::ptrdiff_t cols, std::ptrdiff_t down,
                             std::ptrdiff_t across) {
    wg_tape *const t = tape_here();
    const gathered right(rows, cols, b, down, across);
    scatter(wg_trsm(t, side, lower ? 'L' : 'U', 'N', unit ? 'U' : 'N', 1, a.on(t), right.on(t)),
            b, down, across);
}
/* Has it no zero on the diagonal, which the operation would refuse? */
inline bool is_regular(const gathered &a, bool unit) {
    for (std::size_t i = 0; i < a.rows && !unit; i++)
        if (a.x[i + i * a.rows].value == 0) return false;
    return true;
}

} // namespace detail
} // namespace wg

namespace Eigen {
namespace internal {

/* ---- products ---- */

template <class Index, int LhsOrder, bool ConjugateLhs, int RhsOrder, bool ConjugateRhs,
          int Inner>
struct general_matrix_matrix_product<Index, wg::active, LhsOrder, ConjugateLhs, wg::active,
                                     RhsOrder, ConjugateRhs, ColMajor, Inner> {
    using Traits = gebp_traits<wg::active, wg::active>;
    static void run(Index rows, Index cols, Index depth, const wg::active *lhs, Index lhs_stride,
                    const wg::active *rhs, Index rhs_stride, wg::active *res, Index incr,
                    Index stride, wg::active alpha, level3_blocking<wg::active, wg::active> &,
                    GemmParallelInfo<Index> * = nullptr) {
        const bool l = LhsOrder == ColMajor, r = RhsOrder == ColMajor;
        if (wg::detail::is_block(rows, cols * depth)) {
            const wg::detail::gathered a(rows, depth, lhs, l ? 1 : lhs_stride, l ? lhs_stride : 1);
            const wg::detail::gathered b(depth, cols, rhs, r ? 1 : rhs_stride, r ? rhs_stride : 1);
            if (wg::detail::add_product(a, b, alpha, res, incr, stride)) return;
        }
        for (Index j = 0; j < cols; j++)
            for (Index i = 0; i < rows; i++) {
                wg::active s = 0;
                for (Index k = 0; k < depth; k++)
                    s += lhs[l ? i + k * lhs_stride : i * lhs_stride + k] *
                         rhs[r ? k + j * rhs_stride : k * rhs_stride + j];
                res[i * incr + j * stride] += alpha * s;
            }
    }
};

#define WGI_EIGEN_GEMV(order)                                                                  \
    template <class Index, class LhsMapper, bool ConjugateLhs, class RhsMapper,                \
              bool ConjugateRhs, int Version>                                                  \
    struct general_matrix_vector_product<Index, wg::active, LhsMapper, order, ConjugateLhs,    \
                                         wg::active, RhsMapper, ConjugateRhs, Version> {       \
        static void run(Index rows, Index cols, const LhsMapper &lhs, const RhsMapper &rhs,    \
                        wg::active *res, Index incr, wg::active alpha) {                       \
            std::vector<wg::active> x(static_cast<std::size_t>(cols));                         \
            for (Index k = 0; k < cols; k++) x[static_cast<std::size_t>(k)] = rhs(k, 0);       \
            if (wg::detail::is_block(rows, cols)) {                                            \
                const bool l = order == ColMajor;                                              \
                const wg::detail::gathered a(rows, cols, lhs.data(), l ? 1 : lhs.stride(),     \
                                             l ? lhs.stride() : 1);                            \
                const wg::detail::gathered b(cols, 1, x.data(), 1, cols);                      \
                if (wg::detail::add_product(a, b, alpha, res, incr, 0)) return;                \
            }                                                                                  \
            for (Index i = 0; i < rows; i++) {                                                 \
                wg::active s = 0;                                                              \
                for (Index k = 0; k < cols; k++)                                               \
                    s += lhs(i, k) * x[static_cast<std::size_t>(k)];                           \
                res[i * incr] += alpha * s;                                                    \
            }                                                                                  \
        }                                                                                      \
    };
WGI_EIGEN_GEMV(ColMajor)
WGI_EIGEN_GEMV(RowMajor)
#undef WGI_EIGEN_GEMV

/* ---- triangular systems ---- */

template <class Index, int Mode, bool Conjugate, int Order, int Inner>
struct triangular_solve_matrix<wg::active, Index, OnTheLeft, Mode, Conjugate, Order, ColMajor,
                               Inner> {
    static void run(Index size, Index other_size, const wg::active *tri, Index stride,
                    wg::active *other, Index incr, Index other_stride,
                    level3_blocking<wg::active, wg::active> &) {
        const bool unit = (Mode & UnitDiag) != 0, lower = (Mode & Lower) == Lower;
        const Index down = Order == ColMajor ? 1 : stride, across = Order == ColMajor ? stride : 1;
        wg::detail::gathered a(size, size, tri, down, across);
        a.keep_triangle(lower, unit);
        if (wg::detail::is_block(size, size) && wg::detail::is_regular(a, unit)) {
            wg::detail::solve_triangular('L', lower, unit, a, other, size, other_size, incr,
                                         other_stride);
            return;
        }
        for (Index j = 0; j < other_size; j++)
            for (Index k = 0; k < size; k++) {
                const Index i = lower ? k : size - 1 - k;
                wg::active &x = other[i * incr + j * other_stride];
                for (Index l = lower ? 0 : i + 1; l < (lower ? i : size); l++)
                    x -= tri[i * down + l * across] * other[l * incr + j * other_stride];
                if (!unit) x /= tri[i * down + i * across];
            }
    }
};
template <class Index, int Mode, bool Conjugate, int Order, int Inner>
struct triangular_solve_matrix<wg::active, Index, OnTheRight, Mode, Conjugate, Order, ColMajor,
                               Inner> {
    /* X A = B is A' X' = B'. */
    static void run(Index size, Index other_size, const wg::active *tri, Index stride,
                    wg::active *other, Index incr, Index other_stride,
                    level3_blocking<wg::active, wg::active> &) {
        const bool unit = (Mode & UnitDiag) != 0, lower = (Mode & Lower) != Lower;
        const Index down = Order == ColMajor ? stride : 1, across = Order == ColMajor ? 1 : stride;
        wg::detail::gathered a(size, size, tri, down, across);
        a.keep_triangle(lower, unit);
        if (wg::detail::is_block(size, size) && wg::detail::is_regular(a, unit)) {
            wg::detail::solve_triangular('L', lower, unit, a, other, size, other_size,
                                         other_stride, incr);
            return;
        }
        for (Index j = 0; j < other_size; j++)
            for (Index k = 0; k < size; k++) {
                const Index i = lower ? k : size - 1 - k;
                wg::active &x = other[i * other_stride + j * incr];
                for (Index l = lower ? 0 : i + 1; l < (lower ? i : size); l++)
                    x -= tri[i * down + l * across] * other[l * other_stride + j * incr];
                if (!unit) x /= tri[i * down + i * across];
            }
    }
};
#define WGI_EIGEN_TRSV(order)                                                                  \
    template <class Index, int Mode, bool Conjugate>                                           \
    struct triangular_solve_vector<wg::active, wg::active, Index, OnTheLeft, Mode, Conjugate,  \
                                   order> {                                                    \
        static void run(Index size, const wg::active *lhs, Index stride, wg::active *rhs) {    \
            gemm_blocking_space<ColMajor, wg::active, wg::active, Dynamic, Dynamic, Dynamic>   \
                none(0, 0, 0, 1, false);                                                       \
            triangular_solve_matrix<wg::active, Index, OnTheLeft, Mode, Conjugate, order,      \
                                    ColMajor, 1>::run(size, 1, lhs, stride, rhs, 1, size,      \
                                                      none);                                   \
        }                                                                                      \
    };
WGI_EIGEN_TRSV(ColMajor)
WGI_EIGEN_TRSV(RowMajor)
#undef WGI_EIGEN_TRSV

/* ---- factorisations ---- */

template <> struct llt_inplace<wg::active, Lower> {
    template <class MatrixType> static Index unblocked(MatrixType &a) {
        for (Index k = 0; k < a.rows(); k++) {
            wg::active d = a(k, k);
            for (Index l = 0; l < k; l++) d -= a(k, l) * a(k, l);
            if (d <= 0) return k;
            a(k, k) = d = sqrt(d);
            for (Index i = k + 1; i < a.rows(); i++) {
                wg::active x = a(i, k);
                for (Index l = 0; l < k; l++) x -= a(i, l) * a(k, l);
                a(i, k) = x / d;
            }
        }
        return -1;
    }
    /* A = L L' from the lower triangle of a, which L replaces. */
    template <class MatrixType> static Index blocked(MatrixType &a) {
        const Index n = a.rows();
        MatrixXd numbers(n, n);
        bool active = false;
        for (Index j = 0; j < n; j++)
            for (Index i = j; i < n; i++) {
                numbers(i, j) = wg::value(a(i, j));
                active |= a(i, j).at.slot != 0;
            }
        const Index bad = llt_inplace<double, Lower>::blocked(numbers);
        if (bad >= 0 || !active || !wg::detail::is_block(n, n)) {
            if (bad < 0 && active && wg::detail::has_tape())
                return unblocked(a);
            for (Index j = 0; j < n; j++)
                for (Index i = j; i < n; i++) a(i, j) = wg::detail::untaped(numbers(i, j), active);
            return bad;
        }
        wg_tape *const t = wg::detail::tape_here();
        std::vector<wg_real> both;
        for (Index j = 0; j < n; j++)
            for (Index i = 0; i < n; i++) both.push_back(i < j ? a(j, i) : a(i, j));
        const std::size_t order = static_cast<std::size_t>(n);
        const wg_mat l = wg_cholesky(t, wg_mat_gather(t, order, order, both.data()));
        if (wg_tape_status(t) != WG_OK) return 0;
        for (Index j = 0; j < n; j++)
            for (Index i = j; i < n; i++)
                a(i, j) = wg_mat_at(l, static_cast<std::size_t>(i), static_cast<std::size_t>(j));
        return -1;
    }
    template <class MatrixType, class VectorType>
    static Index rankUpdate(MatrixType &a, const VectorType &x, const wg::active &sigma) {
        return llt_rank_update_lower(a, x, sigma);
    }
};
template <> struct llt_inplace<wg::active, Upper> {
    template <class MatrixType> static Index blocked(MatrixType &a) {
        Transpose<MatrixType> below(a);
        return llt_inplace<wg::active, Lower>::blocked(below);
    }
    template <class MatrixType> static Index unblocked(MatrixType &a) {
        Transpose<MatrixType> below(a);
        return llt_inplace<wg::active, Lower>::unblocked(below);
    }
    template <class MatrixType, class VectorType>
    static Index rankUpdate(MatrixType &a, const VectorType &x, const wg::active &sigma) {
        Transpose<MatrixType> below(a);
        return llt_inplace<wg::active, Lower>::rankUpdate(below, x, sigma);
    }
};

#if EIGEN_VERSION_AT_LEAST(3, 3, 90)
#define WGI_EIGEN_LU(type) partial_lu_impl<wg::active, Order, type, Dynamic>
#else
#define WGI_EIGEN_LU(type) partial_lu_impl<wg::active, Order, type>
#endif
/* By the operation where that is square and regular; else by coefficients, with another type
 * of indices. */
template <int Order> struct WGI_EIGEN_LU(int) {
    static Index blocked_lu(Index rows, Index cols, wg::active *lu, Index stride, int *swaps,
                            int &count, Index = 256) {
        const Index down = Order == ColMajor ? 1 : stride, across = Order == ColMajor ? stride : 1;
        const wg::detail::gathered a(rows, cols, lu, down, across);
        if (rows != cols || !a.active || !wg::detail::is_block(rows, cols) ||
            !is_invertible(a.numbers()))
            return by_coefficients(rows, cols, lu, stride, swaps, count);
        wg_tape *const t = wg::detail::tape_here();
        const std::size_t n = a.rows;
        std::vector<std::size_t> order(n), at(n);
        wg_mat l, u;
        (void)wg_lu_factors(t, a.on(t), &l, &u, order.data());
        for (std::size_t j = 0; j < n; j++)
            for (std::size_t i = 0; i < n; i++)
                lu[static_cast<Index>(i) * down + static_cast<Index>(j) * across] =
                    wg_mat_at(i > j ? l : u, i, j);
        count = 0;
        for (std::size_t k = 0; k < n; k++) at[k] = k;
        for (std::size_t k = 0; k < n; k++) {
            std::size_t i = k;
            while (i + 1 < n && at[i] != order[k]) i++;
            swaps[k] = static_cast<int>(i);
            if (i != k) std::swap(at[i], at[k]), count++;
        }
        return -1;
    }

  private:
    static bool is_invertible(const MatrixXd &a) {
        const MatrixXd lu = PartialPivLU<MatrixXd>(a).matrixLU();
        for (Index i = 0; i < lu.rows(); i++)
            if (lu(i, i) == 0) return false;
        return lu.allFinite();
    }
    static Index by_coefficients(Index rows, Index cols, wg::active *lu, Index stride, int *swaps,
                                 int &count) {
        std::vector<long> wide(static_cast<std::size_t>(cols));
        long many = 0;
        const Index bad =
            WGI_EIGEN_LU(long)::blocked_lu(rows, cols, lu, stride, wide.data(), many);
        for (std::size_t k = 0; k < wide.size(); k++) swaps[k] = static_cast<int>(wide[k]);
        count = static_cast<int>(many);
        return bad;
    }
};
#undef WGI_EIGEN_LU

} // namespace internal

/* ---- eigenvalues of symmetric matrices ---- */

#define WGI_EIGEN_SYMMETRIC(order)                                                             \
    template <>                                                                                \
    template <class InputType>                                                                 \
    SelfAdjointEigenSolver<Matrix<wg::active, Dynamic, Dynamic, order>> &                      \
    SelfAdjointEigenSolver<Matrix<wg::active, Dynamic, Dynamic, order>>::compute(              \
        const EigenBase<InputType> &matrix, int options) {                                     \
        const bool vectors = (options & ComputeEigenvectors) == ComputeEigenvectors;           \
        const Index n = matrix.cols();                                                         \
        m_eivec = matrix.derived();                                                            \
        m_eivalues.resize(n, 1);                                                               \
        for (Index j = 0; j < n; j++)                                                          \
            for (Index i = 0; i < j; i++) m_eivec(i, j) = m_eivec(j, i);                       \
        wg::detail::gathered a(n, n, m_eivec.data(), 1, n);                                    \
        m_info = a.is_finite() ? Success : NoConvergence;                                      \
        m_isInitialized = true;                                                                \
        m_eigenvectorsOk = vectors && a.is_finite();                                           \
        if (!a.is_finite()) return *this;                                                      \
        /* where no tape is, by one of its own, which is left empty */                         \
        const wg::tape none(WGI_EIGEN_RETURNS);                                                \
        wg_tape *const t = a.tape_for(none);                                                   \
        wg_mat w = wg_mat(), v = wg_mat();                                                     \
        m_eivalues.setConstant(NumTraits<wg::active>::quiet_NaN());                            \
        if (wg_eigh(t, a.on(t), &w, vectors ? &v : nullptr) != WG_OK) {                        \
            m_info = NoConvergence;                                                            \
            return *this;                                                                      \
        }                                                                                      \
        a.scatter(w, m_eivalues.data(), 1, n);                                       \
        if (vectors)                                                                           \
            a.scatter(v, m_eivec.data(), order == ColMajor ? 1 : n,                  \
                                order == ColMajor ? n : 1);                                    \
        return *this;                                                                          \
    }
#define WGI_EIGEN_RETURNS 0u, wg::on_failure::returns
WGI_EIGEN_SYMMETRIC(ColMajor)
WGI_EIGEN_SYMMETRIC(RowMajor)
#undef WGI_EIGEN_SYMMETRIC

/* ---- singular values ---- */

#if EIGEN_VERSION_AT_LEAST(3, 3, 90)
#define WGI_EIGEN_INFO(s) this->m_info = s
#else
#define WGI_EIGEN_INFO(s) (void)(s)
#endif
/* In the place of Eigen's class, so that nothing of it is compiled where it is not used. Bases
 * that are completed to squares are JacobiSVD's. */
template <int Order>
class BDCSVD<Matrix<wg::active, Dynamic, Dynamic, Order>>
    : public SVDBase<BDCSVD<Matrix<wg::active, Dynamic, Dynamic, Order>>> {
  public:
    using MatrixType = Matrix<wg::active, Dynamic, Dynamic, Order>;
    using Scalar = wg::active;
    using RealScalar = wg::active;

    BDCSVD() = default;
    BDCSVD(Index rows, Index cols, unsigned options = 0) { this->allocate(rows, cols, options); }
    BDCSVD(const MatrixType &matrix, unsigned options = 0) { compute(matrix, options); }

    BDCSVD &compute(const MatrixType &matrix) {
        return compute(matrix, this->m_computationOptions);
    }
    BDCSVD &compute(const MatrixType &matrix, unsigned options) {
        const Index m = matrix.rows(), n = matrix.cols();
        const bool by_columns = !MatrixType::IsRowMajor;
        this->allocate(m, n, options);
        wg::detail::gathered a(m, n, matrix.data(), by_columns ? 1 : n, by_columns ? m : 1);
        this->m_isInitialized = true;
        if ((this->m_computeFullU && m > n) || (this->m_computeFullV && n > m) || m == 0 ||
            n == 0 || !a.is_finite()) {
            const JacobiSVD<MatrixType> other(matrix, options);
            if (this->computeU()) this->m_matrixU = other.matrixU();
            if (this->computeV()) this->m_matrixV = other.matrixV();
            this->m_singularValues = other.singularValues();
            this->m_nonzeroSingularValues = other.nonzeroSingularValues();
            WGI_EIGEN_INFO(other.info());
            return *this;
        }
        const wg::tape none(WGI_EIGEN_RETURNS);
        wg_tape *const t = a.tape_for(none);
        wg_mat u = wg_mat(), s = wg_mat(), v = wg_mat();
        const wg_status status = wg_svd(t, a.on(t), this->computeU() ? &u : nullptr, &s,
                                        this->computeV() ? &v : nullptr);
        WGI_EIGEN_INFO(status == WG_OK ? Success : NoConvergence);
        this->m_singularValues.setConstant(NumTraits<wg::active>::quiet_NaN());
        if (status != WG_OK) return *this;
        a.scatter(s, this->m_singularValues.data(), 1, m);
        if (this->computeU()) scatter(a, u, this->m_matrixU);
        if (this->computeV()) scatter(a, v, this->m_matrixV);
        this->m_nonzeroSingularValues = 0;
        for (Index i = 0; i < this->m_singularValues.size(); i++)
            this->m_nonzeroSingularValues += wg::value(this->m_singularValues(i)) != 0;
        return *this;
    }
    /* Below it Eigen's class leaves a matrix to JacobiSVD; here one record is as good. */
    void setSwitchSize(int) {}

  private:
    template <class Basis>
    static void scatter(const wg::detail::gathered &a, const wg_mat &y, Basis &to) {
        const bool by_columns = !Basis::IsRowMajor;
        a.scatter(y, to.data(), by_columns ? 1 : to.cols(), by_columns ? to.rows() : 1);
    }
};
#undef WGI_EIGEN_INFO
#undef WGI_EIGEN_RETURNS

} // namespace Eigen

#endif

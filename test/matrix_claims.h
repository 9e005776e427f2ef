/* SPDX-License-Identifier: MIT */
/* matrix_claims.h - which test program checks which cases of test/data/matrix_ops.txt.
 *
 * X(program, operation, variant): test_ops_<program>.c checks all cases of that operation, or
 * those of the variant ("" is all of them). Each case is claimed once (a test of
 * test_ops_data.c); that a program has checked what it claims is its last test:
 * matrix_claims_met("program"). */
#ifndef WENGERT_TEST_MATRIX_CLAIMS_H
#define WENGERT_TEST_MATRIX_CLAIMS_H

#define MATRIX_CLAIMS(X)                                                                       \
    X("data", "gather", "")                                                                    \
    X("data", "scatter_add", "")                                                               \
    X("data", "scatter_set", "")                                                               \
    X("data", "slice", "")                                                                     \
    X("data", "concat", "")                                                                    \
    X("data", "reshape", "")                                                                   \
    X("data", "transpose", "")                                                                 \
    X("data", "permute", "")                                                                   \
    X("data", "broadcast_to", "")                                                              \
    X("data", "diag", "")                                                                      \
    X("data", "tril", "")                                                                      \
    X("data", "triu", "")                                                                      \
    X("data", "flip", "")                                                                      \
    X("data", "pad", "")                                                                       \
    X("products", "gemm", "")                                                                  \
    X("products", "gemm_self", "")                                                             \
    X("products", "gemm_scalars", "")                                                          \
    X("products", "gemv", "")                                                                  \
    X("products", "symv", "")                                                                  \
    X("products", "dot", "")                                                                   \
    X("products", "axpy", "")                                                                  \
    X("products", "ger", "")                                                                   \
    X("products", "syrk", "")                                                                  \
    X("products", "trmm", "")                                                                  \
    X("products", "bmm", "")                                                                   \
    X("products", "outer", "")                                                                 \
    X("products", "kron", "")                                                                  \
    X("products", "trace", "")                                                                 \
    X("products", "trace_prod", "")                                                            \
    X("products", "quadform", "")                                                              \
    X("products", "conv1d", "")                                                                \
    X("products", "conv2d", "")                                                                \
    X("elementwise", "broadcast_add", "")                                                      \
    X("elementwise", "broadcast_sub", "")                                                      \
    X("elementwise", "broadcast_mul", "")                                                      \
    X("elementwise", "broadcast_div", "")                                                      \
    X("elementwise", "where", "")                                                              \
    X("reduce", "sum", "")                                                                     \
    X("reduce", "mean", "")                                                                    \
    X("reduce", "var", "")                                                                     \
    X("reduce", "prod", "")                                                                    \
    X("reduce", "max", "")                                                                     \
    X("reduce", "min", "")                                                                     \
    X("reduce", "cumsum", "")                                                                  \
    X("reduce", "cumprod", "")                                                                 \
    X("reduce", "logsumexp", "")                                                               \
    X("reduce", "softmax", "")                                                                 \
    X("reduce", "log_softmax", "")                                                             \
    X("reduce", "layer_norm", "")                                                              \
    X("reduce", "vnorm", "")                                                                   \
    X("reduce", "norm", "fro")                                                                 \
    X("reduce", "norm", "one")                                                                 \
    X("reduce", "norm", "inf")                                                                 \
    X("spectral", "norm", "spectral")                                                          \
    X("spectral", "norm", "nuc")                                                               \
    X("spectral", "eigh", "")                                                                  \
    X("spectral", "svd", "")                                                                   \
    X("matrix_function", "expm", "")                                                           \
    X("matrix_function", "matpow", "")                                                         \
    X("solve", "trsv", "")                                                                     \
    X("solve", "trsm", "")                                                                     \
    X("solve", "solve", "")                                                                    \
    X("solve", "spd_solve", "")                                                                \
    X("solve", "cholesky", "")                                                                 \
    X("solve", "logdet_spd", "")                                                               \
    X("solve", "logabsdet", "")                                                                \
    X("solve", "inv", "")                                                                      \
    X("solve", "det", "")                                                                      \
    X("solve", "qr", "")                                                                       \
    X("solve", "lstsq", "")                                                                    \
    X("solve", "pinv", "")                                                                     \
    X("statistics", "mvn_logpdf", "")

#endif

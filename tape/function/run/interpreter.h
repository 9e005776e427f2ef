/* SPDX-License-Identifier: MIT */
/* interpreter.h - the function RUN, which interprets bytecode on columns of VECTORS vectors.
 * interpreter_kernels.h includes it once for each number of vectors. */

#define EACH1(M, ...) M(0, __VA_ARGS__)
#define EACH2(M, ...) EACH1(M, __VA_ARGS__) M(1, __VA_ARGS__)
#define EACH4(M, ...) EACH2(M, __VA_ARGS__) M(2, __VA_ARGS__) M(3, __VA_ARGS__)
#define EACH8(M, ...)                                                                          \
    EACH4(M, __VA_ARGS__)                                                                      \
    M(4, __VA_ARGS__) M(5, __VA_ARGS__) M(6, __VA_ARGS__) M(7, __VA_ARGS__)
#if VECTORS == 1
#define EACH EACH1
#define TOTAL(m) m(0)
#elif VECTORS == 2
#define EACH EACH2
#define TOTAL(m) (m(0) + m(1))
#elif VECTORS == 4
#define EACH EACH4
#define TOTAL(m) ((m(0) + m(1)) + (m(2) + m(3)))
#else
#define EACH EACH8
#define TOTAL(m) (((m(0) + m(1)) + (m(2) + m(3))) + ((m(4) + m(5)) + (m(6) + m(7))))
#endif

#define SCALE (VECTORS * WIDTH / WGI_FN_FEWEST)

/* Operands at vector k: the accumulator, columns, a uniform. */
#define A(k) a##k
#define X(k) x[k]
#define Y(k) y[k]
#define Z(k) z[k]
#define W(k) w[k]
#define S(k) s
#define COLUMN(v, o) VA *const v = (VA *)(void *)(column + (size_t)pc->o * SCALE);
#define UNIFORM(o) const V s = splat(*(const double *)(const void *)(uniform + pc->o));

#define LEAVE1(k, f, p) a##k = f(p(k));
#define LEAVE2(k, f, p, q) a##k = f(p(k), q(k));
#define LEAVE3(k, f, p, q, t) a##k = f(p(k), q(k), t(k));
#define STORE1(k, f, p) d[k] = a##k = f(p(k));
#define STORE2(k, f, p, q) d[k] = a##k = f(p(k), q(k));
#define STORE3(k, f, p, q, t) d[k] = a##k = f(p(k), q(k), t(k));
#define STORE4(k, f, p, q, t, u) d[k] = a##k = f(p(k), q(k), t(k), u(k));
#define ZERO1(k, f) a##k = f;

#define NEXT goto *table[(++pc)->code]
/* An instruction that leaves its result in the accumulator, and one that stores it as well. */
#define BOTH(name, n, setup, ...)                                                              \
    name : { setup EACH(LEAVE##n, __VA_ARGS__) }                                               \
    NEXT;                                                                                      \
    name##_ST : {setup COLUMN(d, d) EACH(STORE##n, __VA_ARGS__)} NEXT;
#define ORDERED(name, f)                                                                       \
    BOTH(name##_AC, 2, COLUMN(x, a), f, A, X)                                                  \
    BOTH(name##_CA, 2, COLUMN(x, a), f, X, A)                                                  \
    BOTH(name##_AS, 2, UNIFORM(a), f, A, S)                                                    \
    BOTH(name##_SA, 2, UNIFORM(a), f, S, A)                                                    \
    BOTH(name##_CC, 2, COLUMN(x, a) COLUMN(y, b), f, X, Y)                                     \
    BOTH(name##_CS, 2, COLUMN(x, a) UNIFORM(b), f, X, S)                                       \
    BOTH(name##_SC, 2, UNIFORM(a) COLUMN(y, b), f, S, Y)
#define COMMUTES(name, f)                                                                      \
    BOTH(name##_AC, 2, COLUMN(x, a), f, A, X)                                                  \
    BOTH(name##_AS, 2, UNIFORM(a), f, A, S)                                                    \
    BOTH(name##_CC, 2, COLUMN(x, a) COLUMN(y, b), f, X, Y)                                     \
    BOTH(name##_CS, 2, COLUMN(x, a) UNIFORM(b), f, X, S)
#define FUSED(name, f)                                                                         \
    BOTH(name##_ACC, 3, COLUMN(x, a) COLUMN(y, b), f, A, X, Y)                                 \
    BOTH(name##_ACS, 3, COLUMN(x, a) UNIFORM(b), f, A, X, S)                                   \
    BOTH(name##_CCC, 3, COLUMN(x, a) COLUMN(y, b) COLUMN(z, c), f, Z, X, Y)                    \
    BOTH(name##_CCS, 3, COLUMN(x, a) UNIFORM(b) COLUMN(z, c), f, Z, X, S)
#define UNARY(name, f)                                                                         \
    BOTH(name##_A, 1, , f, A)                                                                  \
    BOTH(name##_C, 1, COLUMN(x, a), f, X)
#define OF_COLUMNS(name, n, setup, ...)                                                        \
    name : { setup COLUMN(d, d) EACH(STORE##n, __VA_ARGS__) }                                  \
    NEXT;
#define SELECT(name, f)                                                                        \
    name : {                                                                                   \
        COLUMN(x, a) COLUMN(y, b) COLUMN(z, c) COLUMN(d, d) pc++;                              \
        COLUMN(w, a) EACH(STORE4, f, X, Y, Z, W)                                               \
    }                                                                                          \
    NEXT;

/* All is read before anything is written: columns of operands may be those of results. */
#define STORE_BOTH(k, unused)                                                                  \
    const chosen m##k = v_greater(x[k], y[k]);                                                 \
    const V p##k = z[k], q##k = w[k];                                                          \
    d[k] = v_choose(m##k, p##k, q##k);                                                         \
    e[k] = a##k = v_choose(m##k, q##k, p##k);

#define IS_NAN(k, p) bad |= p(k) != p(k);
#define CHECK(name, setup, p)                                                                  \
    name : {                                                                                   \
        setup M bad = (M)ZERO;                                                                 \
        EACH(IS_NAN, p)                                                                        \
        r->nan |= any(bad);                                                                    \
    }                                                                                          \
    NEXT;
/* Lanes behind the last point are left out. */
#define MASKED(k, p) const V m##k = (V)((M)p(k) & mask[k]);
#define MASKED_TERM(k) m##k
#define INTO_SUM(name, setup, p)                                                               \
    name : {                                                                                   \
        setup VA *const total = (VA *)(void *)((char *)r->sum + pc->b);                        \
        if (WGI_LIKELY(r->rows == r->lanes)) *total += TOTAL(p);                               \
        else {                                                                                 \
            const MU *const mask = (const MU *)(const void *)r->valid;                         \
            EACH(MASKED, p)                                                                    \
            *total += TOTAL(MASKED_TERM);                                                      \
        }                                                                                      \
    }                                                                                          \
    NEXT;

static void RUN(const wgi_fn_code *pc, wgi_fn_run *r) {
#define CAREFUL(name, plain_name) &&name,
#define PLAIN(name, plain_name) &&plain_name,
    static const void *const careful[] = {WGI_FN_CODES(CAREFUL)};
    static const void *const plain[] = {WGI_FN_CODES(PLAIN)};
#undef CAREFUL
#undef PLAIN
    const void *const *const table = r->careful ? careful : plain;
    char *const column = r->column;
    const char *const uniform = (const char *)r->uniform;
#define DECLARE(k, v) V a##k = v;
    EACH(DECLARE, ZERO)
#undef DECLARE
    pc--;
    NEXT;
    COMMUTES(ADD, v_row_add)
    COMMUTES(MUL, v_row_mul)
    BOTH(MUL_AA, 2, , v_row_mul, A, A)
    COMMUTES(TIMES, TIMES_RULE)
    ORDERED(SUB, v_row_sub)
    ORDERED(DIV, v_row_div)
    FUSED(MADD, v_madd)
    FUSED(MSUB, v_msub)
    FUSED(MRSB, v_mrsb)
    FUSED(TADD, TIMES_ADD)
    FUSED(TSUB, TIMES_SUB)
    UNARY(NEG, v_row_neg)
    UNARY(SQRT, v_sqrt)
    UNARY(FABS, v_abs)
    BOTH(SPLAT, 1, UNIFORM(a), v_same, S)
    OF_COLUMNS(RELU, 1, COLUMN(x, a), v_row_relu, X)
    OF_COLUMNS(SIGN, 1, COLUMN(x, a), v_row_sign, X)
    OF_COLUMNS(FMAX, 2, COLUMN(x, a) COLUMN(y, b), v_row_fmax, X, Y)
    OF_COLUMNS(FMIN, 2, COLUMN(x, a) COLUMN(y, b), v_row_fmin, X, Y)
    OF_COLUMNS(FMA, 3, COLUMN(x, a) COLUMN(y, b) COLUMN(z, c), v_fma, X, Y, Z)
    OF_COLUMNS(FABS_D, 1, COLUMN(x, a), v_row_fabs_d, X)
    OF_COLUMNS(RELU_D, 1, COLUMN(x, a), v_row_relu_d, X)
    OF_COLUMNS(FMAX_D, 2, COLUMN(x, a) COLUMN(y, b), v_row_fmax_d, X, Y)
    OF_COLUMNS(FMIN_D, 2, COLUMN(x, a) COLUMN(y, b), v_row_fmin_d, X, Y)
    SELECT(SELECT_LT, v_row_select_lt)
    SELECT(SELECT_LE, v_row_select_le)
    SELECT(SELECT_GT, v_row_select_gt)
    SELECT(SELECT_GE, v_row_select_ge)
    SELECT(SELECT_EQ, v_row_select_eq)
    SELECT(SELECT_NE, v_row_select_ne)
EXCHANGE : {
    COLUMN(x, a) COLUMN(y, b) COLUMN(z, c) COLUMN(d, d) pc++;
    COLUMN(w, a) COLUMN(e, d) EACH(STORE_BOTH, )
}
    NEXT;
    INTO_SUM(SUM_A, , A)
    INTO_SUM(SUM_C, COLUMN(x, a), X)
    CHECK(CHECK_A, , A)
    CHECK(CHECK_C, COLUMN(x, a), X)
SET_A:
    r->uniform[pc->b] = a0[0];
    NEXT;
SET_C : {
    COLUMN(x, a)
    r->uniform[pc->b] = x[0][0];
}
    NEXT;
    /* a call uses the registers: the accumulator is lost */
LOAD:
    load(r, &r->bytecode->load[pc->a], pc->b, 0);
    EACH(ZERO1, ZERO)
    NEXT;
STORE:
    store_checked(r, &r->bytecode->store[pc->a], pc->b);
    EACH(ZERO1, ZERO)
    NEXT;
CALL:
    wgi_fn_call_run(r, &r->bytecode->call[pc->a]);
    EACH(ZERO1, ZERO)
    NEXT;
GUARD:
    guard(r, pc);
    EACH(ZERO1, ZERO)
    NEXT;
END:
    return;
}

#undef EACH
#undef SCALE
#undef TOTAL
#undef RUN
#undef VECTORS
